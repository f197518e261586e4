// Preconditioner pbjacobicompound: the same as PETSc's pbjacobi, on matrices of any type that inverts its blocks.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "device_tests.hpp"
#include "info.hpp"
#include "systems.hpp"

namespace {

using namespace petsc_test;
using Preconditioner = Handle<PC, PCDestroy>;

Preconditioner made(const char* type, Mat A) {
  Preconditioner pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetOperators(pc, A, A));
  PETSC_OK(PCSetType(pc, type));
  PETSC_OK(PCSetUp(pc));
  return pc;
}

Vector applied(PC pc, Mat A, bool transposed = false) {
  const auto x = left_vector(A, 3);
  auto y = right_vector(A, 4);
  PETSC_OK(transposed ? PCApplyTranspose(pc, x, y) : PCApply(pc, x, y));
  return y;
}

/// The difference, relative to the second.
double distance(Vec a, Vec b) {
  Vector d;
  PetscReal size, norm;
  PETSC_OK(VecDuplicate(b, d.out()));
  PETSC_OK(VecCopy(b, d));
  PETSC_OK(VecAXPY(d, -1.0, a));
  PETSC_OK(VecNorm(d, NORM_INFINITY, &norm));
  PETSC_OK(VecNorm(b, NORM_INFINITY, &size));
  return norm / size;
}

void expect_same_preconditioner(Mat A) {
  const auto ours = made(PCPBJACOBICOMPOUND, A), theirs = made(PCPBJACOBI, A);
  for (const bool transposed : {false, true})
    EXPECT_LE(distance(applied(ours, A, transposed), applied(theirs, A, transposed)), 1e-13) << transposed;
}

/// Blocks that are far from symmetric, so that transposes show.
Matrix unsymmetric(const std::string& type, int bs) {
  const auto shape = spread(bs, 9, 9);
  Problem problem{shape, {}, 5};
  for (int i = 0; i < 9; ++i) problem.blocks.push_back({i, i});
  auto A = filled_matrix(type, "", problem);
  PETSC_OK(MatShift(A, 1.5 + bs));
  return A;
}

struct PointBlocks : testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(BlockSizes, PointBlocks, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11));

TEST_P(PointBlocks, AreThoseOfPetsc) {
  for (const std::string& type : {tested_type(), std::string(MATBAIJ), std::string(MATAIJ)}) {
    SCOPED_TRACE(type);
    expect_same_preconditioner(spd(type, GetParam()));
    expect_same_preconditioner(unsymmetric(type, GetParam()));
  }
}

TEST_P(PointBlocks, TakeAsManyIterationsAsPetscs) {
  const auto A = spd(tested_type(), GetParam());
  for (const char* solver : {"cg", "bcgs", "gmres", "bicg"}) {
    const auto options = std::string("-solver_ksp_type ") + solver + " -solver_pc_type ";
    const auto ours = solve(A, options + PCPBJACOBICOMPOUND), theirs = solve(A, options + PCPBJACOBI);

    EXPECT_EQ(ours.iterations, theirs.iterations) << solver;
    EXPECT_LE(ours.residual, 1e-8) << solver;
  }
}

TEST_P(PointBlocks, FollowChangedValues) {
  const auto A = unsymmetric(tested_type(), GetParam());
  const auto pc = made(PCPBJACOBICOMPOUND, A);
  const auto before = applied(pc, A);
  PETSC_OK(MatScale(A, 4.0));

  PETSC_OK(PCSetUp(pc));

  const auto after = applied(pc, A);
  PETSC_OK(VecScale(after, 4.0));
  EXPECT_LE(distance(after, before), 1e-14);
}

TEST(PointBlock, FailsOnAMissingBlock) {
  const auto shape = spread(2, 4, 4);
  const auto A = filled_matrix(tested_type(), "", {shape, {{0, 0}, {1, 1}, {2, 1}, {3, 0}, {3, 3}}, 8});
  Preconditioner pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetOperators(pc, A, A));
  PETSC_OK(PCSetType(pc, PCPBJACOBICOMPOUND));
  PETSC_OK(PCSetErrorIfFailure(pc, PETSC_TRUE));

  const auto found = catch_error([&] { return PCSetUp(pc); });

  const bool mine = shape.owns_row(2);
  EXPECT_EQ(found.code != 0, mine);
  if (mine) {
    EXPECT_NE(found.message.find("block row 2"), std::string::npos) << found.message;
  }
}

TEST(PointBlock, StaysAsItWasWhereReuseIsAskedFor) {
  const auto A = unsymmetric(tested_type(), 3);
  const auto pc = made(PCPBJACOBICOMPOUND, A);
  const auto before = applied(pc, A);
  PETSC_OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PETSC_OK(MatScale(A, 4.0));

  PETSC_OK(PCSetUp(pc));

  EXPECT_TRUE(same_bits(applied(pc, A), before));
}

TEST(PointBlock, FailsOnASingularBlockAsPetscs) {
  for (const char* type : {PCPBJACOBI, PCPBJACOBICOMPOUND}) {
    const auto A = unsymmetric(tested_type(), 2);
    if (rank() == 0)
      for (PetscInt i = 0; i < 2; ++i)
        for (PetscInt j = 0; j < 2; ++j) PETSC_OK(MatSetValue(A, 2 + i, 2 + j, 0.0, INSERT_VALUES));
    assemble(A);
    Solver ksp;
    KSPConvergedReason reason;
    const auto b = left_vector(A, 6), x = right_vector(A, 7);
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    PC pc;
    PETSC_OK(KSPGetPC(ksp, &pc));
    PETSC_OK(PCSetType(pc, type));

    PETSC_OK(KSPSolve(ksp, b, x));

    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << type;
  }
}

