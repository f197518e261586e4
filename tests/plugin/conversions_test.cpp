// To and from other types; pinned constructors; files; types set late.
#include "compare.hpp"
#include "petsc/guard.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace petsc_test;

const Problem& problem() {
  static const Problem p = [] {
    Random random(7);
    const auto shape = spread(3, 9, 9);
    return Problem{shape, random_blocks(random, shape, 0.3, true), 8};
  }();
  return p;
}

Matrix plain() { return filled_matrix(MATBAIJ, "", problem()); }

struct FromType : testing::TestWithParam<const char*> {};

TEST_P(FromType, ConvertsAsBaijDoes) {
  const auto A = plain();
  Matrix other, tested;
  PETSC_OK(MatConvert(A, GetParam(), MAT_INITIAL_MATRIX, other.out()));

  PETSC_OK(MatConvert(other, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));

  EXPECT_TRUE(is_tested_type(tested));
  EXPECT_TRUE(same_products(tested, A, 9));
}

TEST_P(FromType, ConvertsInPlace) {
  const auto A = plain();
  Matrix other;
  PETSC_OK(MatConvert(A, GetParam(), MAT_INITIAL_MATRIX, other.out()));

  PETSC_OK(MatConvert(other, tested_type().c_str(), MAT_INPLACE_MATRIX, other.in_place()));

  EXPECT_TRUE(is_tested_type(other));
  EXPECT_TRUE(same_products(other, A, 10));
}

TEST_P(FromType, ConvertsBack) {
  const auto A = plain();
  Matrix tested, back;
  PETSC_OK(MatConvert(A, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));

  PETSC_OK(MatConvert(tested, GetParam(), MAT_INITIAL_MATRIX, back.out()));

  EXPECT_TRUE(same_mult(back, A, 11));
}

INSTANTIATE_TEST_SUITE_P(Types, FromType, testing::Values(MATBAIJ, MATAIJ, MATDENSE),
                         [](const auto& param_info) { return std::string(param_info.param); });

TEST(Conversions, ReuseAMatrixForNewValues) {
  const auto A = plain();
  Matrix aij, tested;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));
  PETSC_OK(MatConvert(aij, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  EXPECT_TRUE(same_mult(tested, A, 12));
  PETSC_OK(MatScale(aij, 3.0));
  PETSC_OK(MatScale(A, 3.0));

  PETSC_OK(MatConvert(aij, tested_type().c_str(), MAT_REUSE_MATRIX, tested.in_place()));

  EXPECT_TRUE(same_products(tested, A, 13));
}

/// PETSc 3.18 makes the off-diagonal part of MPIBAIJ anew: without entries that an option forbids, and with other
/// options.
TEST(Conversions, LeaveEntriesAndOptionsOfTheMatrix) {
  if (!tested_is_compound()) GTEST_SKIP() << "skipped: PETSc's own does not";
  const auto A = plain();
  Matrix tested, aij;
  PETSC_OK(MatConvert(A, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  for (Mat M : {Mat(A), Mat(tested)})
    for (const auto option : {MAT_NEW_NONZERO_LOCATIONS, MAT_ROW_ORIENTED})
      PETSC_OK(MatSetOption(M, option, PETSC_FALSE));

  PETSC_OK(MatConvert(tested, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));

  EXPECT_TRUE(same_mult(aij, A, 14));
  EXPECT_TRUE(same_products(tested, A, 15));
  for (Mat M : {Mat(A), Mat(tested)}) {
    insert_blocks(M, problem(), 16, INSERT_VALUES);
    assemble(M);
  }
  EXPECT_TRUE(same_products(tested, A, 17));
  PETSC_OK(MatConvert(tested, MATAIJ, MAT_INPLACE_MATRIX, tested.in_place()));
  EXPECT_TRUE(same_mult(tested, A, 18));
}

/// MPIBAIJ keeps columns of other processes that have lost their entries, and the AIJ has none of them.
TEST(Conversions, ReuseAnAijThatLacksColumns) {
  if (!tested_is_compound()) GTEST_SKIP() << "skipped: PETSc's own cannot be made again";
  const auto A = filled_matrix(tested_type(), "", problem());
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  std::vector<PetscInt> rows;
  for (PetscInt row = first + 3; row < last; ++row) rows.push_back(row);
  PETSC_OK(MatZeroRows(A, static_cast<PetscInt>(rows.size()), rows.data(), 0.0, nullptr, nullptr));
  Matrix aij;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));
  PetscObjectState before, after;
  PETSC_OK(MatGetNonzeroState(aij, &before));
  PETSC_OK(MatScale(A, 2.0));

  PETSC_OK(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, aij.in_place()));

  EXPECT_TRUE(same_mult(A, aij, 19));
  PETSC_OK(MatGetNonzeroState(aij, &after));
  EXPECT_EQ(before, after);
}

