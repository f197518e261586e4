// cgcompound and bcgscompound beside PETSc's CG and BiCGSTAB on the same matrix and vectors: reasons, iterations, norms
// and answers are the same, whether iterations run on a device by themselves or are PETSc's own; the view says which.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <tuple>
#include <vector>

#include "krylov_cases.hpp"
#include "log_events.hpp"
#include "operations.hpp"

namespace krylov_test {

namespace {

bool all_have_rows(const System& s) {
  PetscInt rows;
  PETSC_OK(VecGetLocalSize(s.x, &rows));
  return all_ranks(rows > 0);
}

using Choice = std::tuple<Method, Case>;
std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const Method& method : {cg, bcgs})
    for (const Case& c : all_cases())
      if (method.petscs == cg.petscs || !c.cg_alone) all.emplace_back(method, c);
  for (const Case& c : common_cases()) all.emplace_back(one_reduction, c);
  return all;
}

struct OnHost : testing::TestWithParam<Choice> {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
struct OnDevice : DeviceTest, testing::WithParamInterface<Choice> {};

constexpr auto name_of = [](const auto& info) {
  return std::get<0>(info.param).name + std::string("_") + std::get<1>(info.param).name;
};
INSTANTIATE_TEST_SUITE_P(All, OnHost, testing::ValuesIn(choices()), name_of);
INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(choices()), name_of);

bool has_reason(const Case& c, const Method& method, const Outcome& o) {
  const KSPConvergedReason known = c.reasons[method.petscs == cg.petscs ? 0 : 1];
  return known == KSP_CONVERGED_ITERATING || o.reason == known;
}

TEST_P(OnHost, IsPetscsOwn) {
  const Method& method = std::get<0>(GetParam());
  const Case& c = std::get<1>(GetParam());
  const System of_petsc(c, false), of_ours(c, false);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const Outcome found = outcome(solver(c, of_ours, method.ours, method.options), of_ours);

  EXPECT_TRUE(same(found, wanted));
  EXPECT_EQ(PetscInt(found.norms.size()) - found.iterations, PetscInt(wanted.norms.size()) - wanted.iterations);
  const std::string on_host = std::string("  fused on the host: ") + method.reductions + " an iteration";
  EXPECT_TRUE(says(found, c.fused_on_host ? on_host.c_str() : "  not fused: ")) << found.view;
  EXPECT_TRUE(has_reason(c, method, wanted)) << wanted.reason;
  // PETSc's takes inner products of both types (VecMDot) with a single reduction.
  const bool petscs_is_wrong = PetscDefined(USE_COMPLEX) && std::strstr(c.options, "ksp_cg_type symmetric");
  if (!method.petscs_options || petscs_is_wrong || c.petscs_forms_differ) return;
  const System once_more(c, false);
  EXPECT_TRUE(same(found, outcome(solver(c, once_more, method.petscs, method.petscs_options), once_more)));
}

