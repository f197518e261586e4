// What matrices above AIJ have of their own: blocks that are told or found, single scalars that stay the parent's,
// rectangular blocks, products of matrices.
#include "device.hpp"
#include "info.hpp"
#include "scalar_blocks.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

/// A duplicate of a matrix that was set up and never filled: PETSc 3.26 gathers its values in a table.
TEST(AijDuplicates, OfMatricesThatWereNeverFilledTakeValues) {
  Matrix filled[2];
  for (const bool ours : {false, true}) {
    Matrix A;
    PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
    PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
    PETSC_OK(MatSetType(A, ours ? MATAIJCOMPOUND : MATAIJ));
    PETSC_OK(MatSetUp(A));
    Mat B;
    PETSC_OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
    *filled[ours].out() = B;
    const PetscInt all = 6 * size();
    for (int round = 0; round < 2; ++round) {
      for (PetscInt row = 6 * rank(); row < 6 * (rank() + 1); ++row)
        for (const PetscInt col : {row, (row + 1) % all, (row + 5) % all})
          PETSC_OK(MatSetValue(B, row, col, value(round, row, col), INSERT_VALUES));
      assemble(B);
    }
  }
  MatType type;
  PetscBool same;
  Matrix as_aij;
  PETSC_OK(MatGetType(filled[1], &type));
  EXPECT_TRUE(std::string_view(type).ends_with("aijcompound")) << type;
  PETSC_OK(MatConvert(filled[1], MATAIJ, MAT_INITIAL_MATRIX, as_aij.out()));
  PETSC_OK(MatEqual(as_aij, filled[0], &same));
  EXPECT_TRUE(same);
}

bool is_ours(Mat A) {
  PetscBool ours;
  PETSC_OK(
      PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &ours, MATSEQAIJCOMPOUND, MATMPIAIJCOMPOUND, ""));
  return ours;
}

PetscInt64 counted(Mat A) {
  MatCompoundInfo info;
  PETSC_OK(MatCompoundGetInfo(A, &info));
  return info.products;
}

std::string planned(Mat A) {
  const char* plan;
  PETSC_OK(MatCompoundGetPlan(A, &plan));
  return plan;
}

struct AijBlocks : testing::TestWithParam<Blocks> {};