TEST(PointBlock, RefusesMatricesThatDoNotInvertTheirBlocks) {
  Matrix A;
  Preconditioner pc;
  PETSC_OK(MatCreateConstantDiagonal(PETSC_COMM_WORLD, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE, 2.0, A.out()));
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PETSC_OK(PCSetOperators(pc, A, A));
  PETSC_OK(PCSetType(pc, PCPBJACOBICOMPOUND));

  const auto found = catch_error([&] { return PCSetUp(pc); });

  EXPECT_EQ(found.code, PETSC_ERR_SUP);
  EXPECT_NE(found.message.find("use -mat_type baijcompound"), std::string::npos) << found.message;
}

std::string view_of(PC pc) {
  const auto name = "pc_view_" + std::to_string(size()) + ".txt";
  Viewer viewer;
  PETSC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name.c_str(), viewer.out()));
  PETSC_OK(PCView(pc, viewer));
  viewer.reset();
  std::ifstream file(name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(name.c_str());
  return text;
}

TEST(PointBlock, IsViewedWithBlockSizeAndPlan) {
  const auto A = spd(tested_type(), 3);

  const auto text = view_of(made(PCPBJACOBICOMPOUND, A));

  EXPECT_NE(text.find("type: pbjacobicompound"), std::string::npos) << text;
  EXPECT_NE(text.find("point-block size 3"), std::string::npos) << text;
  EXPECT_NE(text.find("inverses on backend host, plan entry=dense"), std::string::npos) << text;
}

struct DevicePointBlocks : PointBlocks {
  void SetUp() override { SKIP_WITHOUT_DEVICE(); }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, DevicePointBlocks, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11));

TEST_P(DevicePointBlocks, AreThoseOfPetsc) {
  const auto A = unsymmetric(tested_type(), GetParam());
  const auto theirs = made(PCPBJACOBI, A);
  const auto wanted = applied(theirs, A), wanted_transposed = applied(theirs, A, true);
  PETSC_OK(MatSetVecType(A, "cuda"));

  const auto ours = made(PCPBJACOBICOMPOUND, A);

  const auto found = applied(ours, A), found_transposed = applied(ours, A, true);
  EXPECT_LE(distance(found, wanted), 1e-12);
  EXPECT_LE(distance(found_transposed, wanted_transposed), 1e-12);
}

/// PETSc's own, from the matrix of diagonal blocks that a compound matrix gives it there.
TEST_P(DevicePointBlocks, OfPetscsOwnAreThoseOfTheHost) {
  const auto A = unsymmetric(tested_type(), GetParam()), plain = unsymmetric(MATBAIJ, GetParam());
  const auto theirs = made(PCPBJACOBI, plain);
  PETSC_OK(MatSetVecType(A, "cuda"));

  const auto found = made(PCPBJACOBI, A);

  for (const bool transposed : {false, true})
    EXPECT_LE(distance(applied(found, A, transposed), applied(theirs, plain, transposed)), 1e-12) << transposed;
}

TEST_P(DevicePointBlocks, AreViewedWithTheirBackend) {
  const auto A = unsymmetric(tested_type(), GetParam());
  PETSC_OK(MatSetVecType(A, "cuda"));

  const auto text = view_of(made(PCPBJACOBICOMPOUND, A));

  const auto backend = std::string("inverses on backend ") + (tested_is_compound() ? "cuda" : "host");
  EXPECT_NE(text.find(backend), std::string::npos) << text;
}

/// COMPOUND_CUDA_FAIL_ALLOCATION=n makes the n-th allocation on the device from now on fail.
TEST_P(DevicePointBlocks, AreInvertedOnTheHostWhereverMemoryRunsOut) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto plain = unsymmetric(MATBAIJ, GetParam());
  const auto wanted = applied(made(PCPBJACOBI, plain), plain);
  bool failed = true, on_host = false;
  int n = 0;
  while (failed && ++n < 200) {
    SCOPED_TRACE("allocation " + std::to_string(n) + " fails");
    const auto A = unsymmetric(tested_type(), GetParam());
    PETSC_OK(MatSetVecType(A, "cuda"));
    Preconditioner pc;
    setenv("COMPOUND_CUDA_FAIL_ALLOCATION", std::to_string(n).c_str(), 1);
    const auto text = own_info_during("pc_pbjacobi_test", [&] { pc = made(PCPBJACOBICOMPOUND, A); });
    unsetenv("COMPOUND_CUDA_FAIL_ALLOCATION");
    EXPECT_LE(distance(applied(pc, plain), wanted), 1e-12);
    failed = !all_ranks(text.find("no memory left") == std::string::npos);
    on_host = on_host || !all_ranks(text.find("no memory left for inverses") == std::string::npos);
  }
  EXPECT_FALSE(failed) << "there is no end of failures";
  EXPECT_TRUE(on_host) << "no allocation of the inverses failed";
  EXPECT_GT(n, 3) << "no allocation failed: does the backend read COMPOUND_CUDA_FAIL_ALLOCATION?";
}

}  // namespace