TEST_P(OnDevice, IsPetscsOwn) {
  const Method& method = std::get<0>(GetParam());
  const Case& c = std::get<1>(GetParam());
  const System of_petsc(c, true), of_ours(c, true);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const auto ksp = solver(c, of_ours, method.ours, method.options);
  const Outcome found = outcome(ksp, of_ours);

  EXPECT_TRUE(same(found, wanted));
  EXPECT_TRUE(has_reason(c, method, wanted)) << wanted.reason;
  const bool is_cg = method.petscs == cg.petscs;
  const bool fused = c.fused && (size() == 1 || by_peers());
  EXPECT_EQ(says(found, "  null space removed in the loop: "), fused && c.removes_null_space()) << found.view;
  const char* const by_graphs = "kernels an iteration, graphs of ";
  const auto in_one_kernel = [&](bool two_syncs) {
    const int projections = c.removes_null_space() ? (is_cg ? 1 : 3) : 0;
    const int grid_syncs = (is_cg ? (two_syncs ? 2 : 3) : 6) + projections;
    return "  fused on the device: one cooperative kernel for all iterations, with " + std::to_string(grid_syncs) +
           " grid synchronizations an iteration" + (size() > 1 ? "; devices exchange" : "\n");
  };
  const std::string stepwise = std::string("  fused on the device: ") + method.reductions + " an iteration; not more: ";
  const bool in_one = c.one_kernel && fused && all_have_rows(of_ours);
  EXPECT_TRUE(says(found, fused              ? (in_one ? in_one_kernel(true) : by_graphs)
                          : !c.fused_on_host ? "  not fused: "
                                             : stepwise.c_str()))
      << found.view;
  if (c.has_guess) return;
  for (const char* loop : {"graphs", "persistent", "persistent2"}) {
    if (!fused) break;
    Case other = c;
    const std::string options = std::string(c.options) + " -solver_ksp_compound_loop " + loop;
    other.options = options.c_str();
    const Outcome the_other_way = outcome(solver(other, of_ours, method.ours), of_ours);
    EXPECT_TRUE(same(the_other_way, wanted)) << loop;
    const bool graphs = std::strcmp(loop, "graphs") == 0 || !in_one;
    EXPECT_TRUE(says(the_other_way, graphs ? by_graphs : in_one_kernel(std::strcmp(loop, "persistent2") == 0)))
        << the_other_way.view;
  }
  const Outcome again = outcome(ksp, of_ours);
  EXPECT_EQ(again.norms.size(), found.norms.size());
  if (found.reason == KSP_DIVERGED_NANORINF) return;
  EXPECT_EQ(again.x, found.x) << "other bits the second time";
}

INSTANTIATE_TEST_SUITE_P(All, BothOnHost, testing::Values(cg, bcgs),
                         [](const auto& param_info) { return std::string(param_info.param.ours); });
INSTANTIATE_TEST_SUITE_P(All, BothOnDevice, testing::Values(cg, bcgs),
                         [](const auto& param_info) { return std::string(param_info.param.ours); });

PetscErrorCode note_norm(KSP, PetscInt, PetscReal norm, void* context) {
  static_cast<std::vector<PetscReal>*>(context)->push_back(norm);
  return PETSC_SUCCESS;
}

/// Norms come one by one to a monitor, in order.
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

PetscErrorCode note_solution(KSP ksp, PetscInt, PetscReal, void* to) {
  PetscFunctionBegin;
  Vec x;
  PetscReal norm;
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  static_cast<std::vector<PetscReal>*>(to)->push_back(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(BothOnHost, ShowMonitorsTheSolutionOfTheIteration) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_max_it 9"};
  const System s(c, false);
  std::vector<PetscReal> wanted, found;
  const auto solve = [&](const char* type, std::vector<PetscReal>& norms) {
    const auto ksp = solver(c, s, type);
    PETSC_OK(KSPMonitorSet(ksp, note_solution, &norms, nullptr));
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
  };

  solve(GetParam().petscs, wanted);
  solve(GetParam().ours, found);

  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_GT(found.back(), 0);
  for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], wanted[n], 1e-8 * wanted.back()) << n;
}

/// What -log_view says of this process's part of the solve.
PetscLogDouble flops_of_solve(KSP ksp, const System& s) {
  const auto before = event("KSPSolve");
  PETSC_OK(KSPSolve(ksp, s.b, s.x));
  return event("KSPSolve").flops - before.flops;
}

/// Flops of a solve of ours that may be other than PETSc's, on this process: of scalars an inner product that a step
/// makes before it is known to be the last, and two of an objective with which later releases' CG begins; a
/// preconditioning before the same test; M's columns, each a preconditioning; 1 of each inner product, of which PETSc
/// counts 2 n - 1. VecDotNorm2() of PETSc's vectors on a device counts none of its 4 n.
PetscLogDouble flops_to_spare(KSP ksp, const System& s, int columns, bool dotnorms_are_free) {
  PetscInt n, iterations;
  PETSC_OK(VecGetLocalSize(s.x, &n));
  PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
  const PetscLogDouble of_preconditioner = std::max(2 * columns - 1, 0), of_iteration = dotnorms_are_free ? 4.0 * n : 0;
  return flops_of_operation * ((6 + (columns + 1) * of_preconditioner) * n + (of_iteration + 6) * (iterations + 1));
}

