// Kernels of loops, and of products that a dot product follows, compile by NVRTC, on machines without a GPU too.
#include <gtest/gtest.h>

#include <vector>

#include "backend/krylov_loop.hpp"
#include "cuda/followed_plans.hpp"
#include "cuda/kernel_source.hpp"
#include "support/compiles.hpp"

namespace compound::test {
namespace {

/// Complex ones have all that real ones have.
const std::vector<ScalarType> scalars = [] {
  std::vector<ScalarType> all = {scalar_type_of<complex_number<float>>()};
#if !defined(__SANITIZE_ADDRESS__)  // NVRTC takes three times as long with it, and what is checked is our writing alone
  if (all_kernels_compile()) all.push_back(scalar_type_of<double>());
#endif
  return all;
}();

/// Of two choices of two each, the tier quick compiles both values of each once.
bool is_compiled(bool one, bool other) { return all_kernels_compile() || one == other; }

/// In the tier quick each of `lines` goes with one of two choices, in turn.
bool is_turn_of(std::size_t line, bool choice) { return all_kernels_compile() || (line % 2 == 1) == choice; }

/// Processes that no kernel of which runs here.
class SomePeers final : public Peers {
 public:
  int rank() const override { return 0; }
  int processes() const override { return 2; }
  std::unique_ptr<PeerExchange> exchange(const ExchangeTask&) override { return nullptr; }
  std::optional<int> lost() const override { return {}; }
  const std::string& shared_device() const override { return none_; }

 private:
  std::string none_;
};

class KrylovSource : public ByNvrtc {};
class ExchangeSource : public ByNvrtc {};
class PassSource : public ByNvrtc {};
class WholeLoopSource : public ByNvrtc {};
class DotSource : public ByNvrtc {};

/// Of one process, or of several; in the tier quick CG is that of one.
TEST_F(KrylovSource, Compiles) {
  SomePeers peers;
  const std::vector<std::string> of_cg = {"cg_step", "cg_project", "cg_turn"},
                                 of_bcgs = {"bcgs_first",          "bcgs_project_first", "bcgs_half", "bcgs_second",
                                            "bcgs_project_second", "bcgs_step",          "bcgs_turn"};
  for (const ScalarType scalar : scalars)
    for (const int columns : {0, 3})
      for (const KrylovNorm norm : {KrylovNorm::preconditioned, KrylovNorm::natural})
        for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bcgs})
          for (const bool several : {false, true}) {
            if (!is_compiled(columns == 3, norm == KrylovNorm::natural)) continue;
            if (!is_compiled(method == KrylovMethod::bcgs, several)) continue;
            KrylovProblem p{method, scalar, 100, columns, norm, columns != 0};
            p.null_space = columns == 0 ? NullSpace{} : NullSpace{norm == KrylovNorm::natural, 5};
            if (several) p.peers = &peers;
            using enum cuda::StageSums;
            std::vector<cuda::StageSums> ends = {alone};
            if (several) ends = {met, before_gathering, after_gathering};
            std::vector<std::string> stages = method == KrylovMethod::cg ? of_cg : of_bcgs;
            if (several) stages.push_back("meet_dot");
            for (std::size_t i = 0; i < stages.size(); ++i)
              for (std::size_t k = 0; k < ends.size(); ++k)
                if (all_kernels_compile() || i % ends.size() == k)  // in the tier quick each stage with one of them
                  expect_third_compiles(cuda::krylov_stage_source(p, stages[i], ends[k]));
            if (method == KrylovMethod::cg && !several)
              expect_third_compiles(cuda::krylov_systems_source(p, "cg_step"));
            expect_third_compiles(cuda::krylov_source(p, "krylov_go_on", "krylov_limits"));
            expect_third_compiles(cuda::krylov_source(p, "krylov_set_unit", "krylov_unit"));
          }
}

TEST_F(ExchangeSource, Compiles) {
  for (const ScalarType scalar : scalars)
    for (const cuda::ExchangeStep step : cuda::exchange_steps) expect_compiles(cuda::exchange_source(scalar, step));
}

