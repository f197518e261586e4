// Multigrid's cycles on a device, beside PETSc's own on the same hierarchy.
#include <cmath>
#include <limits>

#include "info.hpp"
#include "log_events.hpp"
#include "multigrid_systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

#if PetscDefined(HAVE_CUDA)

/// M b, for a right-hand side that is scaled.
Vector applied(const Solve& solve, Mat A, PetscScalar scale = 1, std::uint64_t seed = 41) {
  const auto b = on_side(left_vector(A, seed), true);
  auto x = on_side(right_vector(A, 42), true);
  PETSC_OK(VecScale(b, scale));
  PETSC_OK(PCApply(solve.preconditioner(), b, x));
  return x;
}

/// |x - y| / |y|.
PetscReal distance(Vec x, Vec y) {
  const auto difference = on_side(x, true);
  PetscReal size, error;
  PETSC_OK(VecNorm(y, NORM_INFINITY, &size));
  PETSC_OK(VecScale(difference, 1 / size));  // before a difference, which could be beyond all numbers
  PETSC_OK(VecAXPY(difference, -1 / size, y));
  PETSC_OK(VecNorm(difference, NORM_INFINITY, &error));
  return error;
}

std::string cycle_in_view(const Solve& solve) {
  const auto text = view_of("multigrid_cycle_test", solve.ksp);
  const auto at = text.find("Compound cycle:");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}

/// Several processes cycle by PETSc where their devices do not exchange.
bool cycles_on_devices() {
  static const bool yes = [] {
    if (size() == 1) return true;
    const auto small = box(MATAIJCOMPOUND, 5, VECCUDA);
    PETSC_OK(MatMult(small.A, on_side(right_vector(small.A, 1), true), on_side(left_vector(small.A, 2), true)));
    return view_of("multigrid_cycle_test", small.A).find("compound exchange: by devices") != std::string::npos;
  }();
  return yes;
}
constexpr const char* why_skipped = "skipped: the processes' devices do not exchange values themselves";

struct CycleCase {
  const char *name, *options;
  const char* why_not = "";  ///< empty: on the device
  PetscInt unknowns = 3;
};

constexpr CycleCase cases[] = {
    {"by_default", ""},
    {"no_step", "-solver_mg_levels_ksp_max_it 0"},
    {"one_step", "-solver_mg_levels_ksp_max_it 1"},
    {"three_steps", "-solver_mg_levels_ksp_max_it 3"},
    {"four_steps", "-solver_mg_levels_ksp_max_it 4"},
    {"fourth_kind", "-solver_mg_levels_ksp_chebyshev_kind fourth -solver_mg_levels_ksp_max_it 4"},
    {"optimised_fourth_kind", "-solver_mg_levels_ksp_chebyshev_kind opt_fourth"},
    {"optimised_fourth_kind_of_one", "-solver_mg_levels_ksp_chebyshev_kind opt_fourth -solver_mg_levels_ksp_max_it 1"},
    {"optimised_fourth_kind_of_three", "-solver_mg_levels_ksp_chebyshev_kind opt_fourth -solver_mg_levels_ksp_max_it 3",
     "more than two steps"},
    {"bounds_given", "-solver_mg_levels_ksp_chebyshev_eigenvalues 0.2,2.2"},
    {"richardson", "-solver_mg_levels_ksp_type richardson -solver_mg_levels_ksp_richardson_scale 0.6"},
    {"richardson_that_scales_itself",
     "-solver_mg_levels_ksp_type richardson -solver_mg_levels_ksp_richardson_self_scale", "self_scale"},
    {"point_blocks", "-solver_mg_levels_pc_type pbjacobi"},
    {"point_blocks_four_steps", "-solver_mg_levels_pc_type pbjacobi -solver_mg_levels_ksp_max_it 4"},
    {"no_preconditioner", "-solver_mg_levels_pc_type none"},
    {"jacobi_by_rows", "-solver_mg_levels_pc_jacobi_type rowmax"},
    {"sor", "-solver_mg_levels_pc_type sor", "preconditioner sor"},
    {"gmres", "-solver_mg_levels_ksp_type gmres", "type gmres"},
    {"norms", "-solver_mg_levels_ksp_norm_type unpreconditioned", "makes norms"},
    {"w_cycle", "-solver_pc_mg_cycle_type w"},
    {"two_cycles", "-solver_pc_mg_multiplicative_cycles 2"},
    {"smoothers_apart", "-solver_pc_mg_distinct_smoothup -solver_mg_levels_up_ksp_max_it 3"},
    {"smoother_down_alone", "-solver_pc_mg_distinct_smoothup -solver_mg_levels_up_ksp_max_it 0"},
    {"smoother_up_alone_w",
     "-solver_pc_mg_distinct_smoothup -solver_mg_levels_ksp_max_it 0 -solver_pc_mg_cycle_type w"},
    {"two_levels", "-solver_pc_gamg_coarse_eq_limit 400"},
    {"one_level", "-solver_pc_type mg -solver_pc_mg_levels 1", "one level"},
    {"additive", "-solver_pc_mg_type additive", "not multiplicative"},
    {"full", "-solver_pc_mg_type full", "not multiplicative"},
    {"coarsest_by_jacobi", "-solver_mg_coarse_pc_type jacobi"},
    {"coarsest_by_svd", "-solver_mg_coarse_pc_type svd"},
    {"coarsest_by_cg", "-solver_mg_coarse_ksp_type cg -solver_mg_coarse_ksp_max_it 4"},
    {"coarsest_by_cg_w", "-solver_mg_coarse_ksp_type cg -solver_mg_coarse_ksp_max_it 4 -solver_pc_mg_cycle_type w"},
    {"not_wanted", "-solver_pc_mg_compound_cycle false", "-pc_mg_compound_cycle false"},
    {"of_1", "", "", 1},
    {"of_2", "", "", 2},
    {"of_4", "", "", 4},
    {"of_6", "-solver_mg_levels_pc_type pbjacobi", "", 6}};

