// The types cgcompound and bcgscompound beside others, their options, and what the view says of their solves.
#include <cmath>
#include <vector>

#include "krylov_cases.hpp"

namespace krylov_test {

namespace {

/// A type that was and is no more leaves nothing behind.
TEST(Types, BecomeAnotherAndComeBack) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const Outcome first = outcome(ksp, s);
  PETSC_OK(KSPSetType(ksp, KSPGMRES));
  EXPECT_FALSE(says(outcome(ksp, s), "fused"));
  PETSC_OK(KSPSetType(ksp, KSPCG));
  EXPECT_FALSE(says(outcome(ksp, s), "fused"));
  PETSC_OK(KSPSetType(ksp, KSPCGCOMPOUND));
  EXPECT_TRUE(same(outcome(ksp, s), first));
}

/// By what KSPCG composes under this name, if this release's does.
using SetTarget = PetscErrorCode (*)(KSP, PetscReal);
SetTarget target_of(KSP ksp, const char* name) {
  SetTarget set = nullptr;
  PETSC_OK(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), name, &set));
  return set;
}

TEST(SingleReduction, IsPetscsLoopUntilItIsUndone) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s{c, false};
  const Solver ksp = solver(c, s, KSPCGCOMPOUND);
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  EXPECT_TRUE(says(outcome(ksp, s), "  not fused: a single reduction"));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
  EXPECT_TRUE(says(outcome(ksp, s), "  fused on the host"));
}

struct Target {
  const char *name, *says;
  PetscReal value;
};
void PrintTo(const Target& t, std::ostream* out) { *out << t.name; }
constexpr Target radius{"KSPCGSetRadius_C", "  not fused: a radius is set (KSPCGSetRadius)", 1e-3},
    objective{"KSPCGSetObjectiveTarget_C", "  not fused: an objective is set (KSPCGSetObjectiveTarget)", -1e-3};

/// What only PETSc's loop looks at.
struct Targets : testing::TestWithParam<Target> {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s{c, false};
  Solver ksp = solver(c, s, KSPCGCOMPOUND);
  SetTarget set = target_of(ksp, GetParam().name);
  void SetUp() override {
    if (!set) GTEST_SKIP() << "skipped: this PETSc's CG has none";
  }
};
INSTANTIATE_TEST_SUITE_P(All, Targets, testing::Values(radius, objective),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(Targets, OutlastASingleReduction) {
  PETSC_OK((*set)(ksp, GetParam().value));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
  EXPECT_TRUE(says(outcome(ksp, s), GetParam().says));
}

TEST_P(Targets, AreNoMoreWhereTheyAreSetToZero) {
  PETSC_OK((*set)(ksp, GetParam().value));
  PETSC_OK((*set)(ksp, 0));
  EXPECT_TRUE(says(outcome(ksp, s), "  fused on the host"));
}

TEST_P(Targets, OutlastEachOther) {
  PETSC_OK((*set)(ksp, GetParam().value));
  const Target& other = GetParam().name == radius.name ? objective : radius;
  const SetTarget set_other = target_of(ksp, other.name);
  ASSERT_NE(set_other, nullptr);
  PETSC_OK((*set_other)(ksp, other.value));
  PETSC_OK((*set_other)(ksp, 0));
  EXPECT_TRUE(says(outcome(ksp, s), GetParam().says));
}

/// Of the last solve, where this release's KSPCG tells.
std::vector<PetscReal> objective_of(KSP ksp) {
  PetscErrorCode (*get)(KSP, PetscReal*) = nullptr;
  PetscReal value = 0;
  PETSC_OK(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), "KSPCGGetObjFcn_C", &get));
  if (!get) return {};
  PETSC_OK((*get)(ksp, &value));
  return {value};
}

void expect_petscs_objective(bool device) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_max_it 5"};
  const System s(c, device);
  const auto petscs = solver(c, s, KSPCG), ours = solver(c, s, KSPCGCOMPOUND);
  for (const bool asks_before : {false, true}) {
    if (asks_before) PETSC_OK(KSPCGUseSingleReduction(ours, PETSC_TRUE));
    if (asks_before) PETSC_OK(KSPCGUseSingleReduction(ours, PETSC_FALSE));
    PETSC_OK(KSPSolve(petscs, s.b, s.x));
    const auto wanted = objective_of(petscs);
    PETSC_OK(KSPSolve(ours, s.b, s.x));
    const auto found = objective_of(ours);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-10 * std::abs(wanted[i]));
  }
}
TEST(Types, TellPetscsObjective) { expect_petscs_objective(false); }
TEST_F(SaysOnDevice, PetscsObjective) { expect_petscs_objective(true); }