/// Passes between which others multiply and precondition.
TEST_F(PassSource, Compiles) {
  for (const char* pass : {"cg_step_pass", "cg_turn_pass", "cg_advance_pass", "cg_sums_pass", "bcgs_first_pass",
                           "bcgs_half_pass", "bcgs_second_pass", "bcgs_step_pass", "bcgs_turn_pass"})
    for (const ScalarType scalar : scalars)
      for (const bool hermitian : {false, true})
        for (const bool diagonal : {false, true})
          if (is_compiled(hermitian, diagonal)) expect_compiles(cuda::pass_source(scalar, hermitian, diagonal, pass));
}

/// All iterations in one kernel, by every sort of product that can be among its stages.
TEST_F(WholeLoopSource, Compiles) {
  for (std::size_t n = 0; n < std::size(followed_lines); ++n) {
    const Plan plan = followed_plan<double>(followed_lines[n]);
    if (plan.schedule.traversal == Traversal::slots) continue;
    for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bcgs})
      for (const ScalarType scalar : scalars) {
        KrylovProblem p{method, scalar, 100, 3, KrylovNorm::preconditioned, method == KrylovMethod::cg};
        for (const bool two_grid_syncs : {false, true}) {
          if (!is_turn_of(n, method == KrylovMethod::bcgs)) continue;
          if (!is_compiled(method == KrylovMethod::bcgs, two_grid_syncs)) continue;
          p.null_space = {two_grid_syncs, two_grid_syncs ? 5 : 0};
          expect_third_compiles(cuda::whole_loop_source(p, {plan, {{3, 3}, scalar}, false, true}, nullptr,
                                                        {two_grid_syncs, two_grid_syncs}));
        }
      }
  }
}

/// The same of several processes, with ghosts or without.
TEST_F(WholeLoopSource, CompilesForSeveralProcesses) {
  SomePeers peers;
  const Plan plan = followed_plan<double>(followed_lines[0]);
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bcgs})
    for (const ScalarType scalar : scalars)
      for (const bool two_grid_syncs : {false, true})
        for (const bool ghosts : {false, true}) {
          if (!is_compiled(method == KrylovMethod::bcgs, two_grid_syncs != ghosts)) continue;
          if (!is_compiled(scalar.precision == Precision::single, ghosts)) continue;
          KrylovProblem p{method, scalar, 100, 1, KrylovNorm::preconditioned, true};
          p.null_space = {two_grid_syncs, 0};
          p.peers = &peers;
          const Problem problem{{3, 3}, scalar};
          const cuda::LoopProduct product{plan, problem, false, true};
          expect_compiles(
              cuda::whole_loop_source(p, product, ghosts ? &product : nullptr, {two_grid_syncs, two_grid_syncs}));
        }
}

TEST_F(DotSource, Compiles) {
  const Problem real{{3, 3}, scalar_type_of<double>()}, complex{{1, 1}, scalar_type_of<complex_number<float>>()};
  for (std::size_t n = 0; n < std::size(followed_lines); ++n) {
    const Plan plan = followed_plan<double>(followed_lines[n]);
    for (const Problem& problem : {real, complex}) {
      if (!is_turn_of(n, problem.block.rows == 1)) continue;
      expect_third_compiles(
          cuda::product_source(plan, problem, Op::none, Update::assign, false, false, true, Follow::dot));
      if (plan.schedule.traversal != Traversal::slots) continue;
      expect_third_compiles(cuda::carries_source(plan, problem, Op::none, Follow::bilinear));
    }
  }
}

/// What follows must cost nothing where it is not asked for.
TEST_F(DotSource, IsThatOfProductsAloneWhereNothingFollows) {
  const Plan plan = followed_plan<double>("sell:32 rows");
  const Problem problem{{3, 3}, scalar_type_of<double>()};
  const std::string source = cuda::product_source(plan, problem, Op::none, Update::assign, false, false, true);
  EXPECT_EQ(source.find("follow"), std::string::npos) << source;
}

TEST(HostBackend, RunsNoLoops) { EXPECT_EQ(backend("host").extensions().krylov, nullptr); }

}  // namespace
}  // namespace compound::test
