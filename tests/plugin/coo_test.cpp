// MatSetPreallocationCOO() and MatSetValuesCOO(): what they assemble is what PETSc's aij assembles from the same calls.
#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "device_tests.hpp"

namespace {

using namespace petsc_test;

/// Entries as one process gives them.
struct Entries {
  std::vector<PetscInt> row, column;
  PetscCount size() const { return static_cast<PetscCount>(row.size()); }
};

/// 0 to n - 1 each, many of them twice and more, one in nine with a negative index. The last process of three gives
/// none.
Entries random_entries(std::uint64_t seed, const Shape& shape, int count) {
  Random random(seed + 1000 * static_cast<std::uint64_t>(rank()));
  const int rows = shape.block_rows() * shape.bs, cols = shape.block_cols() * shape.bs;
  Entries e;
  if (rank() == 2 || rows == 0 || cols == 0) return e;
  for (int k = 0; k < count; ++k) {
    e.row.push_back(random.below(9) == 0 ? -1 - random.below(3) : random.below(rows));
    e.column.push_back(random.below(9) == 0 ? -1 : random.below(cols));
  }
  return e;
}

/// Whole numbers, so that sums are exact in any order.
std::vector<PetscScalar> whole_values(std::uint64_t seed, const Entries& e) {
  Random random(seed + 77 * static_cast<std::uint64_t>(rank()));
  std::vector<PetscScalar> v(e.row.size());
  for (auto& s : v) {
    s = random.below(19) - 9;
#if defined(PETSC_USE_COMPLEX)
    s += PetscScalar(0, random.below(19) - 9);
#endif
  }
  return v;
}

/// Copies, since the call may change its arrays.
PetscErrorCode preallocate(Mat A, Entries e) {
  return MatSetPreallocationCOO(A, e.size(), e.row.data(), e.column.data());
}

/// aij leaves the last block size unset with size 1.
Matrix made_of(const std::string& type, const Shape& shape, const Entries& e) {
  auto A = empty_matrix(type, "", shape);
  PETSC_OK(preallocate(A, e));
  return A;
}

void set(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) { PETSC_OK(MatSetValuesCOO(A, v.data(), mode)); }

/// No scalar differs, stored zeros apart.
testing::AssertionResult same_scalars(Mat A, Mat aij) {
  Matrix difference;
  PetscReal norm;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, difference.out()));
  PETSC_OK(MatAXPY(difference, -1.0, aij, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatNorm(difference, NORM_INFINITY, &norm));
  if (norm == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the largest row sum of differences is " << norm;
}

testing::AssertionResult same_matrix(Mat A, Mat aij, std::uint64_t seed) {
  if (auto result = same_scalars(A, aij); !result) return result;
  if (auto result = same_mult(A, aij, seed); !result) return result;
  return same_product(A, aij, all_products()[3], seed);
}

struct Coo : testing::TestWithParam<int> {
  Shape square() const { return spread(GetParam(), 11, 11); }
};
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

  if (tested_is_compound()) {
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

  if (tested_is_compound()) {
    EXPECT_TRUE(same_matrix(A, aij, 39));
  }
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
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSizes(A, 3, 2));
  PETSC_OK(MatSetType(A, tested_type().c_str()));

  const auto found = catch_error([&] { return preallocate(A, Entries{}); });

  EXPECT_EQ(found.code, PETSC_ERR_SUP);
  EXPECT_NE(found.message.find("blocks of 3 x 2"), std::string::npos) << found.message;
}

/// The values as a vector in the device's memory.
Vector on_device(const std::vector<PetscScalar>& v) {
  Vector d;
  PetscScalar* at;
  PETSC_OK(VecCreate(PETSC_COMM_SELF, d.out()));
  PETSC_OK(VecSetSizes(d, static_cast<PetscInt>(v.size()), PETSC_DECIDE));
  PETSC_OK(VecSetType(d, "seqcuda"));
  PETSC_OK(VecGetArrayWrite(d, &at));
  std::copy(v.begin(), v.end(), at);
  PETSC_OK(VecRestoreArrayWrite(d, &at));
  return d;
}

