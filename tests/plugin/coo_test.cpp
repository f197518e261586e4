// MatSetPreallocationCOO() and MatSetValuesCOO(): what they assemble is what PETSc's aij assembles from the same calls.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "coo_entries.hpp"
#include "info.hpp"

namespace {

bool messages_come_backwards = false;
PetscInt64 turned = 0;  ///< messages that came before another one, and now after it

}  // namespace

// In place of PETSc's own, for the plugin, too: which message comes first is chance.
extern "C" PetscErrorCode PetscCommBuildTwoSided(MPI_Comm comm, PetscMPIInt count, MPI_Datatype type, PetscMPIInt nto,
                                                 const PetscMPIInt* to, const void* sent, PetscMPIInt* nfrom,
                                                 PetscMPIInt** from, void* received) {
  static const auto petscs =
      reinterpret_cast<decltype(&PetscCommBuildTwoSided)>(dlsym(RTLD_NEXT, "PetscCommBuildTwoSided"));
  PetscFunctionBeginUser;
  PetscCall(petscs(comm, count, type, nto, to, sent, nfrom, from, received));
  if (!messages_come_backwards) PetscFunctionReturn(PETSC_SUCCESS);
  int bytes;
  PetscCallMPI(MPI_Type_size(type, &bytes));
  bytes *= count;
  char* const data = *static_cast<char**>(received);
  std::reverse(*from, *from + *nfrom);
  for (PetscMPIInt k = 0; k < *nfrom / 2; ++k, ++turned)
    std::swap_ranges(data + k * bytes, data + (k + 1) * bytes, data + (*nfrom - 1 - k) * bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

using namespace petsc_test;
using compound::test::Variable;

INSTANTIATE_TEST_SUITE_P(BlockSizes, Coo, testing::Values(1, 2, 3, 4));

TEST_P(Coo, AssemblesAsAijDoes) {
  Random random(5);
  for (const Shape& shape : {square(), spread(GetParam(), 7, 12), scatter(random, GetParam(), 9, 9)}) {
    const auto e = random_entries(1, shape, 300);
    const auto v = whole_values(2, e);
    const auto A = made_of(tested_type(), shape, e), aij = made_of(MATAIJ, shape, e);

    set(A, v, INSERT_VALUES);
    set(aij, v, INSERT_VALUES);

    EXPECT_TRUE(same_matrix(A, aij, 3));
    EXPECT_TRUE(counts_as_ours(A));
    EXPECT_TRUE(is_tested_type(A));
  }
}

TEST_P(Coo, AddsAndInsertsAgainAndAgain) {
  const auto e = random_entries(4, square(), 200);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);
  std::uint64_t seed = 5;
  for (const InsertMode mode : {ADD_VALUES, INSERT_VALUES, ADD_VALUES, ADD_VALUES, INSERT_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);

    set(A, v, mode);
    set(aij, v, mode);

    ASSERT_TRUE(same_matrix(A, aij, seed));
  }
}

TEST_P(Coo, StoresOnlyTheBlocksThatWereGiven) {
  const auto e = random_entries(6, square(), 40);
  const auto A = made_of(tested_type(), square(), e);
  const int bs = GetParam();
  std::vector<int> given(11 * 11, 0);
  for (std::size_t k = 0; k < e.row.size(); ++k)
    if (e.row[k] >= 0 && e.column[k] >= 0) given[e.row[k] / bs * 11 + e.column[k] / bs] = 1;
  MPI_Allreduce(MPI_IN_PLACE, given.data(), 11 * 11, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);

  set(A, whole_values(7, e), INSERT_VALUES);

  if (tested_is_compound() && !tested_is_of_scalars()) {
    EXPECT_EQ(sum_over_ranks(info_of(A).stored_blocks), std::count(given.begin(), given.end(), 1));
  }
}

TEST_P(Coo, InsertionForgetsWhatCameBetween) {
  const auto e = random_entries(8, square(), 200);
  const auto v = whole_values(9, e);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);
  set(A, v, INSERT_VALUES);
  PETSC_OK(MatScale(A, 3.0));
  PETSC_OK(MatShift(A, 0.0));

  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 10));
}

