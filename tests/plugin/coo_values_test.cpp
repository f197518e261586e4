// Values by coordinates that stay on a device: what changes, reads and replaces them finds those that are valid.
#include "coo_values.hpp"

namespace {

using namespace petsc_test;

INSTANTIATE_TEST_SUITE_P(BlockSizes, ValuesApart, testing::Values(1, 3));

TEST_P(ValuesApart, StayOnTheDeviceUntilAProductOnTheHostNeedsThem) {
  const auto e = random_entries(90, square(), 300);
  const auto A = made(e), aij = made_of(MATAIJ, square(), e);
  std::uint64_t seed = 91;
  for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES, ADD_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);
    const Crossings setting = crossings_during([&] { set(A, v, mode); });
    set(aij, v, mode);
    EXPECT_EQ(setting.to_host, 0) << seed;
    // On several processes BAIJ's conversion, with which values are compared, makes one of the parts anew.
    if (size() == 1 || tested_is_of_scalars()) {
      EXPECT_EQ(setting.to_device, 0) << seed;
    }
    if (seed == 93) continue;  // and once they are added to where they are

    const Crossings multiplying = crossings_during([&] { ASSERT_TRUE(same_matrix(A, aij, seed)); });
    EXPECT_GE(multiplying.to_host, 1) << seed;
    EXPECT_LE(multiplying.to_host, size() == 1 ? 1 : 2) << seed;  // a part each, and one may be empty
  }
}

/// Which relaxation keeps.
TEST_P(ValuesApart, ForgetTheInverseOfTheDiagonal) {
  if (!tested_is_of_scalars()) GTEST_SKIP() << "PETSc's BAIJ does not forget it, either";
  auto e = random_entries(90, square(), 300);
  auto v = whole_values(91, e);
  const auto given = e.row.size();
  PetscInt first, end;
  PETSC_OK(MatGetOwnershipRange(made_of(MATAIJ, square(), e), &first, &end));
  for (PetscInt i = first; i < end; ++i) {
    e.row.push_back(i);
    e.column.push_back(i);
  }
  v.resize(e.row.size(), 100);
  ASSERT_GT(e.row.size(), given);
  const auto A = made(e), aij = made_of(MATAIJ, square(), e);
  const auto b = left_vector(aij, 92), x = right_vector(aij, 93), y = right_vector(aij, 93);
  const auto relax = [&](Mat of, Vec to) {
    const auto sweep = static_cast<MatSORType>(SOR_ZERO_INITIAL_GUESS | SOR_LOCAL_SYMMETRIC_SWEEP);
    PETSC_OK(MatSOR(of, b, 1, sweep, 0, 1, 1, to));
  };
  for (Mat of : {Mat(A), Mat(aij)}) set(of, v, INSERT_VALUES);
  relax(A, x);

  for (Mat of : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(of, 0.5));

  relax(A, x);
  relax(aij, y);
  EXPECT_TRUE(are_close(x, y, 1e-12));
}