struct FlopCase {
  const char* options;
  int columns;  ///< of the preconditioner's blocks
  bool cg_alone = false;
};
constexpr FlopCase flop_cases[] = {
    {"-solver_pc_type none", 0},
    {"-solver_pc_type jacobi", 1},
    {"-solver_pc_type pbjacobi", 3},
    {"-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned", 1, true},
    {"-solver_pc_type jacobi -solver_ksp_norm_type natural", 1, true},
    {"-solver_pc_type pbjacobi -solver_ksp_norm_type natural", 3, true},
    {"-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 23", 1},
    {"-solver_pc_type none -solver_ksp_max_it 1", 0},
    {"-solver_pc_type sor", 0},
};

void expect_petscs_flops(const Method& method, const FlopCase& f, bool device) {
  if (f.cg_alone && method.petscs != cg.petscs) return;
  const Case c{"", f.options};
  const System s(c, device);
  const auto petscs = solver(c, s, method.petscs), ours = solver(c, s, method.ours);
  PETSC_OK(KSPSolve(petscs, s.b, s.x));
  PETSC_OK(KSPSolve(ours, s.b, s.x));

  const PetscLogDouble wanted = flops_of_solve(petscs, s), found = flops_of_solve(ours, s);

  EXPECT_TRUE(
      all_ranks(std::abs(found - wanted) <= flops_to_spare(ours, s, f.columns, device && method.petscs == bcgs.petscs)))
      << f.options << ": " << found << " flops, not " << wanted;
}

TEST_P(BothOnHost, CountPetscsFlops) {
  for (const FlopCase& f : flop_cases) expect_petscs_flops(GetParam(), f, false);
}
TEST_P(BothOnDevice, CountPetscsFlops) {
  PETSC_OK(PetscLogDefaultBegin());
  for (const FlopCase& f : flop_cases) expect_petscs_flops(GetParam(), f, true);
}

/// What -ksp_monitor has printed during a solve, a line for each norm.
std::vector<std::string> monitored(const Method& method, const char* loop, bool device, Outcome* o) {
  const std::string file = file_of_run("krylov_monitor", ".txt");
  const std::string options =
      "-solver_pc_type jacobi -solver_ksp_compound_loop " + std::string(loop) + " -solver_ksp_monitor ascii:" + file;
  const Case c{"", options.c_str()};
  const System s(c, device);
  {
    const auto ksp = solver(c, s, method.ours);
    *o = outcome(ksp, s);
    PETSC_OK(KSPMonitorCancel(ksp));  // closes the file
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  std::ifstream in(file);
  std::vector<std::string> norms;
  for (std::string line; std::getline(in, line);)
    if (line.find("KSP Residual norm") != std::string::npos) norms.push_back(line);
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(file.c_str());
  return norms;
}

void expect_norms(const std::vector<std::string>& lines, const Outcome& o) {
  ASSERT_EQ(lines.size(), o.norms.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    char line[100];
    std::snprintf(line, sizeof(line), "%3d KSP Residual norm %14.12e", int(i), double(o.norms[i]));
    EXPECT_EQ(lines[i].rfind(line, 0), 0u) << lines[i];
  }
}

/// A monitor that prints norms does not need x.
TEST_P(BothOnDevice, GoOnUnderMonitorsOfNorms) {
  Outcome o;
  expect_norms(monitored(GetParam(), "persistent", true, &o), o);
  expect_norms(monitored(GetParam(), "graphs", true, &o), o);
  EXPECT_EQ(says(o, "graphs of 8"), size() == 1 || by_peers()) << o.view;
  // Without a preconditioner the norm is that of the residual, which this one builds.
  const Case c{"", "-solver_pc_type none -solver_ksp_compound_loop graphs"};
  const System s(c, true);
  const auto watched = solver(c, s, GetParam().ours);
  PETSC_OK(KSPMonitorSet(watched, look_at_residual, nullptr, nullptr));
  EXPECT_EQ(says(outcome(watched, s), "graphs of 1"), size() == 1 || by_peers());
}

/// On the host a pass of its own brings x up to date where it is watched.
TEST_P(BothOnHost, GoOnUnderMonitorsOfNorms) {
  Outcome o;
  const auto before = event("VecAXPY");
  expect_norms(monitored(GetParam(), "auto", false, &o), o);
  EXPECT_LE(event("VecAXPY").count - before.count, 1);
}

}  // namespace

}  // namespace krylov_test