TEST_P(Coo, AdditionKeepsWhatCameBetween) {
  const auto e = random_entries(11, square(), 200);
  const auto v = whole_values(12, e);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);
  for (Mat m : {Mat(A), Mat(aij)}) {
    set(m, v, INSERT_VALUES);
    PETSC_OK(MatScale(m, 3.0));
    set(m, v, ADD_VALUES);
  }

  EXPECT_TRUE(same_matrix(A, aij, 13));
}

TEST_P(Coo, DuplicatesTakeValuesToo) {
  const auto e = random_entries(14, square(), 200);
  const auto v = whole_values(15, e), w = whole_values(16, e);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e),
             aij_of_w = made_of(MATAIJ, square(), e);
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);
  set(aij_of_w, w, INSERT_VALUES);
  for (const MatDuplicateOption option : {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES, MAT_SHARE_NONZERO_PATTERN}) {
    Matrix copy;
    PETSC_OK(MatDuplicate(A, option, copy.out()));

    set(copy, w, INSERT_VALUES);

    EXPECT_TRUE(same_matrix(copy, aij_of_w, 17));
    EXPECT_TRUE(same_matrix(A, aij, 18));
  }
}

/// The coordinates were given to the parent, which knows nothing of ours.
TEST_P(Coo, MatricesConvertedInPlaceTakeValues) {
  if (tested_is_of_scalars() && PETSC_VERSION_LT(3, 20, 0))
    GTEST_SKIP() << "before PETSc 3.20 AIJ does not show whether it was given coordinates";
  const auto e = random_entries(24, square(), 100);
  const auto v = whole_values(25, e), w = whole_values(26, e);
  const auto aij = made_of(MATAIJ, square(), e);
  auto A = made_of(parent_type(), square(), e);
  set(A, v, INSERT_VALUES);
  PETSC_OK(MatConvert(A, tested_type().c_str(), MAT_INPLACE_MATRIX, A.in_place()));
  (void)product_of(A, all_products().front(), 27);

  set(A, w, INSERT_VALUES);
  set(aij, w, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 28));
  set(A, v, ADD_VALUES);
  set(aij, v, ADD_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 29));
}

TEST_P(Coo, DuplicatesOutliveTheirOriginal) {
  const auto e = random_entries(19, square(), 100);
  const auto v = whole_values(20, e);
  auto A = made_of(tested_type(), square(), e);
  const auto aij = made_of(MATAIJ, square(), e);
  set(aij, v, INSERT_VALUES);
  set(A, v, INSERT_VALUES);
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy.out()));
  A.reset();

  set(copy, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(copy, aij, 21));
}

TEST_P(Coo, TakesOtherCoordinatesLater) {
  const auto A = made_of(tested_type(), square(), random_entries(22, square(), 100));
  set(A, whole_values(23, random_entries(22, square(), 100)), INSERT_VALUES);
  EXPECT_TRUE(counts_as_ours(A));
  const auto e = random_entries(24, square(), 150);
  const auto v = whole_values(25, e);
  const auto aij = made_of(MATAIJ, square(), e);

  PETSC_OK(preallocate(A, e));
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 26));
}

TEST_P(Coo, GivesTheSameBitsEveryTime) {
  const auto e = random_entries(27, square(), 400);
  std::vector<PetscScalar> v(e.row.size());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = value(28 + rank(), static_cast<PetscInt>(k));
  const auto A = made_of(tested_type(), square(), e), B = made_of(tested_type(), square(), e);

  set(A, v, INSERT_VALUES);
  set(B, v, INSERT_VALUES);
  EXPECT_TRUE(same_values(A, B));
  set(B, v, INSERT_VALUES);
  EXPECT_TRUE(same_values(A, B));
}

TEST_P(Coo, AddsInTheSameOrderWhicheverMessageComesFirst) {
  const auto e = random_entries(27, square(), 400);
  std::vector<PetscScalar> v(e.row.size());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = value(28 + rank(), static_cast<PetscInt>(k)) / PetscReal(3);
  const auto A = made_of(tested_type(), square(), e);
  turned = 0;
  messages_come_backwards = true;
  const auto B = made_of(tested_type(), square(), e);
  messages_come_backwards = false;
  EXPECT_EQ(sum_over_ranks(turned) > 0, size() > 2) << "of three processes the last has messages of two";

  set(A, v, INSERT_VALUES);
  set(B, v, INSERT_VALUES);

  EXPECT_TRUE(same_values(A, B));
}