TEST_P(AijBlocks, ThatTheMatrixTellsAreMultiplied) {
  const auto A = of_blocks(GetParam(), true);

  EXPECT_TRUE(same_products(A, plain(GetParam()), 1));

  EXPECT_GT(counted(A), 0);
  MatCompoundInfo info;
  PETSC_OK(MatCompoundGetInfo(A, &info));
  EXPECT_TRUE(all_ranks(info.stored_blocks <= 4 * 12)) << info.stored_blocks;
  const auto text = view_of("aij", A);
  const std::string line = "compound blocks: full ones of " + text_of(GetParam()) + " (the matrix's block sizes)";
  EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_P(AijBlocks, NewValuesAreTaken) {
  const auto A = of_blocks(GetParam(), true), B = plain(GetParam());
  EXPECT_TRUE(same_mult(A, B, 2));
  const auto packs = info_of(A).pattern_packs;
  for (Mat m : {Mat(A), Mat(B)}) {
    PETSC_OK(MatScale(m, 3.0));
    PetscInt first;
    PETSC_OK(MatGetOwnershipRange(m, &first, nullptr));
    PETSC_OK(MatSetValue(m, first, first / GetParam().rows % (10 * size()) * GetParam().cols, 0.125, INSERT_VALUES));
    assemble(m);
  }

  EXPECT_TRUE(same_products(A, B, 3));
  EXPECT_EQ(info_of(A).pattern_packs, packs);
}

TEST_P(AijBlocks, NewPatternsAreTaken) {
  const auto A = of_blocks(GetParam(), true), B = plain(GetParam());
  EXPECT_TRUE(same_mult(A, B, 4));
  for (Mat m : {Mat(A), Mat(B)}) {
    PetscInt first;
    PETSC_OK(MatGetOwnershipRange(m, &first, nullptr));
    PETSC_OK(MatSetValue(m, first, 10 * size() * GetParam().cols - 1, 0.5, INSERT_VALUES));  // the row is full no more
    assemble(m);
  }

  EXPECT_TRUE(same_products(A, B, 5));
}

INSTANTIATE_TEST_SUITE_P(Shapes, AijBlocks,
                         testing::Values(Blocks{3, 3}, Blocks{6, 6}, Blocks{3, 6}, Blocks{6, 3}, Blocks{2, 2},
                                         Blocks{1, 3}, Blocks{4, 1}, Blocks{5, 7}),
                         [](const auto& p) {
                           return std::to_string(p.param.rows) + "x" + std::to_string(p.param.cols);
                         });

TEST(AijBlocks, AreFoundWhereTheMatrixTellsNone) {
  const auto A = of_blocks({3, 3}, false);

  EXPECT_TRUE(same_products(A, plain({3, 3}), 6));

  EXPECT_GT(counted(A), 0);
  const auto text = view_of("aij", A);
  EXPECT_NE(text.find("compound blocks: full ones of 3 (found)"), std::string::npos) << text;
}

TEST(AijBlocks, ThatAreNotFullArePackedWhereThatTakesLess) {
  const auto A = of_blocks({4, 4}, true, 0.9), sparse = of_blocks({4, 4}, true, 0.3);

  EXPECT_TRUE(same_products(A, plain({4, 4}, 0.9), 7));
  EXPECT_TRUE(same_products(sparse, plain({4, 4}, 0.3), 8));

  EXPECT_GT(counted(A), 0);
  EXPECT_NE(view_of("aij", A).find("compound blocks: of 4 packed from blocks of 1"), std::string::npos);
  EXPECT_EQ(planned(sparse), "");
}

TEST(AijBlocks, ThatOnlyTheOffDiagonalPartHasAreShown) {
  if (size() == 1) GTEST_SKIP() << "one process has no off-diagonal part";
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetBlockSize(A, 3));
  PETSC_OK(MatSetType(A, MATAIJCOMPOUND));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 1, nullptr, 3, nullptr));
  const PetscInt first = 6 * rank(), next = 6 * ((rank() + 1) % size());
  for (PetscInt i = 0; i < 6; ++i) {
    PETSC_OK(MatSetValue(A, first + i, first + i, 2.0, INSERT_VALUES));
    for (PetscInt j = 0; i < 3 && j < 3; ++j)
      if (i + j > 0) PETSC_OK(MatSetValue(A, first + i, next + j, 0.5, INSERT_VALUES));
  }
  assemble(A);
  PETSC_OK(MatCompoundSetPlan(A, "csr"));  // else the parent multiplies by the single scalars
  (void)product_of(A, all_products().front(), 31);

  const auto text = view_of("aij", A);
  EXPECT_NE(text.find("compound blocks: of 3 packed from blocks of 1, 89 % filled"), std::string::npos) << text;
}

TEST(AijScalars, StayWithTheParentAndTakeNoMemory) {
  const auto A = of_blocks({1, 1}, true), B = plain({1, 1});

  EXPECT_TRUE(same_products(A, B, 9));

  MatCompoundInfo info;
  PETSC_OK(MatCompoundGetInfo(A, &info));
  EXPECT_EQ(info.packed_bytes, 0);
  EXPECT_EQ(planned(A), "");
  EXPECT_NE(view_of("aij", A).find("single scalars, which the base type multiplies as fast"), std::string::npos);
}

TEST(AijScalars, ArePackedWhereALayoutIsAskedFor) {
  const auto A = of_blocks(MATAIJCOMPOUNDSELL, {1, 1}, true);

  EXPECT_TRUE(same_products(A, plain({1, 1}), 10));

  EXPECT_NE(planned(A).find("sell:32"), std::string::npos) << planned(A);
}

TEST(AijBlocks, OfAnotherSizeAreMadeWhereThatIsAskedFor) {
  const auto A = of_blocks(MATAIJCOMPOUND, {3, 3}, true, 1, "-mat_compound_block_size 1");

  EXPECT_TRUE(same_products(A, plain({3, 3}), 11));

  EXPECT_EQ(view_of("aij", A).find("full ones of 3"), std::string::npos);
}

TEST(AijBlocks, AreLookedForAnewWhereOptionsHaveChanged) {
  const auto A = of_blocks({3, 3}, true);
  EXPECT_TRUE(same_products(A, plain({3, 3}), 12));
  EXPECT_NE(view_of("aij", A).find("full ones of 3"), std::string::npos);

  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_block_size", "1"));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(PetscOptionsClearValue(nullptr, "-mat_compound_block_size"));

  EXPECT_TRUE(same_products(A, plain({3, 3}), 13));
  EXPECT_EQ(view_of("aij", A).find("full ones of 3"), std::string::npos);
}