/// What multigrid asks of it: extreme eigenvalues, for the smoother's polynomial.
TEST(Types, EstimateEigenvaluesForMultigrid) {
  const Case c{"", "-solver_pc_type gamg -solver_pc_gamg_esteig_ksp_type cg -solver_mg_levels_esteig_ksp_type cg"};
  const Case of_ours{"",
                     "-solver_pc_type gamg -solver_pc_gamg_esteig_ksp_type cgcompound "
                     "-solver_mg_levels_esteig_ksp_type cgcompound"};
  System s(c, false);
  PETSC_OK(MatConvert(s.A, MATAIJ, MAT_INPLACE_MATRIX, s.A.in_place()));
  const auto wanted = solver(c, s, KSPCG), found = solver(of_ours, s, KSPCG);
  EXPECT_TRUE(same(outcome(found, s), outcome(wanted, s)));
}

/// Of an iteration: a longer solve has more than a shorter one. PETSc counts none of a process alone.
PetscLogDouble reductions(const Method& method, const char* options) {
  PetscLogDouble counted[2];
  constexpr PetscInt most[] = {5, 15};
  const Case c{"", options};
  for (int i : {0, 1}) {
    const System s(c, false);
    const auto ksp = solver(c, s, method.ours, method.options);
    PETSC_OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most[i]));
    const PetscLogDouble before = petsc_allreduce_ct;
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
    counted[i] = petsc_allreduce_ct - before;
  }
  return (counted[1] - counted[0]) / PetscLogDouble(most[1] - most[0]);
}

TEST(Types, AddUpOverProcessesAsOftenAsTheySay) {
  if (PetscDefined(USE_DEBUG)) GTEST_SKIP() << "skipped: PETSc's debug builds have reductions of their own";
  for (const char* options :
       {"-solver_pc_type jacobi -solver_ksp_rtol 1e-30", "-solver_pc_type sor -solver_ksp_rtol 1e-30",
        "-solver_pc_type pbjacobi -solver_ksp_norm_type none"}) {
    EXPECT_EQ(reductions(one_reduction, options), size() > 1 ? 1 : 0) << options;
    EXPECT_EQ(reductions(cg, options), size() > 1 ? 2 : 0) << options;
    EXPECT_EQ(reductions(bcgs, options), size() > 1 ? 3 : 0) << options;
  }
}

/// One KSP, which is asked for one form after the other.
TEST(Types, ChangeTheirReductionsBetweenSolves) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const Outcome first = outcome(ksp, s);
  for (const char* count : {"1", "2"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_cgcompound_reductions", count));
    PETSC_OK(KSPSetFromOptions(ksp));
    EXPECT_TRUE(same(outcome(ksp, s), first)) << count;
  }
  PETSC_OK(PetscOptionsClear(nullptr));
  EXPECT_EQ(outcome(ksp, s).x, first.x);
}

