// Preconditioner pbjacobi, and its other name pbjacobicompound: on our matrices ours, where the vectors are, with the
// answers of PETSc's on baij; on other matrices PETSc's own.
#include "allocated.hpp"
#include "device.hpp"
#include "device_tests.hpp"
#include "info.hpp"
#include "log_events.hpp"
#include "systems.hpp"
#include "view_text.hpp"

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

constexpr const char* names[] = {PCPBJACOBI, PCPBJACOBICOMPOUND};

/// `plain` is the same matrix of a type that has PETSc's own.
void expect_same_preconditioner(Mat A, Mat plain) {
  const auto theirs = made(PCPBJACOBI, plain);
  for (const char* name : names) {
    const auto ours = made(name, A);
    for (const bool transposed : {false, true})
      EXPECT_LE(distance(applied(ours, A, transposed), applied(theirs, A, transposed)), 1e-13) << name << transposed;
  }
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
    expect_same_preconditioner(spd(type, GetParam()), spd(MATBAIJ, GetParam()));
    expect_same_preconditioner(unsymmetric(type, GetParam()), unsymmetric(MATBAIJ, GetParam()));
  }
}

TEST_P(PointBlocks, TakeAsManyIterationsAsPetscs) {
  // Not baij: with complex scalars bicg needs Hermitian transposes, which seqbaij has for blocks up to 5.
  const auto A = spd(tested_type(), GetParam()), plain = spd(MATAIJ, GetParam());
  for (const char* solver : {"cg", "bcgs", "gmres", "bicg"}) {
    const auto options = std::string("-solver_pc_type pbjacobi -solver_ksp_type ") + solver;
    const auto ours = solve(A, options), theirs = solve(plain, options);

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

/// On the first process alone; PETSc tells the others' solvers of it in its loops. Twice: a failure is noted in set-up.
TEST(PointBlock, FailsOnASingularBlockAsPetscs) {
  for (const char* solver : {KSPGMRES, KSPCGCOMPOUND, KSPBCGSCOMPOUND})
    for (const char* type : {PCPBJACOBI, PCPBJACOBICOMPOUND, PCBJACOBI}) {
      const auto A = unsymmetric(tested_type(), 2);
      const PetscInt rows[] = {2, 3};
      PETSC_OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
      PETSC_OK(MatZeroRows(A, rank() == 0 ? 2 : 0, rows, 0.0, nullptr, nullptr));
      KSPConvergedReason reason;
      const auto ksp = solver_for(A, solver, type);
      const auto b = left_vector(A, 6), x = right_vector(A, 7);
      for (const char* time : {"at first", "again"}) {
        PETSC_OK(KSPSolve(ksp, b, x));
        PETSC_OK(KSPGetConvergedReason(ksp, &reason));
        EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << solver << " " << type << " " << time;
      }
    }
}

/// PETSc sets up the preconditioner within its first application then, and does not ask why it failed.
TEST(PointBlock, LetsNothingConvergeWhereABlockHasBecomeSingular) {
  for (const char* solver : {KSPGMRES, KSPCGCOMPOUND, KSPBCGSCOMPOUND}) {
    const auto A = unsymmetric(tested_type(), 2);
    const PetscInt rows[] = {2, 3};
    KSPConvergedReason reason;
    const auto ksp = solver_for(A, solver, PCPBJACOBI);
    const auto b = left_vector(A, 6), x = right_vector(A, 7);
    PETSC_OK(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    PETSC_OK(KSPSetUp(ksp));
    PETSC_OK(MatZeroRows(A, rank() == 0 ? 2 : 0, rows, 0.0, nullptr, nullptr));

    PETSC_OK(KSPSolve(ksp, b, x));

    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_LT(reason, 0) << solver;
  }
}

/// The matrix decides at each set-up, to and fro.
TEST(PointBlock, FollowsTheTypeOfTheMatrix) {
  const auto plain = unsymmetric(MATBAIJ, 3), tested = unsymmetric(tested_type(), 3), aij = unsymmetric(MATAIJ, 3);
  const auto wanted = applied(made(PCPBJACOBI, plain), plain);
  for (const char* name : names) {
    const auto pc = made(name, plain);
    for (Mat A : {Mat(tested), Mat(plain), Mat(aij), Mat(tested), Mat(plain)}) {
      MatType type;
      PETSC_OK(MatGetType(A, &type));
      PETSC_OK(PCReset(pc));
      PETSC_OK(PCSetOperators(pc, A, A));
      PETSC_OK(PCSetUp(pc));
      const bool ours = std::string(type).find("compound") != std::string::npos;

      EXPECT_LE(distance(applied(pc, plain), wanted), 1e-13) << name << " " << type;

      EXPECT_EQ(view_of("pc_pbjacobi_test", pc).find("inverses on backend") != std::string::npos, ours)
          << name << " " << type;
    }
    PETSC_OK(PCSetType(pc, PCJACOBI));
    PETSC_OK(PCSetType(pc, name));
    EXPECT_LE(distance(applied(pc, plain), wanted), 1e-13) << name;
  }
}

TEST(PointBlock, OfOneNameIsOursInsideOtherPreconditioners) {
  const auto A = spd(tested_type(), 3), plain = spd(MATBAIJ, 3);
  for (const char* options : {"-solver_pc_type bjacobi -solver_sub_pc_type pbjacobi",
                              "-solver_pc_type ksp -solver_ksp_pc_type pbjacobi -solver_ksp_ksp_max_it 2",
                              "-solver_pc_type composite -solver_pc_composite_pcs pbjacobi,jacobi"})
    EXPECT_EQ(solve(A, options).iterations, solve(plain, options).iterations) << options;
}

TEST(PointBlock, IsViewedWithBlockSizeAndPlan) {
  const auto A = spd(tested_type(), 3);

  for (const std::string name : names) {
    const auto text = view_of("pc_pbjacobi_test", made(name.c_str(), A));

    EXPECT_NE(text.find("type: " + name + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("point-block size 3"), std::string::npos) << text;
    EXPECT_EQ(text.find("inverses on backend host, plan entry=dense") != std::string::npos, tested_is_compound())
        << text;
  }
}

TEST(PointBlock, HasNoInversesAfterAReset) {
  const auto A = spd(MATBAIJCOMPOUND, 3);
  const auto pc = made(PCPBJACOBI, A);
  ASSERT_NE(view_of("pc_pbjacobi_test", pc).find("inverses on"), std::string::npos);

  PETSC_OK(PCReset(pc));

  EXPECT_EQ(view_of("pc_pbjacobi_test", pc).find("inverses on"), std::string::npos);
}

/// Neither ours nor what PETSc's own had made before it was ours.
TEST(PointBlock, LeavesNothingBehind) {
  if (!has_count) GTEST_SKIP() << "skipped: the sanitizer's allocator keeps no count, and finds leaks itself";
  constexpr int many = 1000;
  const auto A = spd(tested_type(), 2);
  for (const char* name : names) {
    for (int i = 0; i < many / 10; ++i) made(name, A);
    const auto before = allocated();
    for (int i = 0; i < many; ++i) made(name, A);
    EXPECT_TRUE(all_ranks(allocated() - before < 10 * many)) << name << ": " << allocated() - before << " bytes";
  }
}

TEST(PointBlock, TellsTheFlopsOfItsInverses) {
  const auto A = spd(MATBAIJCOMPOUND, 3);
  PetscInt rows;
  PETSC_OK(MatGetLocalSize(A, &rows, nullptr));

  const auto flops = flops_during([&] { made(PCPBJACOBI, A); });

  EXPECT_EQ(flops, flops_of_operation * 2 * rows * 3 * 3);
}

struct DevicePointBlocks : PointBlocks {
  void SetUp() override { SKIP_WITHOUT_DEVICE(); }
};
INSTANTIATE_TEST_SUITE_P(BlockSizes, DevicePointBlocks, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11));

/// PETSc's on the host, and ours with vectors of either kind, whatever was expected when it was set up: applied there,
/// and from the second application on without a copy.
TEST_P(DevicePointBlocks, AreAppliedWhereTheVectorsAre) {
  const auto plain = unsymmetric(MATBAIJ, GetParam());
  const auto theirs = made(PCPBJACOBI, plain);
  PETSC_OK(PetscLogDefaultBegin());
  for (const char* name : names)
    for (const bool expects_device : {false, true})
      for (const bool device : {false, true, false}) {
        SCOPED_TRACE(std::string(name) + (expects_device ? " made on the device" : "") + (device ? " cuda" : ""));
        const auto A = unsymmetric(tested_type(), GetParam());
        if (expects_device) PETSC_OK(MatSetVecType(A, "cuda"));
        const auto ours = made(name, A);
        for (const bool transposed : {false, true}) {
          const auto x = on_side(left_vector(plain, 3), device), y = on_side(right_vector(plain, 4), device);
          const auto apply = transposed ? PCApplyTranspose : PCApply;
          PETSC_OK(apply(ours, x, y));
          [[maybe_unused]] const auto before = event("PCApply");
          PETSC_OK(apply(ours, x, y));
          [[maybe_unused]] const auto after = event("PCApply");
          EXPECT_LE(distance(on_side(y, false), applied(theirs, plain, transposed)), 1e-12);
#if PetscDefined(HAVE_DEVICE)
          if (!tested_is_compound()) continue;
          EXPECT_TRUE(all_ranks((after.GpuFlops > before.GpuFlops) == (device && after.flops > before.flops)));
          EXPECT_TRUE(all_ranks(after.CpuToGpuCount == before.CpuToGpuCount));
          EXPECT_TRUE(all_ranks(after.GpuToCpuCount == before.GpuToCpuCount));
#endif
        }
      }
}

/// A matrix with an options prefix cannot know of vectors that the program made by VecSetType().
TEST_P(DevicePointBlocks, StayOnTheDeviceInASolveWithAPrefix) {
#if PetscDefined(HAVE_DEVICE)
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  PETSC_OK(PetscLogDefaultBegin());
  const auto A = spd(tested_type(), GetParam());
  PETSC_OK(MatSetOptionsPrefix(A, "fluid_"));
  const auto b = on_side(left_vector(A, 5), true), x = on_side(right_vector(A, 6), true);
  Solver ksp;
  PC pc;
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOptionsPrefix(ksp, "fluid_"));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPSetType(ksp, KSPCG));
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(PCSetType(pc, PCPBJACOBI));
  PETSC_OK(KSPSolve(ksp, b, x));
  const auto before = event("PCApply");
  PETSC_OK(KSPSolve(ksp, b, x));
  const auto after = event("PCApply");
  EXPECT_TRUE(all_ranks(after.count > before.count));
  EXPECT_TRUE(all_ranks(after.GpuFlops - before.GpuFlops == after.flops - before.flops));
  EXPECT_TRUE(all_ranks(after.CpuToGpuCount == before.CpuToGpuCount));
  EXPECT_TRUE(all_ranks(after.GpuToCpuCount == before.GpuToCpuCount));
#endif
}

TEST_P(DevicePointBlocks, AreViewedWithTheirBackend) {
  const auto A = unsymmetric(tested_type(), GetParam());
  PETSC_OK(MatSetVecType(A, "cuda"));

  const auto text = view_of("pc_pbjacobi_test", made(PCPBJACOBICOMPOUND, A));

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
    const auto text = own_info_during("pc_pbjacobi_test", [&] {
      const auto fails = failing_allocation(n);
      pc = made(PCPBJACOBICOMPOUND, A);
    });
    EXPECT_LE(distance(applied(pc, plain), wanted), 1e-12);
    failed = !all_ranks(text.find("no memory left") == std::string::npos);
    on_host = on_host || !all_ranks(text.find("no memory left for inverses") == std::string::npos);
  }
  EXPECT_FALSE(failed) << "there is no end of failures";
  EXPECT_TRUE(on_host) << "no allocation of the inverses failed";
  EXPECT_GT(n, 3) << "no allocation failed: does the backend read COMPOUND_CUDA_FAIL_ALLOCATION?";
}

}  // namespace
