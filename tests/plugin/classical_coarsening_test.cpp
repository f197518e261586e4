// PCGAMG's classical coarsening of matrices above AIJ: the direct prolongation asks for an AIJ of exactly that name,
// the standard one takes ours.
#include <algorithm>
#include <string_view>

#include "compare.hpp"
#include "info.hpp"

namespace {

using namespace petsc_test;

/// Five points on a square of nodes, one unknown each.
Matrix square(const std::string& type) {
  const PetscInt side = 24;
  Matrix A;
  PetscInt first, last;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, side * side, side * side));
  PETSC_OK(MatSetType(A, type.c_str()));
  PETSC_OK(MatSeqAIJSetPreallocation(A, 5, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 5, nullptr, 5, nullptr));
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / side, j = row % side;
    const auto insert = [&](PetscInt to_i, PetscInt to_j, double v) {
      if (std::min(to_i, to_j) >= 0 && std::max(to_i, to_j) < side)
        PETSC_OK(MatSetValue(A, row, to_i * side + to_j, v, INSERT_VALUES));
    };
    insert(i, j, 4);
    for (const PetscInt d : {-1, 1}) {
      insert(i + d, j, -1);
      insert(i, j + d, -1);
    }
  }
  assemble(A);
  return A;
}

bool is_ours(Mat A) {
  MatType type;
  PETSC_OK(MatGetType(A, &type));
  return std::string_view(type).ends_with("aijcompound");
}

struct Multigrid {
  Mat A;
  Solver ksp;
  PC pc;

  Multigrid(Mat of, PCGAMGClassicalType prolongation) : A(of) {
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    PETSC_OK(KSPSetType(ksp, KSPCG));
    PETSC_OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PETSC_OK(KSPGetPC(ksp, &pc));
    PETSC_OK(PCSetType(pc, PCGAMG));
    PETSC_OK(PCGAMGSetCoarseEqLim(pc, 10));
    coarsen_classically(prolongation);
  }
  void coarsen_classically(PCGAMGClassicalType prolongation) {
    PETSC_OK(PCGAMGSetType(pc, PCGAMGCLASSICAL));
    PETSC_OK(PCGAMGClassicalSetType(pc, prolongation));
  }
  void reset() {
    PETSC_OK(KSPReset(ksp));
    PETSC_OK(KSPSetOperators(ksp, A, A));
  }
  PetscInt solve() {
    const auto x = right_vector(A, 31), b = left_vector(A, 32);
    PetscInt iterations;
    KSPConvergedReason reason;
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    PetscReal norm, of_b;
    Vector r;
    PETSC_OK(VecDuplicate(b, r.out()));
    PETSC_OK(MatMult(A, x, r));
    PETSC_OK(VecAXPY(r, -1.0, b));
    PETSC_OK(VecNorm(r, NORM_2, &norm));
    PETSC_OK(VecNorm(b, NORM_2, &of_b));
    EXPECT_LE(norm, 1e-6 * of_b);
    return iterations;
  }
  PetscInt levels() {
    PetscInt n;
    PETSC_OK(PCMGGetLevels(pc, &n));
    return n;
  }
};

struct ClassicalCoarsening : testing::TestWithParam<PCGAMGClassicalType> {
  const Matrix A = square(MATAIJCOMPOUND), B = square(MATAIJ);
  Multigrid ours{A, GetParam()}, plain{B, GetParam()};

  void expect_same_solve() {
    EXPECT_LE(std::abs(ours.solve() - plain.solve()), 1);
    EXPECT_TRUE(is_ours(A));
  }
};

TEST_P(ClassicalCoarsening, TakesAsManyIterationsOnAsManyLevels) {
  expect_same_solve();

  EXPECT_EQ(ours.levels(), plain.levels());
  EXPECT_GT(ours.levels(), 2);
  EXPECT_TRUE(same_products(A, B, 41));
}

TEST_P(ClassicalCoarsening, TakesNewValuesWithAndWithoutNewProlongations) {
  for (const PetscBool reuse : {PETSC_FALSE, PETSC_TRUE}) {
    for (Multigrid* m : {&ours, &plain}) PETSC_OK(PCGAMGSetReuseInterpolation(m->pc, reuse));
    for (int n = 0; n < 2; ++n) {
      for (Multigrid* m : {&ours, &plain}) PETSC_OK(MatScale(m->A, 2.0));
      expect_same_solve();
    }
  }
}

TEST_P(ClassicalCoarsening, IsSetUpAnewAfterResets) {
  for (int n = 0; n < 2; ++n) {
    expect_same_solve();
    for (Multigrid* m : {&ours, &plain}) m->reset();
  }
}

TEST_P(ClassicalCoarsening, LeavesAggregationAsItIs) {
  Mat P;
  expect_same_solve();
  for (Multigrid* m : {&ours, &plain}) {
    m->reset();
    PETSC_OK(PCSetType(m->pc, PCJACOBI));
    PETSC_OK(PCSetType(m->pc, PCGAMG));
    PETSC_OK(PCGAMGSetCoarseEqLim(m->pc, 10));
  }

  expect_same_solve();

  PETSC_OK(PCMGGetInterpolation(ours.pc, 1, &P));
  EXPECT_TRUE(is_ours(P));
}

TEST_P(ClassicalCoarsening, LeavesPackedCopies) {
  PETSC_OK(MatSetType(A, MATAIJCOMPOUNDSELL));
  EXPECT_TRUE(same_products(A, B, 42));
  const auto before = info_of(A);

  expect_same_solve();

  EXPECT_EQ(info_of(A).pattern_packs, before.pattern_packs);
  EXPECT_GT(info_of(A).products, before.products);
}

/// Smoothers are set up while the matrix is its parent.
TEST_P(ClassicalCoarsening, ComesBackFromErrors) {
  PETSC_OK(PetscOptionsInsertString(nullptr,
                                    "-solver_mg_levels_pc_type lu "
                                    "-solver_mg_levels_pc_factor_mat_solver_type nobodys"));

  const auto found = catch_error([&] { return KSPSetUp(ours.ksp); });

  for (const char* name : {"-solver_mg_levels_pc_type", "-solver_mg_levels_pc_factor_mat_solver_type"})
    PETSC_OK(PetscOptionsClearValue(nullptr, name));
  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("nobodys"), std::string::npos) << found.message;
  EXPECT_TRUE(is_ours(A));
  EXPECT_TRUE(same_products(A, B, 43));
}

INSTANTIATE_TEST_SUITE_P(Prolongations, ClassicalCoarsening,
                         testing::Values(PCGAMGCLASSICALDIRECT, PCGAMGCLASSICALSTANDARD),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
