#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "candidate_times.hpp"
#include "check.hpp"
#include "coo.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "ksp.hpp"
#include "layout_times.hpp"
#include "memory.hpp"
#include "statistics.hpp"
#include "yardsticks.hpp"

namespace compound::bench {

namespace {

using Candidates = std::vector<std::unique_ptr<Candidate>>;

/// What cuSPARSE refuses is told and left out: which of its products take a matrix is one of the results.
void add_cusparse(const CaseMatrix& c, const Options& o, Progress& progress, Candidates& all,
                  std::vector<LeftOut>& left) {
  std::map<CusparseScalars, std::shared_ptr<CusparseSource>> sources;
  for (const std::string& name : o.cusparse) {
    progress.say("converting for cuSPARSE's " + name);
    const CusparseKind& kind = *find_cusparse(name);
    const std::optional<std::string> why = why_not_cusparse(kind, c.block, c.entries);
    try {
      if (why) throw left_out(*why);
      auto& source = sources[kind.scalars];
      if (!source) source = make_cusparse_source(c, o.core_float, kind.scalars);
      all.push_back(make_cusparse_candidate(source, kind));
    } catch (const left_out& e) {
      left.push_back({"cusparse " + name, e.what()});
    }
  }
}

void add_core(const CaseMatrix& c, const Options& o, Candidates& all, std::vector<LeftOut>& left) {
  std::shared_ptr<CoreSource> source, in_rows;
  const auto made = [&](std::shared_ptr<CoreSource>& of, ValueOrder order) {
    return of ? of : of = make_core_source(c, o.core_float, order);
  };
  for (const std::string& plan : o.core_plans)
    all.push_back(make_core_candidate(
        c, plan.find("words=rows") == plan.npos ? made(source, ValueOrder::blocks) : made(in_rows, ValueOrder::rows),
        plan));
  for (const std::string& plan : o.hamilton) try {
      all.push_back(make_hamilton_candidate(c, made(source, ValueOrder::blocks), plan));
    } catch (const left_out& e) {
      left.push_back({"hamilton " + plan, e.what()});
    }
}

void check_one_rank(MPI_Comm comm, const Options& o) {
  if (ranks_of(comm) == 1) return;
  if (o.renumber != std::vector<std::string>{"natural"})
    throw usage_error("-renumber runs on one rank: PETSc's orderings are sequential; leave mpirun out");
  if (!o.core_plans.empty()) throw usage_error("-core_plans run on one rank: the core knows no MPI; leave mpirun out");
  if (!o.hamilton.empty()) throw usage_error("-hamilton runs on one rank: the core knows no MPI; leave mpirun out");
  if (!o.layouts.empty()) throw usage_error("-layouts runs on one rank: the core knows no MPI; leave mpirun out");
  if (!o.cusparse.empty()) throw usage_error("-cusparse runs on one rank: cuSPARSE knows no MPI; leave mpirun out");
}

Candidates make_candidates(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress,
                           std::vector<LeftOut>& left) {
  check_one_rank(comm, o);
  Candidates all;
  for (const std::string& type : o.types) {
    progress.say("converting to " + type);
    all.push_back(make_type_candidate(c, type));
  }
  for (const std::string& plan : o.plans) {
    progress.say("copying for plan " + plan);
    all.push_back(make_plan_candidate(c, plan));
  }
  if (!o.cusparse.empty()) add_cusparse(c, o, progress, all, left);
  if (!o.core_plans.empty() || !o.hamilton.empty()) add_core(c, o, all, left);
  return all;
}

std::size_t baseline_of(const Candidates& all, const Options& o) {
  const std::string wanted = o.baseline.empty() ? "baij" : o.baseline;
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->name() == wanted) return i;
    names += (names.empty() ? "'" : ", '") + all[i]->name() + "'";
  }
  if (o.baseline.empty() || all.empty()) return 0;
  throw usage_error("-baseline '" + o.baseline + "' is not a candidate; choose " + names);
}

/// Products alone, with cold caches, in rounds as the hot ones.
void cold_times(const Candidates& candidates, const Options& o, Progress& progress, CaseResult& result) {
  constexpr int products_a_round = 5;
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i]->on_device()) continue;
      progress.say("cold round " + std::to_string(round + 1) + ", " + candidates[i]->name());
      const auto seconds = used_device()->cold_seconds([&] { candidates[i]->multiply(); }, products_a_round);
      result.candidates[i].cold_s.insert(result.candidates[i].cold_s.end(), seconds.begin(), seconds.end());
    }
}

constexpr int captured_products = 20;