/// Rows of full blocks whose columns are not the matrix's: such arrays come from other programs.
TEST(AijBlocks, BeyondTheMatrixAreAnError) {
  PetscInt start[] = {0, 2, 4}, column[] = {4, 5, 4, 5};
  PetscScalar values[] = {1, 2, 3, 4};
  Matrix A;
  Mat given;
  PETSC_OK(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 4, start, column, values, &given));
  PETSC_OK(MatSetBlockSize(given, 2));
  PETSC_OK(MatConvert(given, MATSEQAIJCOMPOUND, MAT_INPLACE_MATRIX, &given));
  *A.out() = given;
  Vec x, y;
  PETSC_OK(MatCreateVecs(A, &x, &y));
  const auto found = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("row 0 has column"), std::string::npos) << found.message;
  PETSC_OK(VecDestroy(&x));
  PETSC_OK(VecDestroy(&y));
}

struct Sibling : testing::TestWithParam<const char*> {};

TEST_P(Sibling, ConvertsToAndFro) {
  if (std::string(GetParam()) == MATAIJCUSPARSE) SKIP_WITHOUT_DEVICE();
  const auto A = of_blocks({3, 3}, true);
  EXPECT_TRUE(same_mult(A, plain({3, 3}), 12));
  Matrix other, back;

  PETSC_OK(MatConvert(A, GetParam(), MAT_INITIAL_MATRIX, other.out()));
  PETSC_OK(MatConvert(other, MATAIJCOMPOUND, MAT_INITIAL_MATRIX, back.out()));
  PETSC_OK(MatConvert(A, GetParam(), MAT_INPLACE_MATRIX, const_cast<Matrix&>(A).in_place()));

  EXPECT_TRUE(same_mult(other, plain({3, 3}), 13));
  EXPECT_TRUE(same_mult(back, plain({3, 3}), 14));
  EXPECT_TRUE(same_mult(A, plain({3, 3}), 15));
  EXPECT_GT(counted(back), 0);
}

#if PetscDefined(HAVE_CUDA)
#define DEVICE_SIBLINGS , MATAIJCUSPARSE
#else
#define DEVICE_SIBLINGS
#endif
INSTANTIATE_TEST_SUITE_P(Types, Sibling, testing::Values(MATAIJ, MATAIJPERM, MATAIJSELL, MATAIJCRL DEVICE_SIBLINGS),
                         [](const auto& p) { return std::string(p.param); });

TEST(AijFamilies, ConvertIntoEachOther) {
  const auto A = of_blocks({3, 3}, true);
  Matrix square, blocks, back;
  PETSC_OK(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, square.out()));

  PETSC_OK(MatConvert(square, MATBAIJCOMPOUND, MAT_INITIAL_MATRIX, blocks.out()));
  PETSC_OK(MatConvert(blocks, MATAIJCOMPOUND, MAT_INITIAL_MATRIX, back.out()));

  EXPECT_TRUE(same_products(blocks, square, 16));
  EXPECT_TRUE(same_products(back, square, 17));
  EXPECT_TRUE(is_ours(back));
}

TEST(AijFamilies, AddToEachOther) {
  const auto A = of_blocks({3, 3}, true), B = of_blocks({3, 3}, true), P = plain({3, 3});
  Matrix square, other, wanted;
  PETSC_OK(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, square.out()));
  PETSC_OK(MatTransposeMatMult(P, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));
  PETSC_OK(MatConvert(square, MATBAIJCOMPOUND, MAT_INITIAL_MATRIX, other.out()));

  PETSC_OK(MatAXPY(square, 2.0, other, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatAXPY(other, 0.5, square, DIFFERENT_NONZERO_PATTERN));

  PETSC_OK(MatScale(wanted, 3.0));
  EXPECT_TRUE(same_products(square, wanted, 21));
  PETSC_OK(MatScale(wanted, 2.5 / 3));
  EXPECT_TRUE(same_products(other, wanted, 22));
}

/// Which has PETSc's own operation behind it, in the same program.
TEST(AijFamilies, HaveEachItsOwnSor) {
  const auto options = "-solver_ksp_type cg -solver_pc_type sor";
  const auto blocks = coupled(MATBAIJCOMPOUND, "", spread(3, 30, 30)), baij = coupled(MATBAIJ, "", spread(3, 30, 30)),
             scalars = coupled(MATAIJCOMPOUND, "", spread(3, 30, 30)), aij = coupled(MATAIJ, "", spread(3, 30, 30));

  const auto of_blocks = solve(blocks, options), of_scalars = solve(scalars, options);

  EXPECT_EQ(of_blocks.iterations, solve(baij, options).iterations);
  EXPECT_EQ(of_scalars.iterations, solve(aij, options).iterations);
  EXPECT_LE(std::max(of_blocks.residual, of_scalars.residual), 1e-8);
}

