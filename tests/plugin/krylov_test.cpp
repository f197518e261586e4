// cgcompound and bcgscompound beside PETSc's CG and BiCGSTAB on the same matrix and vectors: reasons, iterations, norms
// and answers are the same, whether iterations run on a device by themselves or are PETSc's own; the view says which.
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <vector>

#include "device.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

/// A system and how it is solved.
struct Case {
  const char* name;
  const char* options;  ///< of the solver, with the prefix -solver_
  bool fused = true;    ///< on a device, one process
  int bs = 3;
  PetscReal shift = 0;  ///< of the diagonal
  enum class Rhs { random, zero, with_nan, of_guess } rhs = Rhs::random;
  bool has_guess = false;
  std::function<void(KSP, Mat)> prepare = {};
  bool cg_alone = false;
  bool fused_on_host = true;
  bool singular = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Method {
  const char *petscs, *ours;
};
void PrintTo(const Method& m, std::ostream* out) { *out << m.ours; }
constexpr Method cg{KSPCG, KSPCGCOMPOUND}, bcgs{KSPBCGS, KSPBCGSCOMPOUND};

PetscErrorCode note_norm(KSP, PetscInt, PetscReal norm, void* context) {
  static_cast<std::vector<PetscReal>*>(context)->push_back(norm);
  return PETSC_SUCCESS;
}

PetscErrorCode stop_at_three(KSP, PetscInt i, PetscReal, KSPConvergedReason* reason, void*) {
  *reason = i == 3 ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}

/// Looks at the answer so far, which must be that of the iteration.
PetscErrorCode look_at_residual(KSP ksp, PetscInt i, PetscReal norm, void*) {
  Vec built;
  PetscReal size;
  if (const PetscErrorCode code = KSPBuildResidual(ksp, nullptr, nullptr, &built)) return code;
  PETSC_OK(VecNorm(built, NORM_2, &size));
  EXPECT_NEAR(size, norm, 1e-8 * (1 + norm)) << "iteration " << i;
  PETSC_OK(VecDestroy(&built));
  return PETSC_SUCCESS;
}

/// Row sums of 0, and the constant null space that comes of that.
void make_singular(Mat A) {
  MatNullSpace space;
  const auto ones = right_vector(A, 0), sums = left_vector(A, 0);
  PETSC_OK(VecSet(ones, 1));
  PETSC_OK(MatMult(A, ones, sums));
  PETSC_OK(VecScale(sums, -1));
  PETSC_OK(MatDiagonalSet(A, sums, ADD_VALUES));
  PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &space));
  PETSC_OK(MatSetNullSpace(A, space));
  PETSC_OK(MatNullSpaceDestroy(&space));
}

