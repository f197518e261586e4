// Products of matrices: with dense ones (many vectors at once), with aij, with each other.
#include "compare.hpp"

namespace {

using namespace petsc_test;

struct Kind {
  const char* name;
  MatProductType type;
  bool transposed_partner = false;  ///< B must fit A from the other side
};

const Kind kinds[] = {{"AB", MATPRODUCT_AB},     {"AtB", MATPRODUCT_AtB},   {"ABt", MATPRODUCT_ABt},
                      {"PtAP", MATPRODUCT_PtAP}, {"RARt", MATPRODUCT_RARt}, {"ABC", MATPRODUCT_ABC}};

struct Case {
  Kind kind;
  const char *left, *right;  ///< "tested" or a type of PETSc
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.kind.name << " " << c.left << " " << c.right; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& k : kinds) {
    all.push_back({k, "tested", MATDENSE});
    all.push_back({k, "tested", MATAIJ});
    all.push_back({k, MATAIJ, "tested"});
    all.push_back({k, "tested", "tested"});
    if (!tested_is_of_scalars()) all.push_back({k, "tested", MATBAIJ});
  }
  return all;
}

Matrix converted(Mat A, const std::string& type) {
  Matrix B;
  PETSC_OK(MatConvert(A, type.c_str(), MAT_INITIAL_MATRIX, B.out()));
  return B;
}

/// Square, so that every product of two fits.
Matrix operand(const std::string& type, std::uint64_t seed) {
  Random random(seed);
  const auto shape = spread(2, 9, 9);
  const auto A = filled_matrix(MATBAIJ, "", {shape, random_blocks(random, shape, 0.3, true), seed});
  return converted(A, type == "tested" ? tested_type() : type);
}