TEST(AijProducts, OfMatricesAreOfTheTypeAndInBlocks) {
  const auto A = of_blocks({3, 3}, true), P = of_blocks({3, 6}, true);
  Matrix AtP, of_plain;
  PETSC_OK(MatTransposeMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, AtP.out()));
  PETSC_OK(MatTransposeMatMult(plain({3, 3}), plain({3, 6}), MAT_INITIAL_MATRIX, PETSC_DEFAULT, of_plain.out()));

  EXPECT_TRUE(same_products(AtP, of_plain, 18));

  EXPECT_GT(counted(AtP), 0) << planned(AtP);
  PETSC_OK(MatScale(P, 2.0));
  PETSC_OK(MatTransposeMatMult(A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, AtP.in_place()));
  PETSC_OK(MatScale(of_plain, 2.0));
  EXPECT_TRUE(same_products(AtP, of_plain, 19));
}

using MakeProduct = PetscErrorCode (*)(Mat, Mat, MatReuse, PetscReal, Mat*);

struct ProductOfTwo {
  const char* name;
  MakeProduct make;
  bool on_several = true;  ///< PETSc has it on several processes, too
};
void PrintTo(const ProductOfTwo& p, std::ostream* out) { *out << p.name; }

std::string vec_type_of(Mat A) {
  VecType type;
  PETSC_OK(MatGetVecType(A, &type));
  return type;
}

/// A type of vectors that differs from what a matrix has by itself, and needs no device.
std::string other_vec_type() { return size() > 1 ? VECMPI : VECSEQ; }

/// So do multigrid's levels, where it is a device's. Full blocks, and single scalars whose products are the parent's.
struct AijProductVectors : testing::TestWithParam<ProductOfTwo> {};

TEST_P(AijProductVectors, AreOfTheOperandsType) {
  if (size() > 1 && !GetParam().on_several) GTEST_SKIP() << "skipped: PETSc has it on one process";
  for (const int bs : {1, 3})
    for (const int of : {0, 1}) {
      Matrix operands[2], product;
      for (Matrix& m : operands) m = filled_matrix(MATAIJCOMPOUND, "", random_problem(23, spread(bs, 9, 9)));
      PETSC_OK(MatSetVecType(operands[of], other_vec_type().c_str()));

      PETSC_OK(GetParam().make(operands[0], operands[1], MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));

      EXPECT_EQ(vec_type_of(product), other_vec_type()) << "of operand " << of << ", blocks of " << bs;
    }
}

INSTANTIATE_TEST_SUITE_P(All, AijProductVectors,
                         testing::Values(ProductOfTwo{"AB", MatMatMult}, ProductOfTwo{"AtB", MatTransposeMatMult},
                                         ProductOfTwo{"PtAP", MatPtAP}, ProductOfTwo{"ABt", MatMatTransposeMult, false},
                                         ProductOfTwo{"RARt", MatRARt, false}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(AijSubmatrices, HaveVectorsOfTheMatrixsType) {
  const auto A = filled_matrix(MATAIJCOMPOUND, "", random_problem(24, spread(3, 9, 9)));
  PetscInt first, last;
  Indices rows;
  Matrix part;
  PETSC_OK(MatSetVecType(A, other_vec_type().c_str()));
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, (last - first) / 3, first, 3, rows.out()));

  PETSC_OK(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, part.out()));

  EXPECT_EQ(vec_type_of(part), other_vec_type());
}

struct AijOnDevice : DeviceTest, testing::WithParamInterface<Blocks> {};