TEST_P(Coo, TakesLocalNumbers) {
  // Each process has its own rows first to last, and then the next process's first row.
  const Shape shape = square();
  const int n = shape.block_rows() * shape.bs;
  Matrix A = empty_matrix(tested_type(), "", shape), aij = empty_matrix(MATAIJ, "", shape);
  const PetscInt first = shape.first_row() * shape.bs, last = first + shape.rows[rank()] * shape.bs;
  std::vector<PetscInt> global;
  for (PetscInt i = first; i <= last; ++i) global.push_back(i % n);
  Entries e;
  for (PetscInt i = 0; i < static_cast<PetscInt>(global.size()); ++i)
    for (PetscInt j : {PetscInt(0), i, PetscInt(global.size()) - 1}) e.row.push_back(i), e.column.push_back(j);
  const auto v = whole_values(29, e);
  for (Mat m : {Mat(A), Mat(aij)}) {
    ISLocalToGlobalMapping map;
    Entries copy = e;
    PETSC_OK(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 1, static_cast<PetscInt>(global.size()), global.data(),
                                          PETSC_COPY_VALUES, &map));
    PETSC_OK(MatSetLocalToGlobalMapping(m, map, map));
    PETSC_OK(ISLocalToGlobalMappingDestroy(&map));
    PETSC_OK(MatSetPreallocationCOOLocal(m, copy.size(), copy.row.data(), copy.column.data()));
    set(m, v, INSERT_VALUES);
  }

  EXPECT_TRUE(same_matrix(A, aij, 30));
}

TEST_P(Coo, NoValuesAreZeros) {
  const auto e = random_entries(31, square(), 50);
  const auto A = made_of(tested_type(), square(), e);
  set(A, whole_values(32, e), INSERT_VALUES);
  PetscReal norm;

  PETSC_OK(MatSetValuesCOO(A, nullptr, INSERT_VALUES));

  PETSC_OK(MatNorm(A, NORM_FROBENIUS, &norm));
  EXPECT_EQ(norm, 0);
}

TEST_P(Coo, TakesNothingAtAll) {
  const Entries none;
  const auto A = made_of(tested_type(), square(), none), aij = made_of(MATAIJ, square(), none);

  PETSC_OK(MatSetValuesCOO(A, nullptr, INSERT_VALUES));
  PETSC_OK(MatSetValuesCOO(aij, nullptr, INSERT_VALUES));

  EXPECT_TRUE(same_matrix(A, aij, 33));
}

TEST_P(Coo, MakesAMatrixThatOtherCallsFill) {
  const auto e = random_entries(34, square(), 100);
  const auto A = made_of(tested_type(), square(), e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(35, e);
  for (Mat m : {Mat(A), Mat(aij)}) {
    set(m, v, INSERT_VALUES);
    for (std::size_t k = 0; k < v.size(); ++k)
      if (e.row[k] >= 0 && e.column[k] >= 0) PETSC_OK(MatSetValue(m, e.row[k], e.column[k], v[k], ADD_VALUES));
    assemble(m);
  }

  EXPECT_TRUE(same_matrix(A, aij, 36));
}

TEST_P(Coo, IgnoresOthersRowsWhereAsked) {
  const auto e = random_entries(37, square(), 100);
  auto own = e;
  Matrix A = empty_matrix(tested_type(), "", square()), aij = empty_matrix(MATAIJ, "", square());
  const PetscInt first = square().first_row() * square().bs, last = first + square().rows[rank()] * square().bs;
  for (PetscInt& row : own.row)
    if (row < first || row >= last) row = -1;
  PETSC_OK(MatSetOption(A, MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
  const auto v = whole_values(38, e);

  PETSC_OK(preallocate(A, e));
  PETSC_OK(preallocate(aij, own));
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy.out()));
  PETSC_OK(preallocate(copy, e));
  set(copy, v, INSERT_VALUES);

  if (tested_is_compound()) {
    EXPECT_TRUE(same_matrix(A, aij, 39));
    EXPECT_TRUE(same_matrix(copy, aij, 39));
  }
}

/// Values that were set on a device stay there: tested without a device.
struct ValuesApart : Coo {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "PETSc's own types keep values otherwise";
  }
  Matrix made(const Entries& e) const {
    auto A = empty_matrix(tested_type(), "", square());
    PETSC_OK(preallocate(A, e));
    return A;
  }
  /// On the host, by the base type's array.
  static void set_on_host(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
    const Variable together(values_apart, {});
    set(A, v, mode);
  }

 private:
  const Variable is_set_{values_apart, "1"};
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, ValuesApart, testing::Values(1, 3));