void set_from_device(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
  const auto d = on_device(v);
  const PetscScalar* at;
  PetscMemType type;
  PETSC_OK(VecGetArrayReadAndMemType(d, &at, &type));
  ASSERT_TRUE(v.empty() || PetscMemTypeDevice(type)) << "the vector is not on the device";
  PETSC_OK(MatSetValuesCOO(A, v.empty() ? nullptr : at, mode));
  PETSC_OK(VecRestoreArrayReadAndMemType(d, &at));
}

/// Products on the host and, for matrices made with vectors on the device, there.
struct DeviceCoo : Coo {
  void SetUp() override { SKIP_WITHOUT_DEVICE(); }

  Matrix device_matrix(const Entries& e) const {
    auto A = empty_matrix(tested_type(), "", square());
    PETSC_OK(MatSetVecType(A, "cuda"));
    PETSC_OK(preallocate(A, e));
    return A;
  }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, DeviceCoo, testing::Values(1, 2, 3, 4));

TEST_P(DeviceCoo, TakesValuesFromTheDevice) {
  const auto e = random_entries(44, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  std::uint64_t seed = 45;
  for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES, INSERT_VALUES}) {
    const auto v = whole_values(++seed, e);

    set_from_device(A, v, mode);
    set(aij, v, mode);

    ASSERT_TRUE(same_matrix(A, aij, seed));
    ASSERT_TRUE(counts_as_ours(A));
  }
}

TEST_P(DeviceCoo, SeesValuesThatChangedOnTheHostInBetween) {
  const auto e = random_entries(50, square(), 300);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(51, e), w = whole_values(52, e);
  set_from_device(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 53));
  for (Mat m : {Mat(A), Mat(aij)}) PETSC_OK(MatScale(m, 2.0));
  EXPECT_TRUE(same_matrix(A, aij, 54));
  set(A, w, ADD_VALUES);
  set(aij, w, ADD_VALUES);
  EXPECT_TRUE(same_matrix(A, aij, 55));

  set_from_device(A, v, ADD_VALUES);
  set(aij, v, ADD_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 56));
}

TEST_P(DeviceCoo, DuplicatesTakeValuesFromTheDevice) {
  const auto e = random_entries(57, square(), 200);
  const auto A = device_matrix(e), aij = made_of(MATAIJ, square(), e);
  const auto v = whole_values(58, e);
  set_from_device(A, whole_values(59, e), INSERT_VALUES);
  Matrix copy;
  PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, copy.out()));

  set_from_device(copy, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(copy, aij, 60));
}

TEST_P(DeviceCoo, TakesCoordinatesFromTheDevice) {
  if (sizeof(PetscScalar) % sizeof(PetscInt) != 0) GTEST_SKIP() << "skipped: no whole number of indices in a scalar";
  const auto e = random_entries(61, square(), 300);
  const auto v = whole_values(62, e);
  const auto aij = made_of(MATAIJ, square(), e);
  // Vectors are the one way to device memory that needs no CUDA here: scalars whose bits are indices.
  const auto as_scalars = [](const std::vector<PetscInt>& indices) {
    std::vector<PetscScalar> s(indices.size() * sizeof(PetscInt) / sizeof(PetscScalar) + 1);
    std::copy(indices.begin(), indices.end(), reinterpret_cast<PetscInt*>(s.data()));
    return s;
  };
  const auto rows = on_device(as_scalars(e.row)), columns = on_device(as_scalars(e.column));
  PetscScalar *at_rows, *at_columns;
  PetscMemType type;
  const auto A = empty_matrix(tested_type(), "", square());
  PETSC_OK(VecGetArrayAndMemType(rows, &at_rows, &type));
  PETSC_OK(VecGetArrayAndMemType(columns, &at_columns, &type));

  PETSC_OK(MatSetPreallocationCOO(A, e.size(), reinterpret_cast<PetscInt*>(at_rows),
                                  reinterpret_cast<PetscInt*>(at_columns)));
  PETSC_OK(VecRestoreArrayAndMemType(rows, &at_rows));
  PETSC_OK(VecRestoreArrayAndMemType(columns, &at_columns));
  set(A, v, INSERT_VALUES);
  set(aij, v, INSERT_VALUES);

  EXPECT_TRUE(same_matrix(A, aij, 63));
}

}  // namespace