/// Process 0 sets a scalar of each row: the others call nothing but the assembly.
TEST_P(ValuesApart, TakeWhatOtherProcessesSend) {
  const auto e = random_entries(105, square(), 300);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(106, e);
  set(A, v, INSERT_VALUES);
  set_on_host(B, v, INSERT_VALUES);
  for (Mat m : {Mat(A), Mat(B)}) {
    PETSC_OK(MatSetOption(m, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    for (PetscInt row = 0; row < square().block_rows() * square().bs && rank() == 0; ++row)
      PETSC_OK(MatSetValue(m, row, row, 2.0, ADD_VALUES));
    assemble(m);
  }

  EXPECT_TRUE(same_scalars(A, B));
}

/// What is set on the host after that is seen each time.
TEST_P(ValuesApart, AreForgottenWhereTheMatrixIsPreallocatedAnew) {
  const auto e = random_entries(107, square(), 300);
  const auto A = made(e), aij = made_of(MATAIJ, square(), e);
  set(A, whole_values(108, e), INSERT_VALUES);
  const PetscInt bs = square().bs, first = square().first_row() * bs, last = first + square().rows[rank()] * bs;
  for (Mat m : {Mat(A), Mat(aij)}) {
    PETSC_OK(MatXAIJSetPreallocation(m, bs, std::vector<PetscInt>(last - first, 1).data(),
                                     std::vector<PetscInt>(last - first, 0).data(), nullptr, nullptr));
    PETSC_OK(MatSetOption(m, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }

  for (const PetscScalar value : {2.0, 3.0}) {
    for (Mat m : {Mat(A), Mat(aij)}) {
      for (PetscInt row = first; row < last; ++row) PETSC_OK(MatSetValue(m, row, row, value, INSERT_VALUES));
      assemble(m);
    }
    EXPECT_TRUE(same_matrix(A, aij, 109));
  }
}

/// A matrix's values on a device go to its duplicate there, whether the host has them, too, or not.
TEST_P(ValuesApart, OfDuplicatesAreWhereThoseOfTheOriginalAre) {
  const auto e = random_entries(103, square(), 300);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(104, e);
  set_on_host(B, v, INSERT_VALUES);
  for (const On on : {On::device, On::both, On::host}) {
    SCOPED_TRACE(static_cast<int>(on));
    Matrix copy, empty;
    PetscReal norm = 0, of_empty = -1;
    on == On::host ? set_on_host(A, v, INSERT_VALUES) : set(A, v, INSERT_VALUES);
    if (on == On::both) PETSC_OK(MatNorm(A, NORM_INFINITY, &norm));

    const Crossings found = crossings_during([&] {
      PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, copy.out()));
      PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, empty.out()));
    });

    EXPECT_EQ(found.to_host + found.to_device, 0);
    for (Mat m : {Mat(A), Mat(copy)}) EXPECT_EQ(where_values_are(m, e), on);
    PETSC_OK(MatScale(A, 2.0));
    EXPECT_TRUE(same_scalars(copy, B));
    PETSC_OK(MatNorm(empty, NORM_INFINITY, &of_empty));
    EXPECT_EQ(of_empty, 0);
  }
}

/// Into a matrix that is said to have the pattern.
TEST_P(ValuesApart, AreReplacedByATranspose) {
  if (size() > 1 && !tested_is_of_scalars())
    GTEST_SKIP() << "skipped: mpibaij of PETSc refuses entries of other processes in a transpose that is reused";
  Entries e;
  const PetscInt bs = square().bs, first = square().first_row() * bs, all = square().block_rows() * bs;
  for (PetscInt row = first; row < first + square().rows[rank()] * bs; ++row)
    for (const PetscInt column : {row - 2 * bs, row, row + 2 * bs})
      if (column >= 0 && column < all) e.row.push_back(row), e.column.push_back(column);
  const auto v = whole_values(106, e);
  const auto A = made(e), B = made(e);
  Matrix transposed, wanted;
  set(A, v, INSERT_VALUES);
  set_on_host(B, v, INSERT_VALUES);
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, transposed.out()));
  PETSC_OK(MatTransposeSetPrecursor(A, transposed));
  PETSC_OK(MatTranspose(A, MAT_REUSE_MATRIX, transposed.in_place()));
  PETSC_OK(MatTranspose(B, MAT_INITIAL_MATRIX, wanted.out()));
  EXPECT_TRUE(same_matrix(transposed, wanted, 107));
  EXPECT_TRUE(same_scalars(transposed, wanted));
}