/// Empty unless the candidate's products can be put in a queue of choice and captured there.
std::function<void()> replay_of(Candidate& candidate) {
  if (!candidate.on_device() || !candidate.use_queue(nullptr)) return {};
  auto replay = used_device()->captured([&](void* queue) {
    candidate.use_queue(queue);
    for (int i = 0; i < captured_products; ++i) candidate.multiply();
  });
  candidate.use_queue(nullptr);
  return replay;
}

void graph_times(MPI_Comm comm, const Candidates& candidates, const Options& o, Progress& progress,
                 CaseResult& result) {
  std::vector<Runner> runners;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (const auto replay = replay_of(*candidates[i])) {
      runners.push_back({"replay of " + candidates[i]->name(), replay});
      which.push_back(i);
    }
  const std::vector<Samples> samples = measure(comm, runners, o, progress);
  for (std::size_t n = 0; n < which.size(); ++n)
    for (const double seconds : samples[n].seconds)
      result.candidates[which[n]].graph_s.push_back(seconds / captured_products);
}

double norm_of(MPI_Comm comm, const std::vector<PetscScalar>& y) {
  double sum = 0;
  for (const PetscScalar v : y) sum += std::norm(v);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(sum);
}

CaseResult head_of(MPI_Comm comm, const CaseSpec& spec, const CaseMatrix& c, const Options& o) {
  CaseResult r;
  r.matrix = r.description = describe(spec, o);
  if (spec.ordering != "natural") r.description += ", numbered by " + spec.ordering;
  r.ordering = spec.ordering;
  r.ordering_s = c.ordering_s;
  r.row_quartiles = row_quartiles(comm, c.arrays());
  r.block = c.block;
  r.ranks = ranks_of(comm);
  r.block_rows = c.block_rows;
  r.block_columns = c.block_columns;
  r.entries = c.entries;
  r.longest_row = c.longest_row;
  r.value_bytes = static_cast<double>(c.entries * c.area()) * sizeof(PetscScalar);
  return r;
}

/// Every candidate once on a small matrix: what is wrong with a type or plan shows before the large one is assembled,
/// and code is loaded before first products are timed.
void rehearse(MPI_Comm comm, const BlockShape& block, const Options& o, Progress& progress) {
  const CaseMatrix c = small_case(comm, block, o);
  std::vector<LeftOut> told_later;
  const auto candidates = make_candidates(comm, c, o, progress, told_later);
  baseline_of(candidates, o);
  for (const auto& candidate : candidates) {
    candidate->multiply();
    candidate->new_values_s(0);
    candidate->pack_again_s(0);
  }
}

}  // namespace

CaseResult run_case(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.grid.kind) rehearse(comm, spec.block, o, progress);
  const CaseMatrix c = prepare(comm, spec, o, progress);
  if (!spec.grid.kind) rehearse(comm, c.block, o, progress);
  CaseResult r = head_of(comm, spec, c, o);
  Candidates candidates = make_candidates(comm, c, o, progress, r.left_out);
  r.baseline = baseline_of(candidates, o);
  Check check(comm, c, !c.parent || candidates.empty());
  std::vector<Runner> runners;
  for (const auto& candidate : candidates) {
    CandidateResult& result = r.candidates.emplace_back();
    first_product(comm, *candidate, result);
    result.compulsory_bytes = compulsory_bytes(c, storage_of(*candidate, c));
    if (r.candidates.size() == 1) r.result_norm = norm_of(comm, candidate->result());  // the next overwrites y
    if (o.check) check(*candidate, result);
    runners.push_back({candidate->name(), [raw = candidate.get()] { raw->multiply(); }});
  }
  add_yardsticks(comm, c, runners, r.read, r.copy);
  if (r.ranks == 1) r.entry_check = time_entry_check(c);
  std::vector<Samples> samples = measure(comm, runners, o, progress);
  r.read.samples = std::move(samples.back());
  if (r.copy) r.copy->samples = std::move(samples[candidates.size()]);
  if (o.cold) cold_times(candidates, o, progress, r);
  if (o.graph) graph_times(comm, candidates, o, progress, r);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    r.candidates[i].samples = std::move(samples[i]);
    packing_times(*candidates[i], r.candidates[i]);
  }
  if (o.coo) time_coo(comm, c, o, progress, r);
  candidates.clear();  // what follows needs the memory
  if (!o.ksp.empty()) time_ksp(comm, c, o, progress, r);
  if (!o.layouts.empty()) time_layouts(comm, c, o, check, progress, r);
  return r;
}

}  // namespace compound::bench