/// How often this process's values cross while a call is made, as -info tells.
struct Crossings {
  int to_host = 0, to_device = 0;
};
template <class Call>
Crossings crossings_during(const Call& call) {
  const std::string text = own_info_during("coo_test", call);
  const auto count = [&](const char* what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  return {count("are copied to the host"), count("are copied to the device")};
}

enum class On { device, both, host };

/// Looks by asking on either side, which may bring them there.
On where_values_are(Mat A, const Entries& e) {
  PetscInt first;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  const Crossings read = crossings_during([&] {
    PetscInt n;
    PETSC_OK(MatGetRow(A, first, &n, nullptr, nullptr));
    PETSC_OK(MatRestoreRow(A, first, &n, nullptr, nullptr));
  });
  if (read.to_host > 0) return On::device;
  const std::vector<PetscScalar> zeros(e.row.size());
  return crossings_during([&] { set(A, zeros, ADD_VALUES); }).to_device > 0 ? On::host : On::both;
}

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
  PETSC_OK(VecAXPY(x, -1, y));
  PetscReal difference, size;
  PETSC_OK(VecNorm(x, NORM_2, &difference));
  PETSC_OK(VecNorm(y, NORM_2, &size));
  EXPECT_LE(difference, 1e-12 * size);
}

/// What PETSc does with a matrix's values, each on one whose values are on a device, and beside one whose are not.
struct Use {
  const char* name;
  PetscErrorCode (*run)(Mat A, Mat other);  ///< of A, which is square; `other` has A's pattern and type
  bool crosses;                             ///< whether the host must have the values for that
  On left;                                  ///< where they are after it
  bool is_last = false;                     ///< after it A may have another pattern
};

PetscErrorCode twice(Mat made, Mat to, MatStructure structure = SAME_NONZERO_PATTERN) {
  PetscCall(MatAXPY(to, 1.0, made, structure));
  return MatDestroy(&made);
}