struct Cycle : DeviceTest, testing::WithParamInterface<CycleCase> {};

/// Small ones, whose levels are not large enough for products of matrices on the device, too.
TEST_P(Cycle, IsPetscsOrTellsWhyNot) {
  if (!cycles_on_devices()) GTEST_SKIP() << why_skipped;
  const CycleCase& c = GetParam();
  const std::string why_not = c.why_not;
  for (const PetscInt side : {8, 15}) {
    const auto ours = box(MATAIJCOMPOUND, side, VECCUDA, c.unknowns);
    const Solve solve(ours.A, gamg + c.options);
    PETSC_OK(KSPSetUp(solve.ksp));
    PETSC_OK(PetscOptionsInsertString(nullptr, "-solver_pc_mg_compound_cycle false"));
    const Solve plain(ours.A, gamg + c.options);
    PETSC_OK(KSPSetUp(plain.ksp));

    const auto x = applied(solve, ours.A), y = applied(plain, ours.A);
    const auto again = applied(solve, ours.A);

    EXPECT_LE(distance(x, y), 1e-12);
    EXPECT_EQ(values_of(x), values_of(again));
    const auto told = cycle_in_view(solve);
    EXPECT_NE(told.find(why_not.empty() ? "on the device" : why_not), std::string::npos) << told;
    PETSC_OK(PetscOptionsClear(nullptr));
  }
}

INSTANTIATE_TEST_SUITE_P(Options, Cycle, testing::ValuesIn(cases), [](const auto& p) { return p.param.name; });

struct CycleOnDevice : DeviceTest {
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !cycles_on_devices()) GTEST_SKIP() << why_skipped;
  }
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
};

TEST_F(CycleOnDevice, GivesTheSameBitsForVectorsAtAnyAddress) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(KSPSetUp(solve.ksp));
  const auto first = applied(solve, ours.A);
  std::vector<Vector> kept;
  for (int k = 0; k < 20; ++k) {
    kept.push_back(applied(solve, ours.A));
    ASSERT_EQ(values_of(kept.back()), values_of(first)) << k;
  }
}

/// Of vectors that begin off a whole access.
TEST_F(CycleOnDevice, TakesPartsOfVectors) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(KSPSetUp(solve.ksp));
  const auto expected = applied(solve, ours.A);
  const auto b = left_vector(ours.A, 41);
  PetscInt n;
  PETSC_OK(VecGetLocalSize(b, &n));
  Vector long_b, long_x;
  for (Vector* v : {&long_b, &long_x}) {
    PETSC_OK(VecCreate(PETSC_COMM_WORLD, v->out()));
    PETSC_OK(VecSetSizes(*v, n + 1, PETSC_DECIDE));
    PETSC_OK(VecSetType(*v, VECCUDA));
  }
  IS part;
  Vec b_part, x_part;
  PetscInt from;
  PETSC_OK(VecGetOwnershipRange(long_b, &from, nullptr));
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, n, from + 1, 1, &part));
  PETSC_OK(VecGetSubVector(long_b, part, &b_part));
  PETSC_OK(VecGetSubVector(long_x, part, &x_part));
  PETSC_OK(VecCopy(b, b_part));
  PETSC_OK(PCApply(solve.preconditioner(), b_part, x_part));
  EXPECT_LE(distance(x_part, expected), 1e-14);
  PETSC_OK(VecRestoreSubVector(long_b, part, &b_part));
  PETSC_OK(VecRestoreSubVector(long_x, part, &x_part));
  PETSC_OK(ISDestroy(&part));
}