TEST(Conversions, OfAnAijFillIncompleteBlocksWithZeros) {
  Matrix aij, tested;
  const PetscInt n = 4, bs = 3;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, aij.out()));
  PETSC_OK(MatSetSizes(aij, n * bs, n * bs, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSize(aij, bs));
  PETSC_OK(MatSetType(aij, MATAIJ));
  PETSC_OK(MatSeqAIJSetPreallocation(aij, 4, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(aij, 4, nullptr, 4, nullptr));
  PetscInt first, last, total;
  PETSC_OK(MatGetOwnershipRange(aij, &first, &last));
  PETSC_OK(MatGetSize(aij, &total, nullptr));
  for (PetscInt i = first; i < last; ++i) {
    const PetscInt columns[] = {i, (i * 7 + 2) % total};
    const PetscScalar values[] = {value(1, i), value(2, i)};
    PETSC_OK(MatSetValues(aij, 1, &i, i % bs == 1 ? 1 : 2, columns, values, ADD_VALUES));
  }
  assemble(aij);

  PETSC_OK(MatConvert(aij, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));

  EXPECT_TRUE(same_products(tested, aij, 14));
}

/// Memory alone lets what follows the base type's conversion fail: here a function does.
TEST(Conversions, ThatFailLeaveNothingBehind) {
  Mat made;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, &made));

  const auto found = catch_error([&] {
    return compound::plugin::finish_or_destroy(&made, []() -> PetscErrorCode {
      PetscFunctionBegin;
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for this");
    });
  });

  EXPECT_TRUE(all_ranks(found.code == PETSC_ERR_MEM));
  EXPECT_EQ(found.message, "no memory for this");
  EXPECT_TRUE(all_ranks(made == nullptr));
}

TEST(Conversions, BackToTheParentRestoreTheParentsProducts) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto A = plain();
  Matrix tested;
  PETSC_OK(MatConvert(A, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  EXPECT_TRUE(same_mult(tested, A, 15));

  PETSC_OK(MatConvert(tested, parent_type().c_str(), MAT_INPLACE_MATRIX, tested.in_place()));

  const char* type = nullptr;
  PETSC_OK(MatGetType(tested, &type));
  EXPECT_EQ(type, parent_type(size() == 1 ? "seq" : "mpi"));
  EXPECT_TRUE(same_products(tested, A, 16));
  EXPECT_TRUE(same_values(tested, A));
}

struct Pinned : testing::TestWithParam<std::pair<const char*, const char*>> {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
};

TEST_P(Pinned, ConstructorMakesTheRootTypeInItsLayout) {
  const auto type = pinned_type(GetParam().first), layout = std::string(GetParam().second);

  const auto A = filled_matrix(type, "", problem());

  EXPECT_TRUE(is_tested_type(A));
  EXPECT_TRUE(same_products(A, plain(), 18));
  EXPECT_NE(plan_of(A).find(std::string(" ") + layout), std::string::npos) << plan_of(A);
}

TEST_P(Pinned, NameRePinsAnAssembledMatrix) {
  const auto type = pinned_type(GetParam().first), layout = std::string(GetParam().second);
  const auto A = filled_matrix(tested_type(), "", problem());
  EXPECT_TRUE(same_mult(A, plain(), 19));

  PETSC_OK(MatSetType(A, type.c_str()));

  EXPECT_TRUE(same_products(A, plain(), 20));
  EXPECT_NE(plan_of(A).find(std::string(" ") + layout), std::string::npos) << plan_of(A);
}

TEST_P(Pinned, OptionBeatsTheName) {
  const auto A = filled_matrix(pinned_type(GetParam().first), "-mat_compound_layout sell:4", problem());

  EXPECT_TRUE(same_mult(A, plain(), 21));
  EXPECT_NE(plan_of(A).find(" sell:4"), std::string::npos) << plan_of(A);
}

/// PETSc's sums of other patterns replace the matrix's data each time, here without a product in between.
TEST_P(Pinned, StaysThroughTwoSumsInARow) {
  const auto type = pinned_type(GetParam().first), layout = std::string(GetParam().second);
  const auto A = filled_matrix(type, "", problem()), sum = plain();
  Matrix plain_T, T;
  PETSC_OK(MatTranspose(sum, MAT_INITIAL_MATRIX, plain_T.out()));
  PETSC_OK(MatConvert(plain_T, tested_type().c_str(), MAT_INITIAL_MATRIX, T.out()));

  for (const PetscScalar factor : {1.0, 0.5}) {
    PETSC_OK(MatAXPY(A, factor, T, DIFFERENT_NONZERO_PATTERN));
    PETSC_OK(MatAXPY(sum, factor, plain_T, DIFFERENT_NONZERO_PATTERN));
  }

  EXPECT_TRUE(same_products(A, sum, 22));
  EXPECT_NE(plan_of(A).find(std::string(" ") + layout), std::string::npos) << plan_of(A);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Pinned,
                         testing::Values(std::pair{"csr", "csr"}, std::pair{"ellr", "ellr"},
                                         std::pair{"sell", "sell:32"}, std::pair{"bellpack", "bellpack:32"},
                                         std::pair{"dia", "dia"}, std::pair{"hdia", "hdia:32"},
                                         std::pair{"ccoo", "ccoo:128"}),
                         [](const auto& param_info) { return std::string(param_info.param.first); });

TEST(Symmetric, HalvesConvertToOursAndBack) {
  // The upper half alone, as MATSBAIJ keeps it.
  const auto A = plain();
  Matrix T, symmetric, half, tested, back;
  PETSC_OK(MatTranspose(A, MAT_INITIAL_MATRIX, T.out()));
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, symmetric.out()));
  PETSC_OK(MatAXPY(symmetric, 1.0, T, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatSetOption(symmetric, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(symmetric, MATSBAIJ, MAT_INITIAL_MATRIX, half.out()));

  PETSC_OK(MatConvert(half, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));
  PETSC_OK(MatSetOption(tested, MAT_SYMMETRIC, PETSC_TRUE));
  PETSC_OK(MatConvert(tested, MATSBAIJ, MAT_INITIAL_MATRIX, back.out()));

  EXPECT_TRUE(is_tested_type(tested));
  EXPECT_TRUE(same_products(tested, symmetric, 24));
  EXPECT_TRUE(same_mult(back, symmetric, 25));
}

TEST(Files, KeepTheMatrix) {
  const auto A = filled_matrix(tested_type(), "", problem());
  const std::string name = file_of_run("conversions_test", ".bin");
  Viewer out, in;
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name.c_str(), FILE_MODE_WRITE, out.out()));
  PETSC_OK(MatView(A, out));
  out.reset();

  Matrix B;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, B.out()));
  PETSC_OK(MatSetSizes(B, problem().shape.rows[rank()] * 3, problem().shape.cols[rank()] * 3, PETSC_DETERMINE,
                       PETSC_DETERMINE));
  PETSC_OK(MatSetType(B, tested_type().c_str()));
  PETSC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name.c_str(), FILE_MODE_READ, in.out()));
  PETSC_OK(MatLoad(B, in));

  EXPECT_TRUE(is_tested_type(B));
  EXPECT_TRUE(same_products(B, plain(), 22));
  if (rank() == 0) {
    std::remove(name.c_str());
    std::remove((name + ".info").c_str());
  }
}