/// PETSc makes a new matrix, and gives it this one's operations.
PetscErrorCode add_of_another_type(Mat A, Mat other) {
  Mat X;
  PetscReal norm;
  PetscCall(MatConvert(other, MATAIJ, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatAXPY(A, 2.0, X, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&X));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  return MatShift(A, 3.0);
}

const Use uses[] = {
    {"nothing", [](Mat, Mat) -> PetscErrorCode { return 0; }, false, On::device},
    {"MatScale", [](Mat A, Mat) { return MatScale(A, 2.0); }, false, On::device},
    {"MatShift", [](Mat A, Mat) { return MatShift(A, 3.0); }, true, On::host},
    {"MatZeroEntries", [](Mat A, Mat) { return MatZeroEntries(A); }, false, On::device},
    {"MatConjugate", [](Mat A, Mat) { return MatConjugate(A); }, PetscDefined(USE_COMPLEX),
     PetscDefined(USE_COMPLEX) ? On::host : On::device},
    {"MatAXPY, Y", [](Mat A, Mat other) { return MatAXPY(A, 2.0, other, SAME_NONZERO_PATTERN); }, false, On::device},
    {"MatAXPY, X",
     [](Mat A, Mat other) {
       PetscCall(MatAXPY(other, 2.0, A, SAME_NONZERO_PATTERN));
       return MatCopy(other, A, SAME_NONZERO_PATTERN);
     },
     true, On::host},
    {"MatAXPY, another type", add_of_another_type, true, On::host, true},
    {"MatAXPY, another pattern", [](Mat A, Mat other) { return MatAXPY(A, 2.0, other, DIFFERENT_NONZERO_PATTERN); },
     true, On::host, true},
    {"MatCopy from",
     [](Mat A, Mat other) {
       PetscCall(MatCopy(A, other, SAME_NONZERO_PATTERN));
       return MatAXPY(A, 1.0, other, SAME_NONZERO_PATTERN);
     },
     true, On::device},
    {"MatCopy to", [](Mat A, Mat other) { return MatCopy(other, A, SAME_NONZERO_PATTERN); }, false, On::host},
    {"MatDuplicate",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
       return twice(B, A);
     },
     false, On::device},
    {"MatDuplicate without values",
     [](Mat A, Mat) {
       Mat B;
       PetscReal norm;
       PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
       PetscCall(MatNorm(B, NORM_INFINITY, &norm));
       PetscCall(MatDestroy(&B));
       return MatScale(A, norm > 0 ? 3.0 : 2.0);
     },
     false, On::device},
    {"MatConvert",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
       PetscCall(MatConvert(B, tested_type().c_str(), MAT_INPLACE_MATRIX, &B));
       return twice(B, A);
     },
     true, On::device},
    {"MatTranspose",
     [](Mat A, Mat) {
       Mat B;
       PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
       return twice(B, A, DIFFERENT_NONZERO_PATTERN);
     },
     true, On::host, true},
    {"MatGetDiagonal",
     [](Mat A, Mat) {
       Vec d;
       PetscCall(MatCreateVecs(A, &d, nullptr));
       PetscCall(MatGetDiagonal(A, d));
       PetscCall(MatDiagonalSet(A, d, ADD_VALUES));
       return VecDestroy(&d);
     },
     true, On::host},
    {"MatDiagonalScale",
     [](Mat A, Mat) {
       Vec d;
       PetscCall(MatCreateVecs(A, &d, nullptr));
       PetscCall(VecSet(d, 2.0));
       PetscCall(MatDiagonalScale(A, d, nullptr));
       return VecDestroy(&d);
     },
     true, On::host},
    {"MatSetValues",
     [](Mat A, Mat) {
       PetscInt first, end;
       PetscCall(MatGetOwnershipRange(A, &first, &end));
       for (PetscInt row = first; row < end; ++row) PetscCall(MatSetValue(A, row, row, 5.0, ADD_VALUES));
       PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
       return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
     },
     true, On::host},
    {"an empty assembly",
     [](Mat A, Mat) {
       PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
       return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
     },
     false, On::device},
    {"MatNorm",
     [](Mat A, Mat) {
       PetscReal norm;
       PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
       return MatScale(A, norm > 0 ? 2.0 : 1.0);
     },
     true, On::device},
    {"MatCreateSubMatrix",
     [](Mat A, Mat) {
       IS rows;
       Mat B;
       PetscReal norm;
       PetscInt first, end, bs;
       PetscCall(MatGetOwnershipRange(A, &first, &end));
       PetscCall(MatGetBlockSize(A, &bs));
       PetscCall(ISCreateStride(PETSC_COMM_WORLD, std::max(end - first - bs, PetscInt(0)), first, 1, &rows));
       PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
       PetscCall(ISDestroy(&rows));
       PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
       PetscCall(MatDestroy(&B));
       return MatScale(A, norm > 0 ? 2.0 : 1.0);
     },
     true, On::device},
    {"MatNorm alone",
     [](Mat A, Mat) {
       PetscReal norm;
       return MatNorm(A, NORM_INFINITY, &norm);
     },
     true, On::both},
    {"MatStoreValues and MatRetrieveValues",
     [](Mat A, Mat) {
       PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
       PetscCall(MatStoreValues(A));
       PetscCall(MatScale(A, 3.0));
       PetscCall(MatRetrieveValues(A));
       return MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE);
     },
     true, On::host},
};