/// Solvers read the arrays of a matrix again after each assembly, and ask for nothing.
TEST_P(ValuesApart, StayOnTheHostOfAMatrixThatWasFactored) {
  const Shape shape = spread(GetParam(), 6, 6);
  Entries e;
  const PetscInt first = shape.first_row() * shape.bs, n = shape.block_rows() * shape.bs;
  for (PetscInt row = first; row < first + shape.rows[rank()] * shape.bs; ++row)
    for (const PetscInt column : {row, (row + 1) % n}) e.row.push_back(row), e.column.push_back(column);
  const auto A = made_of(tested_type(), shape, e), B = made_of(tested_type(), shape, e);
  KSP ksp[2];
  for (KSP& k : ksp) {
    PC pc;
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, &k));
    PETSC_OK(KSPSetType(k, KSPPREONLY));  // a factor of old values shows in x
    PETSC_OK(KSPGetPC(k, &pc));
    PETSC_OK(PCSetType(pc, PCBJACOBI));
  }
  for (const PetscScalar diagonal : {4.0, 5.0, 6.0}) {
    std::vector<PetscScalar> v;
    for (std::size_t k = 0; k < e.row.size(); ++k) v.push_back(k % 2 == 0 ? diagonal : 1.0);
    set(A, v, INSERT_VALUES);
    set_on_host(B, v, INSERT_VALUES);
    const auto b = right_vector(A, 110), x = right_vector(A, 111), wanted = right_vector(B, 111);
    PetscReal error;

    PETSC_OK(KSPSetOperators(ksp[0], A, A));
    PETSC_OK(KSPSetOperators(ksp[1], B, B));
    PETSC_OK(KSPSolve(ksp[0], b, x));
    PETSC_OK(KSPSolve(ksp[1], b, wanted));

    PETSC_OK(VecAXPY(x, -1.0, wanted));
    PETSC_OK(VecNorm(x, NORM_INFINITY, &error));
    EXPECT_EQ(error, 0) << diagonal;
  }
  for (KSP& k : ksp) PETSC_OK(KSPDestroy(&k));
}

/// One matrix of each process below the other.
TEST_P(ValuesApart, AreReadWhereMatricesAreConcatenated) {
  Matrix A, whole;
  const PetscInt n = 4 * GetParam();
  std::vector<PetscInt> place;
  for (PetscInt k = 0; k < n; ++k) place.push_back(k);
  PETSC_OK(MatCreate(PETSC_COMM_SELF, A.out()));
  PETSC_OK(MatSetSizes(A, n, n, n, n));
  PETSC_OK(MatSetBlockSize(A, GetParam()));
  PETSC_OK(MatSetType(A, tested_type().c_str()));
  auto rows = place, columns = place;
  PETSC_OK(MatSetPreallocationCOO(A, n, rows.data(), columns.data()));
  const std::vector<PetscScalar> twos(static_cast<std::size_t>(n), 2.0);
  set(A, twos, INSERT_VALUES);

  PETSC_OK(MatCreateMPIMatConcatenateSeqMat(PETSC_COMM_WORLD, A, rank() == 0 ? n : 0, MAT_INITIAL_MATRIX, whole.out()));

  PetscReal norm;
  PETSC_OK(MatNorm(whole, NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 2);
}

TEST_P(ValuesApart, ProductsOfMatricesAreMadeAgain) {
  const auto e = random_entries(120, square(), 200);
  const auto A = made(e), aij = made_of(MATAIJ, square(), e);
  Matrix C, D;
  for (std::uint64_t seed = 121; seed < 124; ++seed) {
    const auto v = whole_values(seed, e);
    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);
    const MatReuse reuse = seed == 121 ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;

    PETSC_OK(MatMatMult(A, A, reuse, PETSC_DEFAULT, reuse == MAT_INITIAL_MATRIX ? C.out() : C.in_place()));
    PETSC_OK(MatMatMult(aij, aij, reuse, PETSC_DEFAULT, reuse == MAT_INITIAL_MATRIX ? D.out() : D.in_place()));

    EXPECT_TRUE(same_scalars(C, D)) << seed;
  }
}

TEST_P(ValuesApart, AreComparedWhereverTheyAre) {
  const auto e = random_entries(139, square(), 200);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(140, e);
  PetscBool same;
  for (Mat mat : std::initializer_list<Mat>{A, B}) set(mat, v, INSERT_VALUES);
  PETSC_OK(MatEqual(A, B, &same));
  EXPECT_TRUE(same);

  set(B, std::vector<PetscScalar>(v.size(), 1), ADD_VALUES);
  PETSC_OK(MatEqual(A, B, &same));
  EXPECT_FALSE(same);
}

TEST_P(ValuesApart, LeaveOperationsThatAreSetMeanwhile) {
  static int called;
  using Shift = PetscErrorCode (*)(Mat, PetscScalar);
  const Shift own = [](Mat, PetscScalar) -> PetscErrorCode { return static_cast<void>(++called), PETSC_SUCCESS; };
  const auto e = random_entries(141, square(), 200);
  const auto A = made(e);
  called = 0;
  set(A, whole_values(142, e), INSERT_VALUES);
  PETSC_OK(MatSetOperation(A, MATOP_SHIFT, reinterpret_cast<void (*)()>(own)));
  set(A, whole_values(143, e), INSERT_VALUES);

  PETSC_OK(MatShift(A, 2.0));
  PETSC_OK(MatShift(A, 2.0));

  EXPECT_EQ(called, 2);
}