const Case cases[] = {
    {"none", "-solver_pc_type none"},
    {"jacobi", "-solver_pc_type jacobi"},
    {"pbjacobi", "-solver_pc_type pbjacobi"},
    {"pbjacobicompound", "-solver_pc_type pbjacobicompound"},
    {"pbjacobi_of_scalars", "-solver_pc_type pbjacobi", true, 1},
    {"pbjacobi_of_sevens", "-solver_pc_type pbjacobi", true, 7},
    {"jacobi_abs", "-solver_pc_type jacobi -solver_pc_jacobi_abs"},
    {.name = "unpreconditioned",
     .options = "-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned",
     .cg_alone = true},
    {.name = "natural", .options = "-solver_pc_type pbjacobi -solver_ksp_norm_type natural", .cg_alone = true},
    {"no_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 11"},
    {"few_iterations", "-solver_pc_type jacobi -solver_ksp_max_it 5"},
    {"one_iteration", "-solver_pc_type none -solver_ksp_max_it 1"},
    {"no_iteration", "-solver_pc_type none -solver_ksp_max_it 0"},
    {"converged_maxits", "-solver_pc_type jacobi -solver_ksp_max_it 9 -solver_ksp_converged_maxits"},
    {"divergence_tolerance", "-solver_pc_type none -solver_ksp_divtol 0.5"},
    {"loose", "-solver_pc_type none -solver_ksp_rtol 1e-1"},
    {"guess", "-solver_pc_type pbjacobi", true, 3, 0, Case::Rhs::random, true},
    {"guess_that_is_exact", "-solver_pc_type none", true, 3, 0, Case::Rhs::of_guess, true},
    {"no_right_hand_side", "-solver_pc_type jacobi", true, 3, 0, Case::Rhs::zero},
    {"no_right_hand_side_nor_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none", true, 3, 0, Case::Rhs::zero},
    {"not_a_number", "-solver_pc_type jacobi", true, 3, 0, Case::Rhs::with_nan},
    {"not_a_number_nor_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none", true, 3, 0, Case::Rhs::with_nan},
    // BiCGSTAB nearly breaks down in iteration 4: even PETSc's own on aij and baij agree to 1e-8 alone from there on.
    {"indefinite", "-solver_pc_type none -solver_ksp_max_it 3", true, 3, -6.0},
    {"indefinite_with_jacobi", "-solver_pc_type jacobi -solver_ksp_max_it 3", true, 3, -6.0},
    {"negative", "-solver_pc_type none -solver_ksp_max_it 50", true, 3, -20.0},
    {.name = "bilinear", .options = "-solver_pc_type jacobi -solver_ksp_cg_type symmetric", .cg_alone = true},
    {.name = "test_of_the_users",
     .options = "-solver_pc_type pbjacobi",
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetConvergenceTest(ksp, stop_at_three, nullptr, nullptr)); }},
    {.name = "monitor_of_residuals",
     .options = "-solver_pc_type none",
     .has_guess = true,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPMonitorSet(ksp, look_at_residual, nullptr, nullptr)); }},
    {"sor", "-solver_pc_type sor", false},
    {.name = "check_norm_later",
     .options = "-solver_pc_type jacobi -solver_ksp_check_norm_iteration 4",
     .fused = false,
     .fused_on_host = false},
    {.name = "single_reduction",
     .options = "-solver_pc_type jacobi -solver_ksp_cg_single_reduction",
     .fused = false,
     .cg_alone = true,
     .fused_on_host = false},
    {.name = "eigenvalues",
     .options = "-solver_pc_type jacobi",
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); },
     .cg_alone = true},
    {.name = "eigenvalues_with_sor",
     .options = "-solver_pc_type sor",
     .fused = false,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeSingularValues(ksp, PETSC_TRUE)); },
     .cg_alone = true},
    {.name = "eigenvalues_of_single_reduction",
     .options = "-solver_pc_type jacobi -solver_ksp_cg_single_reduction",
     .fused = false,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); },
     .cg_alone = true,
     .fused_on_host = false},
    {.name = "eigenvalues_that_are_watched",
     .options = "-solver_pc_type pbjacobi",
     .prepare =
         [](KSP ksp, Mat) {
           PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
           PETSC_OK(KSPSetConvergenceTest(ksp, stop_at_three, nullptr, nullptr));
         },
     .cg_alone = true},
    {.name = "null_space_with_pbjacobi",
     .options = "-solver_pc_type pbjacobi",
     .rhs = Case::Rhs::of_guess,
     .singular = true},
    {.name = "null_space",
     .options = "-solver_pc_type jacobi",
     .rhs = Case::Rhs::of_guess,
     .singular = true},
};

struct Outcome {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = -1;
  PetscReal last = 0;  ///< norm that the KSP keeps
  std::vector<PetscReal> norms;
  std::vector<PetscScalar> x;
  std::vector<PetscReal> eigenvalues, extremes;  ///< where they are asked for
  std::string view;
};

std::vector<PetscScalar> values_of(Vec v) {
  const PetscScalar* from;
  PetscInt n;
  PETSC_OK(VecGetLocalSize(v, &n));
  PETSC_OK(VecGetArrayRead(v, &from));
  std::vector<PetscScalar> values(from, from + n);
  PETSC_OK(VecRestoreArrayRead(v, &from));
  return values;
}

struct System {
  Matrix A;
  Vector b, x;