/// Created and preallocated as aij, typed afterwards.
Matrix typed_late() {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSize(A, 2));
  PETSC_OK(MatSetType(A, MATAIJ));
  PETSC_OK(MatSeqAIJSetPreallocation(A, 6, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 6, nullptr, 6, nullptr));
  PETSC_OK(MatSetType(A, tested_type().c_str()));
  return A;
}

TEST(LateType, SetsItselfUpAtTheFirstInsertion) {
  if (PETSC_VERSION_LT(3, 19, 0) && !tested_is_compound())
    GTEST_SKIP() << "PETSc before 3.19 crashes here with its own baij";
  const auto A = typed_late();

  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) PETSC_OK(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  assemble(A);

  const auto x = right_vector(A, 23), y = left_vector(A, 24);
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(VecAXPY(y, -2.0, x));
  PetscReal norm;
  PETSC_OK(VecNorm(y, NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 0.0);
  EXPECT_TRUE(is_tested_type(A));
}

/// PETSc 3.18 says that such a matrix has no rows: the program fills none.
TEST(LateType, IsRefusedWhereAProgramCouldNotFillIt) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's own types say nothing";
  Matrix A;
  PetscInt first, last;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, tested_type().c_str()));
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) PETSC_OK(MatSetValue(A, i, i, 2.0, INSERT_VALUES));

  const caught found = catch_error([&] { return MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY); });

  if (PETSC_VERSION_LT(3, 19, 0)) {
    EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONGSTATE);
    EXPECT_NE(found.message.find("is assembled without an entry"), std::string::npos) << found.message;
  } else {
    EXPECT_EQ(found.code, PETSC_SUCCESS);
    PETSC_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
}

TEST(LateType, SetsItselfUpAtMatZeroEntries) {
  if (PETSC_VERSION_LT(3, 19, 0) && !tested_is_compound())
    GTEST_SKIP() << "PETSc before 3.19 crashes here with its own baij";
  const auto A = typed_late();

  PETSC_OK(MatZeroEntries(A));
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) PETSC_OK(MatSetValue(A, i, i, 4.0, ADD_VALUES));
  assemble(A);

  const auto x = right_vector(A, 25), y = left_vector(A, 26);
  PETSC_OK(MatMult(A, x, y));
  PETSC_OK(VecAXPY(y, -4.0, x));
  PetscReal norm;
  PETSC_OK(VecNorm(y, NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 0.0);
}

}  // namespace