PetscErrorCode product_of_two(Mat A, Mat B, MatProductType type, Mat* C) {
  PetscFunctionBegin;
  PetscCall(MatProductCreate(A, B, type == MATPRODUCT_ABC ? A : nullptr, C));
  PetscCall(MatProductSetType(*C, type));
  PetscCall(MatProductSetFromOptions(*C));
  PetscCall(MatProductSymbolic(*C));
  PetscCall(MatProductNumeric(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Largest difference of all entries, over the largest entry.
double difference(Mat found, Mat wanted) {
  Matrix a = converted(found, MATDENSE), b = converted(wanted, MATDENSE);
  PetscReal norm, error;
  PETSC_OK(MatNorm(b, NORM_INFINITY, &norm));
  PETSC_OK(MatAXPY(a, -1.0, b, SAME_NONZERO_PATTERN));
  PETSC_OK(MatNorm(a, NORM_INFINITY, &error));
  return norm > 0 ? error / norm : error;
}

#if PETSC_VERSION_GE(3, 20, 0)
TEST(ScaledByADiagonalMatrix, IsAMatrixScaled) {
  const auto A = operand("tested", 85), scaled = operand("tested", 85);
  const auto d = right_vector(A, 86);
  Matrix D, product, wanted;
  PETSC_OK(MatCreateDiagonal(d, D.out()));
  PETSC_OK(MatDiagonalScale(scaled, nullptr, d));

  const auto could = catch_error([&] { return MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()); });

  if (PETSC_VERSION_LT(3, 26, 0) && could.code) GTEST_SKIP() << "skipped: PETSc has no such products before 3.26";
  ASSERT_EQ(could.code, 0) << could.message;
  EXPECT_TRUE(same_mult(product, scaled, 87));
}
#endif

TEST(ReusedProduct, OfAnOperandWhosePatternGrewAsksForANewOne) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "PETSc's own products of AIJ do not look";
  if (!tested_is_compound()) GTEST_SKIP() << "baij has no such products";
  const auto A = operand("tested", 83), B = operand(MATAIJ, 84), a = operand(MATAIJ, 83);
  Matrix C, wanted;
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PETSC_OK(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (Mat m : {Mat(A), Mat(a)}) {
    for (PetscInt k = 0; k < 18 && rank() == 0; ++k) PETSC_OK(MatSetValue(m, 0, k, 2.5, INSERT_VALUES));
    assemble(m);
  }

  const auto reused = catch_error([&] { return MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C.in_place()); });

  EXPECT_EQ(reused.code, PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_NE(reused.message.find("call it with MAT_INITIAL_MATRIX again"), std::string::npos) << reused.message;
  C.reset();
  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PETSC_OK(MatMatMult(a, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  EXPECT_LE(difference(C, wanted), 1e-14);
}

struct MatrixProducts : testing::TestWithParam<Case> {};

TEST_P(MatrixProducts, AreThoseOfAijCopies) {
  const Kind& kind = GetParam().kind;
  const std::string left = GetParam().left, right = GetParam().right;
  const auto A = operand(left, 81), B = operand(right, 82);
  const auto a = operand(MATAIJ, 81), b = operand(right == MATDENSE ? MATDENSE : MATAIJ, 82);
  Matrix wanted, found;
  const auto can = catch_error([&] { return product_of_two(a, b, kind.type, wanted.out()); });
  if (can.code) *wanted.in_place() = nullptr;

  const auto could = catch_error([&] { return product_of_two(A, B, kind.type, found.out()); });

  if (can.code || could.code) {
    *found.in_place() = nullptr;
    EXPECT_TRUE(could.code == can.code || !tested_is_compound()) << could.message << "\naij: " << can.message;
    return;
  }
  EXPECT_LE(difference(found, wanted), 1e-13);
}

/// The product, and again with other values; the second as dense.
PetscErrorCode product_twice(Mat A, Mat B, MatProductType type, Mat* C) {
  PetscFunctionBegin;
  PetscCall(product_of_two(A, B, type, C));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(B, 3.0));
  PetscCall(MatProductNumeric(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(MatrixProducts, FollowNewValuesAsOnAij) {
  const Kind& kind = GetParam().kind;
  const std::string left = GetParam().left, right = GetParam().right;
  const auto A = operand(left, 83), B = operand(right, 84);
  const auto a = operand(MATAIJ, 83), b = operand(right == MATDENSE ? MATDENSE : MATAIJ, 84);
  Matrix wanted, found;
  const auto can = catch_error([&] { return product_twice(a, b, kind.type, wanted.out()); });
  if (can.code) *wanted.in_place() = nullptr;

  const auto could = catch_error([&] { return product_twice(A, B, kind.type, found.out()); });

  if (can.code || could.code) {
    *found.in_place() = nullptr;
    EXPECT_TRUE(could.code == can.code || !tested_is_compound()) << could.message << "\naij: " << can.message;
    return;
  }
  EXPECT_LE(difference(found, wanted), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProducts, testing::ValuesIn(cases()), [](const auto& param_info) {
  return std::string(param_info.param.kind.name) + "_" + param_info.param.left + "_" + param_info.param.right;
});

TEST(ManyVectors, RunOnOurProducts) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  if (tested_is_of_scalars()) GTEST_SKIP() << "AIJ has a product of its own with dense matrices";
  const auto A = operand("tested", 85), B = operand(MATDENSE, 86);
  const auto before = info_of(A);
  Matrix C;

  PETSC_OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));

  PetscInt columns;
  PETSC_OK(MatGetSize(B, nullptr, &columns));
  EXPECT_TRUE(all_ranks(info_of(A).products - before.products == columns));
}

TEST(Galerkin, ReuseTakesTheNewMatrix) {
  const auto first = operand("tested", 87), second = operand("tested", 87), P = operand(MATAIJ, 88);
  const auto b = operand(MATAIJ, 87);
  Matrix found, wanted;
  const auto could = catch_error([&] { return MatPtAP(first, P, MAT_INITIAL_MATRIX, 2.0, found.out()); });
  if (could.code) {
    *found.in_place() = nullptr;
    EXPECT_FALSE(tested_is_compound()) << could.message;
    return;
  }
  PETSC_OK(MatScale(second, 5.0));
  PETSC_OK(MatScale(b, 5.0));

  PETSC_OK(MatPtAP(second, P, MAT_REUSE_MATRIX, 2.0, found.in_place()));

  PETSC_OK(MatPtAP(b, P, MAT_INITIAL_MATRIX, 2.0, wanted.out()));
  EXPECT_LE(difference(found, wanted), 1e-13);
}

}  // namespace