TEST_P(ValuesApart, CrossOnlyToWhatNeedsThem) {
  auto e = random_entries(100, square(), 400);
  const PetscInt first = square().first_row() * square().bs;
  for (PetscInt row = first; row < first + square().rows[rank()] * square().bs; ++row)
    e.row.push_back(row), e.column.push_back(row);  // for MatShift()
  const auto v = whole_values(101, e), w = whole_values(102, e);
  for (const Use& use : uses)
    for (const bool both : {false, true}) {
      SCOPED_TRACE(std::string(use.name) + (both ? ", the other's on a device, too" : ""));
      const auto A = made(e), B = made(e), other_of_A = made(e), other_of_B = made(e);
      set(A, v, INSERT_VALUES);
      both ? set(other_of_A, w, INSERT_VALUES) : set_on_host(other_of_A, w, INSERT_VALUES);
      set_on_host(B, v, INSERT_VALUES);
      set_on_host(other_of_B, w, INSERT_VALUES);

      const Crossings found = crossings_during([&] { PETSC_OK(use.run(A, other_of_A)); });
      PETSC_OK(use.run(B, other_of_B));

      if (!both) {
        EXPECT_EQ(found.to_host > 0, use.crosses) << found.to_host;
      }
      if (use.is_last) {
        EXPECT_TRUE(same_scalars(A, B));
        continue;
      }
      if (!both) {
        EXPECT_EQ(where_values_are(A, e), use.left);
      }
      EXPECT_TRUE(same_scalars(A, B));
      set(A, w, ADD_VALUES);
      set_on_host(B, w, ADD_VALUES);
      EXPECT_TRUE(same_scalars(A, B));
    }
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

struct Mistakes : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "messages of our own";
  }
};

TEST_F(Mistakes, OutOfRangeIsToldOnAllProcesses) {
  const auto shape = spread(2, 4, 4);
  Matrix A = empty_matrix(tested_type(), "", shape);
  Entries e;
  if (rank() == size() - 1) e = {{1, 3}, {2, 8}};

  const auto found = catch_error([&] { return preallocate(A, e); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(found.message.find("entry 1 on process " + std::to_string(size() - 1) +
                               " is at row 3, column 8; the matrix "
                               "has 8 rows and 8 columns"),
            std::string::npos)
      << found.message;
}

TEST_F(Mistakes, OthersRowsAreRefusedWhereNoneWerePromised) {
  if (size() == 1) GTEST_SKIP() << "for several processes";
  Matrix A = empty_matrix(tested_type(), "", spread(2, 4, 4));
  PETSC_OK(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  const Entries e = rank() == 0 ? Entries{{7}, {0}} : Entries{};

  const auto found = catch_error([&] { return preallocate(A, e); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(found.message.find("MAT_NO_OFF_PROC_ENTRIES"), std::string::npos) << found.message;
}

TEST_F(Mistakes, ValuesNeedCoordinates) {
  Matrix A = empty_matrix(tested_type(), "", spread(2, 4, 4));
  PETSC_OK(MatSetUp(A));
  const PetscScalar v = 1;

  const auto found = catch_error([&] { return MatSetValuesCOO(A, &v, INSERT_VALUES); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(found.message.find("call MatSetPreallocationCOO() first"), std::string::npos) << found.message;
}

TEST_F(Mistakes, AnotherPatternNeedsOtherCoordinates) {
  const auto shape = spread(2, 4, 4);
  const auto e = random_entries(40, shape, 3);
  const auto A = made_of(tested_type(), shape, e);
  set(A, whole_values(41, e), INSERT_VALUES);
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < 8; i += 2) PETSC_OK(MatSetValue(A, i, 6 - i, 1.0, ADD_VALUES));
  assemble(A);
  const auto v = whole_values(43, e);

  const auto found = catch_error([&] { return MatSetValuesCOO(A, v.data(), INSERT_VALUES); });

  EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(found.message.find("nonzero pattern"), std::string::npos) << found.message;
}

TEST_F(Mistakes, BlocksAreSquare) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "AIJ keeps no blocks";
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSizes(A, 3, 2));
  PETSC_OK(MatSetType(A, tested_type().c_str()));

  const auto found = catch_error([&] { return preallocate(A, Entries{}); });

  EXPECT_EQ(found.code, PETSC_ERR_SUP);
  EXPECT_NE(found.message.find("blocks of 3 x 2"), std::string::npos) << found.message;
}

}  // namespace