  System(const Case& c, bool device) : A(spd(MATBAIJCOMPOUND, c.bs)) {
    if (device) PETSC_OK(MatSetVecType(A, VECCUDA));
    PETSC_OK(MatShift(A, c.shift));
    if (c.singular) make_singular(A);
    const auto guess = right_vector(A, 42);
    auto rhs = left_vector(A, 41);
    if (c.rhs == Case::Rhs::zero) PETSC_OK(VecSet(rhs, 0));
    if (c.rhs == Case::Rhs::of_guess) PETSC_OK(MatMult(A, guess, rhs));
    if (c.rhs == Case::Rhs::with_nan) {
      if (rank() == 0) PETSC_OK(VecSetValue(rhs, 0, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
      PETSC_OK(VecAssemblyBegin(rhs));
      PETSC_OK(VecAssemblyEnd(rhs));
    }
    b = on_side(rhs, device);
    x = on_side(guess, device);
  }
};

Solver solver(const Case& c, const System& s, const char* type) {
  Solver ksp;
  PETSC_OK(PetscOptionsInsertString(nullptr, c.options));
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
  PETSC_OK(KSPSetType(ksp, type));
  PETSC_OK(KSPSetOperators(ksp, s.A, s.A));
  PETSC_OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PETSC_OK(KSPSetInitialGuessNonzero(ksp, c.has_guess ? PETSC_TRUE : PETSC_FALSE));
  if (c.prepare) c.prepare(ksp, s.A);
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(PetscOptionsClear(nullptr));
  return ksp;
}

Outcome outcome(KSP ksp, const System& s) {
  Outcome o;
  PETSC_OK(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
  PETSC_OK(KSPSolve(ksp, s.b, s.x));
  const PetscReal* norms;
  PetscInt count;
  PETSC_OK(KSPGetResidualHistory(ksp, &norms, &count));
  o.norms.assign(norms, norms + count);
  PETSC_OK(KSPGetConvergedReason(ksp, &o.reason));
  PETSC_OK(KSPGetIterationNumber(ksp, &o.iterations));
  PETSC_OK(KSPGetResidualNorm(ksp, &o.last));
  o.x = values_of(s.x);
  o.view = view_of("krylov_test", ksp);
  PetscBool wanted;
  PETSC_OK(KSPGetComputeEigenvalues(ksp, &wanted));
  if (!wanted) return o;
  std::vector<PetscReal> imaginary(o.iterations);
  o.eigenvalues.resize(o.iterations);
  o.extremes.resize(2);
  PETSC_OK(KSPComputeEigenvalues(ksp, o.iterations, o.eigenvalues.data(), imaginary.data(), &count));
  EXPECT_EQ(count, o.iterations);
  EXPECT_EQ(imaginary, std::vector<PetscReal>(o.iterations, 0));
  PETSC_OK(KSPComputeExtremeSingularValues(ksp, &o.extremes[0], &o.extremes[1]));
  return o;
}

testing::AssertionResult same(const Outcome& a, const Outcome& b) {
  if (a.reason != b.reason) return testing::AssertionFailure() << "reasons " << a.reason << " and " << b.reason;
  if (std::abs(a.iterations - b.iterations) > std::max(2.0, 0.01 * double(b.iterations)))
    return testing::AssertionFailure() << "iterations " << a.iterations << " and " << b.iterations;
  const std::size_t common = std::min({a.norms.size(), b.norms.size(), std::size_t{30}});
  if (common + 2 < std::min(b.norms.size(), std::size_t{30})) return testing::AssertionFailure() << "norms are missing";
  for (std::size_t i = 0; i < common; ++i)
    if (!(std::abs(a.norms[i] - b.norms[i]) <= 1e-10 * (b.norms[i] + b.norms[0])))
      return testing::AssertionFailure() << "norm " << i << ": " << a.norms[i] << " and " << b.norms[i];
  if (a.eigenvalues.size() != b.eigenvalues.size())
    return testing::AssertionFailure() << a.eigenvalues.size() << " eigenvalues and " << b.eigenvalues.size();
  for (std::size_t i = 0; i < a.extremes.size(); ++i)
    if (!(std::abs(a.extremes[i] - b.extremes[i]) <= 1e-6 * std::abs(b.extremes[i])))
      return testing::AssertionFailure() << "extremes " << a.extremes[i] << " and " << b.extremes[i];
  for (std::size_t i = 0; i < a.eigenvalues.size(); ++i)  // those between change with the last digits of a long solve
    if (a.eigenvalues.size() < 20 && !(std::abs(a.eigenvalues[i] - b.eigenvalues[i]) <= 1e-6 * b.extremes[0]))
      return testing::AssertionFailure() << "eigenvalues " << a.eigenvalues[i] << " and " << b.eigenvalues[i];
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    error = std::max(error, double(PetscAbsScalar(a.x[i] - b.x[i])));
    size = std::max(size, double(PetscAbsScalar(b.x[i])));
  }
  if (!all_ranks(a.reason == KSP_DIVERGED_NANORINF || error <= 1e-7 * (1 + size)))
    return testing::AssertionFailure() << "answers differ by " << max_over_ranks(error);
  return testing::AssertionSuccess();
}

bool says(const Outcome& o, const char* text) { return o.view.find(text) != std::string::npos; }

using Choice = std::tuple<Method, Case>;
std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const Method& method : {cg, bcgs})
    for (const Case& c : cases)
      if (method.petscs == cg.petscs || !c.cg_alone) all.emplace_back(method, c);
  return all;
}