TEST_F(CycleOnDevice, CopiesNothing) {
  constexpr int cycles = 8;
  const auto ours = box(MATAIJCOMPOUND, 14, VECCUDA);
  const Solve solve(ours.A, gamg +
                                "-solver_ksp_type chebyshev -solver_ksp_norm_type none "
                                "-solver_ksp_chebyshev_eigenvalues 0.1,1.1");
  const auto events_of = [&](PetscInt iterations) {
    PETSC_OK(KSPSetTolerances(solve.ksp, 1e-30, 1e-300, PETSC_DEFAULT, iterations));
    return added_to("KSPSolve", [&] { solve.run(ours.A, true); });
  };
  events_of(2);

  const auto few = events_of(2), many = events_of(2 + cycles);

  EXPECT_GT(many.GpuFlops, few.GpuFlops);
  EXPECT_EQ(many.CpuToGpuCount, few.CpuToGpuCount);
  EXPECT_EQ(many.GpuToCpuCount, few.GpuToCpuCount);
}

void expect_same_with_new_values(const Solve& solve, const Solve& other, Mat A, PetscReal most) {
  for (const PetscScalar factor : {1, 4, 3}) {
    PETSC_OK(MatScale(A, factor));
    for (const Solve* s : {&solve, &other}) {
      PETSC_OK(KSPSetOperators(s->ksp, A, A));
      PETSC_OK(KSPSetUp(s->ksp));
    }
    EXPECT_LE(distance(applied(solve, A), applied(other, A)), most);
  }
}

TEST_F(CycleOnDevice, FollowsNewValues) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(PetscOptionsInsertString(nullptr, "-solver_pc_mg_compound_cycle false"));
  const Solve plain(ours.A, gamg);
  expect_same_with_new_values(solve, plain, ours.A, 1e-12);
  EXPECT_NE(cycle_in_view(solve).find("on the device"), std::string::npos);
}

/// Without a set-up of the whole. PETSc's smoothers set themselves up.
TEST_F(CycleOnDevice, FollowsNewValuesOfItsLevels) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(PetscOptionsInsertString(nullptr, "-solver_pc_mg_compound_cycle false"));
  const Solve plain(ours.A, gamg);
  for (const Solve* s : {&solve, &plain}) PETSC_OK(KSPSetUp(s->ksp));
  applied(solve, ours.A);
  for (const PetscInt level : {1, 0}) {
    for (const Solve* s : {&solve, &plain}) {
      KSP smoother;
      Mat of_level;
      PETSC_OK(PCMGGetSmoother(s->preconditioner(), level, &smoother));
      PETSC_OK(KSPGetOperators(smoother, &of_level, nullptr));
      PETSC_OK(MatScale(of_level, 2));
    }
    EXPECT_LE(distance(applied(solve, ours.A), applied(plain, ours.A)), 1e-12) << "level " << level;
    EXPECT_NE(cycle_in_view(solve).find("on the device"), std::string::npos) << cycle_in_view(solve);
  }
}

/// `change` of the smoother of level 1 is seen, until the preconditioner is set up again.
void expect_seen(const std::string& smoother_options, const std::function<PetscErrorCode(KSP)>& change) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg + smoother_options);
  PETSC_OK(KSPSetUp(solve.ksp));
  const auto before = applied(solve, ours.A);
  EXPECT_NE(cycle_in_view(solve).find("on the device"), std::string::npos) << cycle_in_view(solve);
  KSP smoother;
  PETSC_OK(PCMGGetSmoother(solve.preconditioner(), 1, &smoother));
  PETSC_OK(change(smoother));

  const auto after = applied(solve, ours.A);

  EXPECT_GT(distance(after, before), 1e-6);
  EXPECT_NE(cycle_in_view(solve).find("changed"), std::string::npos) << cycle_in_view(solve);
  PETSC_OK(KSPReset(solve.ksp));
  PETSC_OK(KSPSetOperators(solve.ksp, ours.A, ours.A));
  PETSC_OK(KSPSetUp(solve.ksp));
  applied(solve, ours.A);
  EXPECT_NE(cycle_in_view(solve).find("on the device"), std::string::npos) << cycle_in_view(solve);
}

