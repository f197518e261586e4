// What matrices above AIJ have of their own: blocks that are told or found, single scalars that stay the parent's,
// rectangular blocks, multigrid.
#include <petscdmda.h>

#include <array>

#include "device_tests.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

struct Blocks {
  int rows, cols;
};

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

/// 12 block rows a process, with entries in a band and far off; `fill`: the share of scalars of a block that are there.
Matrix of_blocks(const std::string& type, Blocks b, bool tells, double fill = 1, const std::string& options = "") {
  const PetscInt rows = 12, cols = 10;
  const std::string prefix = "aij_test_";
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, rows * b.rows, cols * b.cols, PETSC_DETERMINE, PETSC_DETERMINE));
  if (tells) PETSC_OK(MatSetBlockSizes(A, b.rows, b.cols));
  PETSC_OK(MatSetType(A, type.c_str()));
  if (!options.empty()) {
    const auto space = options.find(' ');
    PETSC_OK(PetscOptionsSetValue(nullptr, ("-" + prefix + options.substr(1, space - 1)).c_str(),
                                  options.substr(space + 1).c_str()));
    PETSC_OK(MatSetOptionsPrefix(A, prefix.c_str()));
    PETSC_OK(MatSetFromOptions(A));
  }
  PETSC_OK(MatSeqAIJSetPreallocation(A, 8 * b.cols, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 8 * b.cols, nullptr, 8 * b.cols, nullptr));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  const PetscInt all = cols * size();
  for (PetscInt row = rows * rank(); row < rows * (rank() + 1); ++row)
    for (const PetscInt col : {row % all, (row + 1) % all, (row * 7 + 3) % all, (row * 5 + 11) % all})
      for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.cols; ++j) {
          Random random(static_cast<std::uint64_t>((row * 991 + col) * 64 + i * 8 + j));
          const PetscInt at_row = row * b.rows + i, at_col = col * b.cols + j;
          if (random.chance(fill)) PETSC_OK(MatSetValue(A, at_row, at_col, value(7, at_row, at_col), INSERT_VALUES));
        }
  assemble(A);
  if (!options.empty())
    PETSC_OK(PetscOptionsClearValue(nullptr, ("-" + prefix + options.substr(1, options.find(' ') - 1)).c_str()));
  return A;
}

Matrix of_blocks(Blocks b, bool tells, double fill = 1) { return of_blocks(MATAIJCOMPOUND, b, tells, fill); }
Matrix plain(Blocks b, double fill = 1) { return of_blocks(MATAIJ, b, true, fill); }

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
  const std::string size = GetParam().rows == GetParam().cols
                               ? std::to_string(GetParam().rows)
                               : std::to_string(GetParam().rows) + "x" + std::to_string(GetParam().cols);
  EXPECT_NE(text.find("compound blocks: full ones of " + size + " (the matrix's block sizes)"), std::string::npos)
      << text;
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

TEST(AijScalars, StayWithTheParentAndTakeNoMemory) {
  const auto A = of_blocks({1, 1}, true), B = plain({1, 1});

  EXPECT_TRUE(same_products(A, B, 9));

  MatCompoundInfo info;
  PETSC_OK(MatCompoundGetInfo(A, &info));
  EXPECT_EQ(info.packed_bytes, 0);
  EXPECT_EQ(planned(A), "");
  EXPECT_NE(view_of("aij", A).find("single scalars, which the parent type multiplies as fast"), std::string::npos);
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
  PetscBool ours;
  PETSC_OK(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(Mat(back)), &ours, MATSEQAIJCOMPOUND,
                                     MATMPIAIJCOMPOUND, ""));
  EXPECT_TRUE(ours);
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

struct Multigrid {
  Solver ksp;
  explicit Multigrid(Mat A, const std::string& options = "") {
    PETSC_OK(PetscOptionsInsertString(nullptr, ("-solver_pc_type gamg -solver_ksp_type cg -solver_ksp_rtol 1e-8 "
                                                "-solver_pc_gamg_coarse_eq_limit 10 -solver_pc_gamg_threshold 0 " +
                                                options)
                                                   .c_str()));
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    PETSC_OK(KSPSetFromOptions(ksp));
  }
  PetscInt solve(Mat A) {
    const auto x = right_vector(A, 31), b = left_vector(A, 32);
    PetscInt iterations;
    KSPConvergedReason reason;
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    return iterations;
  }
};