struct OnHost : testing::TestWithParam<Choice> {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
struct OnDevice : DeviceTest, testing::WithParamInterface<Choice> {};

constexpr auto name_of = [](const auto& info) {
  return std::get<0>(info.param).petscs + std::string("_") + std::get<1>(info.param).name;
};
INSTANTIATE_TEST_SUITE_P(All, OnHost, testing::ValuesIn(choices()), name_of);
INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(choices()), name_of);

TEST_P(OnHost, IsPetscsOwn) {
  const auto& [method, c] = GetParam();
  const System of_petsc(c, false), of_ours(c, false);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const Outcome found = outcome(solver(c, of_ours, method.ours), of_ours);

  EXPECT_TRUE(same(found, wanted));
  EXPECT_EQ(found.norms.size(), wanted.norms.size());
  EXPECT_TRUE(says(found, c.fused_on_host ? "  fused on the host" : "  not fused: ")) << found.view;
}

TEST_P(OnDevice, IsPetscsOwn) {
  const auto& [method, c] = GetParam();
  const System of_petsc(c, true), of_ours(c, true);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const auto ksp = solver(c, of_ours, method.ours);
  const Outcome found = outcome(ksp, of_ours);

  EXPECT_TRUE(same(found, wanted));
  const bool is_cg = method.petscs == cg.petscs;
  const bool fused = c.fused && size() == 1;
  const char* const by_graphs = "kernels an iteration, graphs of ";
  const char* const in_one_kernel = "  fused on the device: one kernel for all iterations";
  EXPECT_TRUE(says(found, fused              ? (is_cg ? in_one_kernel : by_graphs)
                          : !c.fused_on_host ? "  not fused: "
                          : is_cg            ? "  fused on the device: two reductions an iteration; not more: "
                                             : "  fused on the device: three reductions an iteration; not more: "))
      << found.view;
  if (c.has_guess) return;
  for (const char* loop : {"graphs", "kernel", "two_meetings"}) {
    if (!fused) break;
    Case other = c;
    const std::string options = std::string(c.options) + " -solver_ksp_compound_loop " + loop;
    other.options = options.c_str();
    const Outcome the_other_way = outcome(solver(other, of_ours, method.ours), of_ours);
    EXPECT_TRUE(same(the_other_way, wanted)) << loop;
    EXPECT_TRUE(says(the_other_way, std::strcmp(loop, "graphs") == 0 ? by_graphs : in_one_kernel))
        << the_other_way.view;
  }
  const Outcome again = outcome(ksp, of_ours);
  EXPECT_EQ(again.norms.size(), found.norms.size());
  if (found.reason == KSP_DIVERGED_NANORINF) return;
  EXPECT_EQ(again.x, found.x) << "other bits the second time";
}

/// Norms come one by one to a monitor, in order.
struct BothOnDevice : DeviceTest, testing::WithParamInterface<Method> {};
INSTANTIATE_TEST_SUITE_P(All, BothOnDevice, testing::Values(cg, bcgs),
                         [](const auto& param_info) { return std::string(param_info.param.ours); });