TEST(Types, RefuseOtherNumbersOfReductions) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const auto error_of = [&](const char* reductions) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_cgcompound_reductions", reductions));
    const auto error = catch_error([&] { return KSPSetFromOptions(ksp); });
    PETSC_OK(PetscOptionsClear(nullptr));
    return error;
  };
  const auto three = error_of("3"), word = error_of("two");
  EXPECT_EQ(three.code, PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(three.message.find("-ksp_cgcompound_reductions is 3; choose 1 or 2"), std::string::npos) << three.message;
  EXPECT_EQ(word.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(word.message.find("-ksp_cgcompound_reductions is not a whole number; choose 1 or 2"), std::string::npos)
      << word.message;
}

/// By PETSc's error, which lists the known ones.
TEST(Types, RefuseOtherLoops) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  for (const char* loop : {"by_size", "kernel", "two_meetings"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_compound_loop", loop));
    const auto error = catch_error([&] { return KSPSetFromOptions(ksp); });
    PETSC_OK(PetscOptionsClear(nullptr));
    EXPECT_NE(error.code, 0) << loop;
    EXPECT_NE(error.message.find("auto graphs persistent persistent2"), std::string::npos) << error.message;
  }
}

/// A matrix of PETSc's own.
TEST(Types, SolveWithAnyMatrix) {
  const Case c{"", "-solver_pc_type jacobi"};
  System s(c, false);
  PETSC_OK(MatConvert(s.A, MATAIJ, MAT_INPLACE_MATRIX, s.A.in_place()));
  const Outcome found = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
  EXPECT_TRUE(says(found, "fused on the host")) << found.view;
  const Outcome other = outcome(solver(c, s, KSPBCGSCOMPOUND), s);
  EXPECT_EQ(other.reason, KSP_CONVERGED_RTOL);
  EXPECT_TRUE(says(other, "fused on the host: three reductions")) << other.view;
}

TEST_F(SaysOnDevice, WhichPreconditionersAreFused) {
  const Case c{"", "-solver_pc_type sor"};
  const System s(c, true);
  EXPECT_TRUE(says(outcome(solver(c, s, KSPBCGSCOMPOUND), s),
                   "not more: preconditioner sor; none, jacobi, pbjacobi and pbjacobicompound are fused"));
}

TEST_F(SaysOnDevice, WhyProductsRunOnTheHost) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System on_host(c, false);
  const Outcome o = outcome(solver(c, on_host, KSPCGCOMPOUND), on_host);
  EXPECT_TRUE(
      says(o, "  fused on the host: two reductions an iteration; not on the device: the vectors are on the host\n"))
      << o.view;
  const System s(c, true);
  PETSC_OK(MatCompoundSetBackend(s.A, "host"));
  const Outcome by_name = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_TRUE(says(by_name, "not more: products run on the host (-mat_compound_backend host)")) << by_name.view;
}

TEST_F(SaysOnDevice, WhyIterationsArePetscsOwn) {
  const Case c{"", "-solver_pc_type sor"};
  System s(c, true);
  s.b = on_side(s.b, false);
  const Outcome o = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_TRUE(says(o, "  not fused: some of the solve's vectors are on the host, others on the device\n")) << o.view;
}

/// What the view says where the first allocation of a solve fails.
Outcome without_memory(const char* options) {
  const Case c{"", options};
  const System s(c, true);
  const auto y = on_side(s.b, true);
  PETSC_OK(MatMult(s.A, s.x, y));  // packs the matrix
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const auto fails = failing_allocation(1);
  return outcome(ksp, s);
}

TEST_F(SaysOnDevice, ThatMemoryIsFull) {
  const Outcome none = without_memory("-solver_pc_type composite -solver_pc_composite_pcs jacobi");
  EXPECT_TRUE(says(none, "  not fused: the device's memory is full\n")) << none.view;
  if (size() > 1) return;
  const Outcome less = without_memory("-solver_pc_type jacobi");
  EXPECT_TRUE(says(less, "  fused on the device: two reductions an iteration; not more: the device's memory is full\n"))
      << less.view;
}

TEST_F(SaysOnDevice, WhichNullSpacesAreRemovedInTheLoop) {
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  struct Row {
    int bs;
    Case::Null null_space;
    const char* says;
  };
  constexpr Row rows[] = {
      {3, Case::Null::constant, "null space removed in the loop: the constant\n"},
      {3, Case::Null::vectors, "null space removed in the loop: 3 vectors\n"},
      {2, Case::Null::constant_and_vectors, "null space removed in the loop: the constant and 1 vector\n"},
      {7, Case::Null::vectors, "not more: the matrix's null space has more than 6 vectors"},
      {7, Case::Null::constant_and_vectors, "not more: the matrix's null space has more than 6 vectors"},
      {3, Case::Null::function, "not more: a function removes the matrix's null space (MatNullSpaceSetFunction)"}};
  for (const Row& row : rows) {
    const Case c{.name = "",
                 .options = "-solver_pc_type jacobi",
                 .bs = row.bs,
                 .rhs = Case::Rhs::of_guess,
                 .null_space = row.null_space};
    const System s(c, true);
    const Outcome o = outcome(solver(c, s, KSPCGCOMPOUND), s);
    EXPECT_TRUE(says(o, row.says)) << o.view;
  }
}

}  // namespace

}  // namespace krylov_test
