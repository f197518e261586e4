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