TEST_P(BothOnDevice, TellMonitorsOfEveryNorm) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, true);
  const auto ksp = solver(c, s, GetParam().ours);
  std::vector<PetscReal> heard;
  PETSC_OK(KSPMonitorSet(ksp, note_norm, &heard, nullptr));
  const Outcome o = outcome(ksp, s);
  EXPECT_EQ(heard, o.norms);
  EXPECT_EQ(PetscInt(heard.size()), o.iterations + 1);
  EXPECT_EQ(heard.back(), o.last);
}

/// One KSP, whose matrix gets other values, another plan, and vectors that lie elsewhere.
TEST_P(BothOnDevice, FollowWhatChangesBetweenSolves) {
  const Case c{"", "-solver_pc_type pbjacobi"};
  System s(c, true);
  const auto ksp = solver(c, s, GetParam().ours);
  const auto holds = [&](const char* what) {
    const Outcome found = outcome(ksp, s);
    const System reference{c, true};
    PETSC_OK(MatCopy(s.A, reference.A, SAME_NONZERO_PATTERN));
    PETSC_OK(VecCopy(s.b, reference.b));
    EXPECT_TRUE(same(found, outcome(solver(c, reference, GetParam().petscs), reference))) << what;
  };
  holds("at first");
  PETSC_OK(MatScale(s.A, 3.0));
  holds("scaled");
  PETSC_OK(MatShift(s.A, 1.5));
  holds("shifted");
  PETSC_OK(MatCompoundSetPlan(s.A, "csr rows dynamic threads=64 blocks=4"));
  holds("another plan");
  s.b = on_side(left_vector(s.A, 77), true);
  s.x = on_side(right_vector(s.A, 78), true);
  holds("other vectors");
  s.b = on_side(s.b, false);
  holds("b on the host");
  PETSC_OK(KSPReset(ksp));
  PETSC_OK(KSPSetOperators(ksp, s.A, s.A));
  holds("after a reset");
}

TEST_P(BothOnDevice, ShareAMatrixOrTakeTwo) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System one(c, true), two({.name = "", .options = "", .shift = 2.0}, true);
  const auto first = solver(c, one, GetParam().ours), second = solver(c, one, GetParam().ours);
  const Outcome wanted = outcome(first, one);
  EXPECT_EQ(outcome(second, one).x, wanted.x);
  PETSC_OK(KSPSetOperators(first, two.A, two.A));
  EXPECT_TRUE(same(outcome(first, two), outcome(solver(c, two, GetParam().petscs), two)));
  PETSC_OK(KSPSetOperators(first, one.A, one.A));
  EXPECT_EQ(outcome(first, one).x, wanted.x);
}

/// Solves with changing values, the first of which may keep what they like.
void expect_no_leak(bool device, const char* type) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_rtol 1e-5"};
  const System s(c, device);
  const auto ksp = solver(c, s, type);
  PetscLogDouble before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    PETSC_OK(MatScale(s.A, i % 2 ? 1.25 : 0.8));
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
    if (i == 200) PETSC_OK(PetscMemoryGetCurrentUsage(&before));
  }
  PETSC_OK(PetscMemoryGetCurrentUsage(&after));
  EXPECT_LT(after - before, device ? 4e6 : 3e5) << "bytes more after 800 solves";
}

TEST(Solves, LeakNothing) {
#if defined(__SANITIZE_ADDRESS__)
  std::cout << "skipped: the address sanitizer keeps what was freed, and finds leaks itself" << std::endl;
  GTEST_SKIP();
#endif
  for (const char* type : {KSPCGCOMPOUND, KSPBCGSCOMPOUND}) expect_no_leak(false, type);
}
TEST_P(BothOnDevice, LeakNothing) { expect_no_leak(true, GetParam().ours); }

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

struct SaysOnDevice : DeviceTest {};
TEST_F(SaysOnDevice, WhichPreconditionersAreFused) {
  const Case c{"", "-solver_pc_type sor"};
  const System s(c, true);
  EXPECT_TRUE(says(outcome(solver(c, s, KSPBCGSCOMPOUND), s),
                   "not more: preconditioner sor; none, jacobi, pbjacobi and pbjacobicompound are fused"));
}

}  // namespace