TEST_P(AijOnDevice, BlocksThatAreNotSquareAgreeWithAijInAllMixesOfVectors) {
  const auto A = of_blocks(GetParam(), true);

  EXPECT_TRUE(same_everywhere(A, plain(GetParam()), 25));

  EXPECT_TRUE(all_ranks(info_of(A).device_bytes > 0));
  EXPECT_NE(view_of("aij", A).find("compound blocks: full ones of " + text_of(GetParam())), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AijOnDevice,
                         testing::Values(Blocks{3, 6}, Blocks{6, 3}, Blocks{1, 3}, Blocks{4, 1}, Blocks{5, 7}),
                         [](const auto& p) { return text_of(p.param); });

#if PetscDefined(HAVE_CUDA)
/// By cuSPARSE: single scalars in no blocks, and A^T B of any. One operand's vectors are told to be there.
struct CusparseProduct {
  const char* name;
  int bs;
  MakeProduct make;
};
void PrintTo(const CusparseProduct& p, std::ostream* out) { *out << p.name; }

struct AijProductsOnDevice : DeviceTest, testing::WithParamInterface<CusparseProduct> {};

TEST_P(AijProductsOnDevice, OfMoreThanTheFewestScalarsAreThoseOfAij) {
  if (size() > 1) GTEST_SKIP() << "skipped: on several processes they are the host's";
  const auto& [name, bs, make] = GetParam();
  const auto shape = spread(bs, 300 / bs, 300 / bs);  // three in ten entries: 27,000 scalars
  const auto A = filled_matrix(MATAIJCOMPOUND, "", random_problem(26, shape)),
             B = filled_matrix(MATAIJCOMPOUND, "", random_problem(27, shape)),
             a = filled_matrix(MATAIJ, "", random_problem(26, shape)),
             b = filled_matrix(MATAIJ, "", random_problem(27, shape));
  Matrix found, wanted;
  PETSC_OK(MatSetVecType(A, VECCUDA));

  const auto told =
      info_during("aij_test", [&] { PETSC_OK(make(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, found.out())); });
  PETSC_OK(make(a, b, MAT_INITIAL_MATRIX, PETSC_DEFAULT, wanted.out()));

  EXPECT_NE(told.find("runs on the device (cuSPARSE)"), std::string::npos) << told;
  EXPECT_NE(vec_type_of(found).find("cuda"), std::string::npos);
  EXPECT_TRUE(is_ours(found));
  EXPECT_TRUE(same_everywhere(found, wanted, 28));
  for (Mat m : {Mat(A), Mat(a)}) PETSC_OK(MatScale(m, -0.5));
  PETSC_OK(make(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, found.in_place()));
  PETSC_OK(make(a, b, MAT_REUSE_MATRIX, PETSC_DEFAULT, wanted.in_place()));
  EXPECT_TRUE(same_everywhere(found, wanted, 29));
}

INSTANTIATE_TEST_SUITE_P(All, AijProductsOnDevice,
                         testing::Values(CusparseProduct{"AB_of_scalars", 1, MatMatMult},
                                         CusparseProduct{"AtB_of_scalars", 1, MatTransposeMatMult},
                                         CusparseProduct{"PtAP_of_scalars", 1, MatPtAP},
                                         CusparseProduct{"AtB_of_blocks", 3, MatTransposeMatMult}),
                         [](const auto& p) { return std::string(p.param.name); });
#endif

TEST(AijKron, IsTheParents) {
  if (size() > 1) GTEST_SKIP() << "PETSc has it on one process";
  const auto A = of_blocks({1, 3}, true), B = of_blocks({2, 2}, true);
  Matrix ours, of_plain;
  PETSC_OK(MatSeqAIJKron(A, B, MAT_INITIAL_MATRIX, ours.out()));
  PETSC_OK(MatSeqAIJKron(plain({1, 3}), plain({2, 2}), MAT_INITIAL_MATRIX, of_plain.out()));

  EXPECT_TRUE(same_mult(ours, of_plain, 20));
}

/// Column projection asks for a seqaij of exactly that name.
TEST(AijPreconditioners, ColumnProjectionTakesThem) {
  if (size() > 1) GTEST_SKIP() << "PETSc has it on one process";
  const auto A = spd(MATAIJCOMPOUND, 2), aij = spd(MATAIJ, 2);
  Vector y[2];
  for (const int k : {0, 1}) {
    const Mat m = k == 0 ? Mat(A) : Mat(aij);
    const auto x = right_vector(m, 40);
    PC pc;
    PETSC_OK(VecDuplicate(x, y[k].out()));
    PETSC_OK(PCCreate(PETSC_COMM_WORLD, &pc));
    PETSC_OK(PCSetType(pc, PCCP));
    PETSC_OK(PCSetOperators(pc, m, m));
    PETSC_OK(PCApply(pc, x, y[k]));
    PETSC_OK(PCDestroy(&pc));
  }
  PetscReal norm;

  PETSC_OK(VecAXPY(y[0], -1.0, y[1]));

  PETSC_OK(VecNorm(y[0], NORM_INFINITY, &norm));
  EXPECT_EQ(norm, 0);
}

/// (Not beside tests of events: after an error in PCSetUp() PETSc logs KSPSolve no more.)
TEST(AijPreconditioners, MultigridOfBlocksNamesTheTypeThatHasIt) {
  const auto A = spd(MATBAIJCOMPOUND, 3);
  Solved solved;
  const auto found = catch_error([&] { return try_to_solve(A, A, "-solver_pc_type gamg", &solved); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("-mat_type aijcompound"), std::string::npos) << found.message;
}

}  // namespace