/// MatSeqAIJGetArray() and its kin are no operations of a matrix.
TEST_P(ValuesApart, ComeWithTheArrayThatPetscHandsOut) {
  if (size() > 1) GTEST_SKIP() << "of the array of one process";
  const auto e = random_entries(130, square(), 200);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(131, e);
  const bool of_scalars = tested_is_of_scalars();
  PetscScalar* array;
  set(A, v, INSERT_VALUES);
  set_on_host(B, v, INSERT_VALUES);

  PETSC_OK(of_scalars ? MatSeqAIJGetArray(A, &array) : MatSeqBAIJGetArray(A, &array));
  array[0] += 1;
  PETSC_OK(of_scalars ? MatSeqAIJRestoreArray(A, &array) : MatSeqBAIJRestoreArray(A, &array));
  PETSC_OK(of_scalars ? MatSeqAIJGetArray(B, &array) : MatSeqBAIJGetArray(B, &array));
  array[0] += 1;
  PETSC_OK(of_scalars ? MatSeqAIJRestoreArray(B, &array) : MatSeqBAIJRestoreArray(B, &array));

  EXPECT_EQ(where_values_are(A, e), On::host);
  EXPECT_TRUE(same_scalars(A, B));
}

TEST_P(ValuesApart, AreReadAndOverwrittenInTheArrayOfAij) {
  if (size() > 1 || !tested_is_of_scalars()) GTEST_SKIP() << "of AIJ's array";
  const auto e = random_entries(135, square(), 200);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(136, e);
  const PetscScalar *of_A, *of_B;
  MatInfo info;
  set(A, v, INSERT_VALUES);
  set_on_host(B, v, INSERT_VALUES);
  PETSC_OK(MatGetInfo(A, MAT_LOCAL, &info));
  const auto count = static_cast<std::ptrdiff_t>(info.nz_used);

  PETSC_OK(MatSeqAIJGetArrayRead(A, &of_A));
  PETSC_OK(MatSeqAIJGetArrayRead(B, &of_B));
  EXPECT_TRUE(std::equal(of_A, of_A + count, of_B));
  PETSC_OK(MatSeqAIJRestoreArrayRead(B, &of_B));
  PETSC_OK(MatSeqAIJRestoreArrayRead(A, &of_A));
  EXPECT_EQ(where_values_are(A, e), On::both);

  PetscScalar* array;
  set(A, v, INSERT_VALUES);
  const Crossings writing = crossings_during([&] {
    PETSC_OK(MatSeqAIJGetArrayWrite(A, &array));
    std::fill_n(array, count, PetscScalar(7));
    PETSC_OK(MatSeqAIJRestoreArrayWrite(A, &array));
  });
  EXPECT_EQ(writing.to_host, 0);
  PETSC_OK(MatSeqAIJGetArrayRead(A, &of_A));
  EXPECT_EQ(std::count(of_A, of_A + count, PetscScalar(7)), count);
  PETSC_OK(MatSeqAIJRestoreArrayRead(A, &of_A));
}

TEST_P(ValuesApart, ComeWithTheArraysOfAij) {
  if (size() > 1 || !tested_is_of_scalars()) GTEST_SKIP() << "of AIJ's arrays";
  const auto e = random_entries(137, square(), 200);
  const auto A = made(e), B = made(e);
  const auto v = whole_values(138, e);
  set(A, v, INSERT_VALUES);
  set_on_host(B, v, INSERT_VALUES);

  for (const Mat mat : std::initializer_list<Mat>{A, B}) {
    PetscScalar* array;
    PetscMemType type;
    PETSC_OK(MatSeqAIJGetCSRAndMemType(mat, nullptr, nullptr, &array, &type));
    EXPECT_EQ(type, PETSC_MEMTYPE_HOST);
    array[0] += 1;
  }

  EXPECT_EQ(where_values_are(A, e), On::host);
  EXPECT_TRUE(same_scalars(A, B));
}

}  // namespace