/// A box of nodes with three unknowns each, coupled to their neighbours; the last process may have more.
Matrix grid(const std::string& type) {
  const PetscInt side = 9;
  Grid dm;
  Matrix A;
  PETSC_OK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, side,
                        side, side, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, nullptr, nullptr, nullptr,
                        dm.out()));
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMSetUp(dm));
  PETSC_OK(DMCreateMatrix(dm, A.out()));
  DMDALocalInfo info;
  PETSC_OK(DMDAGetLocalInfo(dm, &info));
  const auto insert = [&](MatStencil from, MatStencil to, double diagonal) {
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        from.c = c;
        to.c = d;
        const PetscScalar v = c == d ? diagonal : 0.1 * diagonal;
        PETSC_OK(MatSetValuesStencil(A, 1, &from, 1, &to, &v, INSERT_VALUES));
      }
  };
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const MatStencil here{k, j, i, 0};
        insert(here, here, 6.1);
        for (const auto [dk, dj, di] :
             {std::array<PetscInt, 3>{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}) {
          const MatStencil there{k + dk, j + dj, i + di, 0};
          const bool inside =
              there.k >= 0 && there.k < side && there.j >= 0 && there.j < side && there.i >= 0 && there.i < side;
          if (inside) insert(here, there, -1);
        }
      }
  assemble(A);
  return A;
}

bool is_ours(Mat A) {
  PetscBool ours;
  PETSC_OK(
      PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &ours, MATSEQAIJCOMPOUND, MATMPIAIJCOMPOUND, ""));
  return ours;
}

TEST(AijMultigrid, TakesAsManyIterationsAndMultipliesInBlocksOnAllLevels) {
  const auto A = grid(MATAIJCOMPOUND), B = grid(MATAIJ);
  Multigrid ours(A);
  const auto iterations = ours.solve(A), of_plain = Multigrid(B).solve(B);

  EXPECT_LE(std::abs(iterations - of_plain), 1);

  PC pc;
  PetscInt levels;
  PETSC_OK(KSPGetPC(ours.ksp, &pc));
  PETSC_OK(PCMGGetLevels(pc, &levels));
  ASSERT_GT(levels, 1);
  for (PetscInt level = 1; level < levels; ++level) {
    Mat P, operators;
    KSP smoother;
    PETSC_OK(PCMGGetInterpolation(pc, level, &P));
    PETSC_OK(PCMGGetSmoother(pc, level, &smoother));
    PETSC_OK(KSPGetOperators(smoother, &operators, nullptr));
    EXPECT_TRUE(is_ours(P));
    EXPECT_TRUE(is_ours(operators));
    PetscInt rows, cols;
    PETSC_OK(MatGetBlockSizes(P, &rows, &cols));
    EXPECT_EQ(rows, 3);
    EXPECT_EQ(cols, 3);
    EXPECT_GT(counted(P), 0) << level;
    EXPECT_GT(counted(operators), 0) << level;
  }
}

TEST(AijMultigrid, NewValuesPackNoPatternAnew) {
  const auto A = grid(MATAIJCOMPOUND);
  Multigrid ours(A, "-solver_pc_gamg_reuse_interpolation true");
  const auto iterations = ours.solve(A);
  const auto packs = info_of(A).pattern_packs;

  for (int n = 0; n < 3; ++n) {
    PETSC_OK(MatScale(A, 2.0));
    PETSC_OK(KSPSetOperators(ours.ksp, A, A));
    EXPECT_LE(std::abs(ours.solve(A) - iterations), 1);
  }

  EXPECT_EQ(info_of(A).pattern_packs, packs);
}

TEST(AijMultigrid, OfBlocksNamesTheTypeThatHasIt) {
  const auto A = spd(MATBAIJCOMPOUND, 3);
  Solved solved;
  const auto found = catch_error([&] { return try_to_solve(A, A, "-solver_pc_type gamg", &solved); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("-mat_type aijcompound"), std::string::npos) << found.message;
}

}  // namespace