TEST_F(CycleOnDevice, LeavesOptionsThatChangeToPetsc) {
  expect_seen("", [](KSP ksp) { return KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3); });
  expect_seen("", [](KSP ksp) { return KSPChebyshevSetEigenvalues(ksp, 3, 0.5); });
  expect_seen("-solver_mg_levels_pc_type jacobi ", [](KSP ksp) -> PetscErrorCode {
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCNONE));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  expect_seen("-solver_mg_levels_ksp_type richardson -solver_mg_levels_ksp_richardson_scale 0.5 ",
              [](KSP ksp) { return KSPRichardsonSetScale(ksp, 0.25); });
}

TEST_F(CycleOnDevice, LeavesVectorsOfTheHostToPetsc) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(KSPSetUp(solve.ksp));
  const auto b = on_side(left_vector(ours.A, 41), false), x = on_side(right_vector(ours.A, 42), false);
  PETSC_OK(PCApply(solve.preconditioner(), b, x));
  EXPECT_LE(distance(x, applied(solve, ours.A)), 1e-12);
}

TEST_F(CycleOnDevice, IsLinearAndSymmetric) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  PETSC_OK(KSPSetUp(solve.ksp));
  const auto u = on_side(left_vector(ours.A, 41), true), v = on_side(left_vector(ours.A, 51), true);
  const auto of_u = applied(solve, ours.A), of_v = applied(solve, ours.A, 1, 51);
  PetscScalar uv, vu;
  PETSC_OK(VecTDot(u, of_v, &uv));
  PETSC_OK(VecTDot(v, of_u, &vu));
  EXPECT_LE(std::abs(uv - vu), 1e-12 * std::abs(uv));
  for (const double scale : {1e-150, 3.0, 1e150}) {
    const auto scaled = applied(solve, ours.A, scale);
    PETSC_OK(VecScale(scaled, 1 / scale));
    EXPECT_LE(distance(scaled, of_u), 1e-13) << scale;
  }
}

TEST_F(CycleOnDevice, HandsNotANumberOn) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg);
  const auto b = on_side(left_vector(ours.A, 41), true), x = on_side(right_vector(ours.A, 42), true);
  KSPConvergedReason reason;
  PETSC_OK(VecSetValue(b, 0, std::numeric_limits<double>::quiet_NaN(), INSERT_VALUES));
  PETSC_OK(VecAssemblyBegin(b));
  PETSC_OK(VecAssemblyEnd(b));
  PETSC_OK(KSPSolve(solve.ksp, b, x));
  PETSC_OK(KSPGetConvergedReason(solve.ksp, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_NANORINF);
}

const std::string single = "-solver_pc_mg_compound_precision single ";

struct CycleInSinglePrecision : CycleOnDevice {
  void SetUp() override {
    CycleOnDevice::SetUp();
    if (!IsSkipped() && size() > 1) GTEST_SKIP() << "skipped: several processes cycle in double precision";
  }
};

std::size_t device_bytes_of(const Solve& solve) {
  PetscInt levels;
  std::size_t sum = 0;
  PETSC_OK(PCMGGetLevels(solve.preconditioner(), &levels));
  for (PetscInt k = 1; k < levels; ++k) {
    KSP smoother;
    Mat A, P;
    PETSC_OK(PCMGGetInterpolation(solve.preconditioner(), k, &P));
    PETSC_OK(PCMGGetSmoother(solve.preconditioner(), k, &smoother));
    PETSC_OK(KSPGetOperators(smoother, &A, nullptr));
    sum += static_cast<std::size_t>(info_of(P).device_bytes);
    if (k + 1 < levels) sum += static_cast<std::size_t>(info_of(A).device_bytes);
  }
  return sum;
}

TEST_F(CycleInSinglePrecision, HasTheSameIterationsAndHalfTheBytes) {
  const auto ours = box(MATAIJCOMPOUND, 20, VECCUDA);
  ours.tell_rigid_body_modes();
  for (const std::string smoother : {"jacobi", "pbjacobi"}) {
    SCOPED_TRACE(smoother);
    const std::string options = gamg + "-solver_mg_levels_pc_type " + smoother + " ";
    const Solve wide(ours.A, options);
    const auto of_double = wide.run(ours.A, true);
    const auto x = applied(wide, ours.A);
    const auto bytes = device_bytes_of(wide);
    const Solve solve(ours.A, options + single);
    EXPECT_EQ(solve.run(ours.A, true), of_double);
    const auto y = applied(solve, ours.A);
    EXPECT_LE(distance(y, x), 1e-5);
    EXPECT_GT(distance(y, x), 1e-12) << "not in single precision";
    EXPECT_EQ(values_of(y), values_of(applied(solve, ours.A)));
    EXPECT_LT(device_bytes_of(solve), 0.75 * double(bytes));
    EXPECT_NE(view_of("multigrid_cycle_test", solve.ksp).find("matrices in single precision"), std::string::npos);
    PETSC_OK(PetscOptionsClear(nullptr));
  }
}

TEST_F(CycleInSinglePrecision, FollowsNewValues) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg + single);
  PETSC_OK(PetscOptionsInsertString(nullptr, "-solver_pc_mg_compound_precision double"));
  const Solve wide(ours.A, gamg);
  expect_same_with_new_values(solve, wide, ours.A, 1e-5);
}

TEST_F(CycleInSinglePrecision, LeavesMatricesInDoublePrecisionBehind) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  Matrix P, plain;
  {
    const Solve solve(ours.A, gamg + single);
    Mat of_level;
    PETSC_OK(KSPSetUp(solve.ksp));
    applied(solve, ours.A);
    PETSC_OK(PCMGGetInterpolation(solve.preconditioner(), 1, &of_level));
    PETSC_OK(PetscObjectReference(reinterpret_cast<PetscObject>(of_level)));
    *P.out() = of_level;
  }
  PETSC_OK(MatConvert(P, MATAIJ, MAT_INITIAL_MATRIX, plain.out()));
  const auto x = on_side(right_vector(P, 5), true), y = on_side(left_vector(P, 6), true);
  const auto wanted = left_vector(P, 7);
  PETSC_OK(MatMult(P, x, y));
  PETSC_OK(MatMult(plain, x, wanted));
  EXPECT_LE(distance(y, wanted), 1e-14);
}

/// Of values that single precision does not have, the matrices stay in double precision: from the first set-up on, or
/// from the one that brings such values.
TEST_F(CycleInSinglePrecision, BecomesDoubleWhereValuesAskForIt) {
  const auto ours = box(MATAIJCOMPOUND, 12, VECCUDA);
  const Solve solve(ours.A, gamg + single);
  PETSC_OK(KSPSetTolerances(solve.ksp, 1e-8, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  EXPECT_GT(solve.run(ours.A, true), 0);
  for (const double factor : {1e40, 1e-86}) {  // beyond 1e50 PETSc has no estimates of eigenvalues
    PETSC_OK(MatScale(ours.A, factor));
    PETSC_OK(KSPSetOperators(solve.ksp, ours.A, ours.A));
    const Solve anew(ours.A, gamg + single + "-solver_ksp_atol 1e-300 ");
    for (const Solve* s : {&solve, &anew}) {
      EXPECT_GT(s->run(ours.A, true), 0);
      const auto text = view_of("multigrid_cycle_test", s->ksp);
      EXPECT_NE(text.find("matrices in double precision: "), std::string::npos) << text;
    }
  }
}

/// Of which some have no matrix on the device: PETSc's, with its reason.
TEST_F(CycleOnDevice, OfAGridLeavesOtherInterpolationsToPetsc) {
  const auto ours = box(MATAIJCOMPOUND, 9, VECCUDA);
  const Solve solve(
      ours.A, "-solver_pc_type mg -solver_pc_mg_levels 2 -solver_pc_mg_galerkin both -solver_mg_levels_pc_type jacobi",
      ours.dm);
  EXPECT_GT(solve.run(ours.A, true), 0);
  EXPECT_NE(cycle_in_view(solve).find("without packed storage"), std::string::npos) << cycle_in_view(solve);
}

TEST_F(CycleOnDevice, TakesAsManyIterationsWithEverySolver) {
  const auto ours = box(MATAIJCOMPOUND, 14, VECCUDA);
  for (const std::string type : {"cg", "cgcompound", "gmres", "fgmres", "bcgs", "bcgscompound", "richardson"}) {
    SCOPED_TRACE(type);
    const std::string options = gamg + "-solver_ksp_type " + type + " ";
    PETSC_OK(PetscOptionsClear(nullptr));
    const Solve solve(ours.A, options);
    const auto iterations = solve.run(ours.A, true);
    const Solve plain(ours.A, options + "-solver_pc_mg_compound_cycle false");
    EXPECT_EQ(iterations, plain.run(ours.A, true));
    EXPECT_NE(cycle_in_view(solve).find("on the device"), std::string::npos) << cycle_in_view(solve);
  }
}

#endif

}  // namespace
