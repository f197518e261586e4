#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "check.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace compound::bench {

namespace {

using Candidates = std::vector<std::unique_ptr<Candidate>>;

/// What cuSPARSE refuses is told and left out: which of its products take a matrix is one of the results.
void add_cusparse(const CaseMatrix& c, const Options& o, Progress& progress, Candidates& all, Record& left) {
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
      left.push_back({{"name", "cusparse " + name}, {"why", e.what()}});
    }
  }
}

void add_core(const CaseMatrix& c, const Options& o, Candidates& all, Record& left) {
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
      left.push_back({{"name", "hamilton " + plan}, {"why", e.what()}});
    }
}

void check_one_rank(MPI_Comm comm, const Options& o) {
  if (ranks_of(comm) == 1) return;
  if (o.renumber != std::vector<std::string>{"natural"})
    throw usage_error("-renumber runs on one rank: PETSc's orderings are sequential; leave mpirun out");
  if (o.wants_core()) throw usage_error("-core_plans run on one rank: the core knows no MPI; leave mpirun out");
  if (!o.cusparse.empty()) throw usage_error("-cusparse runs on one rank: cuSPARSE knows no MPI; leave mpirun out");
}

Candidates make_candidates(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress, Record& left) {
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

void take_times(Record& row, const std::string& name, const std::vector<double>& seconds) {
  row[name + "_median_s"] = statistics_of(seconds).median;
  row[name + "_samples_s"] = seconds;
}

/// Products alone, with cold caches, in rounds as the hot ones.
void cold_times(const Candidates& candidates, const Options& o, Progress& progress, Record& rows) {
  constexpr int products_a_round = 5;
  std::vector<std::vector<double>> all(candidates.size());
  for (int round = 0; round < o.rounds; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i]->on_device()) continue;
      progress.say("cold round " + std::to_string(round + 1) + ", " + candidates[i]->name());
      const auto seconds = used_device()->cold_seconds([&] { candidates[i]->multiply(); }, products_a_round);
      all[i].insert(all[i].end(), seconds.begin(), seconds.end());
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].empty()) take_times(rows[i], "cold", all[i]);
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

void graph_times(MPI_Comm comm, const Candidates& candidates, const Options& o, Progress& progress, Record& rows) {
  std::vector<Runner> runners;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (const auto replay = replay_of(*candidates[i])) {
      runners.push_back({"replay of " + candidates[i]->name(), replay});
      which.push_back(i);
    }
  const std::vector<Record> samples = measure(comm, runners, o, progress);
  for (std::size_t n = 0; n < which.size(); ++n) {
    std::vector<double> seconds = samples_of(samples[n]);
    for (double& s : seconds) s /= captured_products;
    take_times(rows[which[n]], "graph", seconds);
  }
}

/// The first product packs, so it is timed; steady products are not known yet.
Record first_product(MPI_Comm comm, const CaseMatrix& c, Candidate& candidate, const Options& o, Check& check) {
  const double seconds = timed(comm, [&] { candidate.multiply(); });
  Record row = {{"name", candidate.name()},
                {"kind", candidate.kind()},
                {"plan", candidate.plan()},
                {"compulsory_bytes", compulsory_bytes(c, storage_of(candidate, c))},
                {"first_pack_s", seconds}};
  if (o.check) check(candidate, row);
  return row;
}

/// After the rounds, which give the time of a steady product.
void packing_times(const CaseMatrix& c, Candidate& candidate, Record& row) {
  const double steady_s = row.at("median_s"), first_s = row.at("first_pack_s");
  std::vector<double> first = {std::max(0.0, first_s - steady_s) + candidate.preparation_s()}, values;
  // One short sample alone would be at the mercy of the machine's other work.
  constexpr double long_enough_s = 0.5;
  do values.push_back(candidate.new_values_s(steady_s));
  while (values.size() < 3 && values.front() < long_enough_s);
  const double there_s = candidate.new_values_there_s();
  for (int i = 0; i < 2 && first.front() < long_enough_s; ++i)
    if (const double again_s = candidate.pack_again_s(steady_s); again_s >= 0) first.push_back(again_s);
  const Bytes bytes = candidate.bytes();
  row.update({{"first_pack_s", statistics_of(first).median},
              {"new_values_s", statistics_of(values).median},
              {"parent_bytes", bytes.parent},
              {"packed_bytes", bytes.packed}});
  if (there_s >= 0) row["new_values_there_s"] = there_s;
  if (candidate.slots() > 0 && c.entries > 0) row["padding"] = candidate.slots() / static_cast<double>(c.entries);
}

/// What a packed copy may take now.
double most_bytes(MPI_Comm comm, const Options& o) {
  if (used_device()) return 0.95 * used_device()->free_bytes();
  if (o.memory_limit_bytes > 0) return o.memory_limit_bytes;
  const double available = available_bytes(comm);
  return available > 0 ? 0.7 * available : std::numeric_limits<double>::infinity();
}

/// Products in each layout that was asked for; one packed copy is in memory at a time. What is refused or too large is
/// told.
Record layout_rows(MPI_Comm comm, const CaseMatrix& c, const Options& o, Check& check, Progress& progress) {
  Record rows;
  const auto source = make_core_source(c, o.core_float);
  for (const std::string& layout : o.layouts) try {
      progress.say("packing as " + layout);
      const auto candidate = make_layout_candidate(c, source, layout, most_bytes(comm, o));
      const auto multiply = [&] { candidate->multiply(); };
      Record row = first_product(comm, c, *candidate, o, check);
      row["name"] = layout;
      row.update(measure(comm, {{layout, multiply}}, o, progress).front());
      if (o.cold && candidate->on_device()) take_times(row, "cold", used_device()->cold_seconds(multiply, 20));
      packing_times(c, *candidate, row);
      rows.push_back(row);
    } catch (const left_out& e) {
      rows.push_back({{"name", layout}, {"why", e.what()}});
    }
  return rows;
}

double norm_of(MPI_Comm comm, const std::vector<PetscScalar>& y) {
  double sum = 0;
  for (const PetscScalar v : y) sum += std::norm(v);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(sum);
}

Record head_of(MPI_Comm comm, const CaseSpec& spec, const CaseMatrix& c, const Options& o) {
  const std::string matrix = describe(spec, o);
  Record r = {{"description", description_of(spec, o)},
              {"matrix", matrix},  // in whatever order its rows are
              {"block", block_text(c.block)},
              {"block_size", c.block.rows},
              {"block_shape", {c.block.rows, c.block.cols}},
              {"block_rows", c.block_rows},
              {"block_columns", c.block_columns},
              {"blocks", c.entries},
              {"longest_row", c.longest_row},
              {"ordering", spec.ordering},
              {"ordering_s", c.ordering_s},
              {"value_bytes", static_cast<double>(c.entries * c.area()) * sizeof(PetscScalar)},
              {"ranks", ranks_of(comm)},
              {"result_norm", 0.0}};
  r.update(row_quartiles(comm, c.arrays()));
  return r;
}

/// Every candidate once on a small matrix: what is wrong with a type or plan shows before the large one is assembled,
/// and code is loaded before first products are timed.
void rehearse(MPI_Comm comm, const BlockShape& block, const Options& o, Progress& progress) {
  const CaseMatrix c = small_case(comm, block, o);
  Record told_later;
  const auto candidates = make_candidates(comm, c, o, progress, told_later);
  baseline_of(candidates, o);
  for (const auto& candidate : candidates) {
    candidate->multiply();
    candidate->new_values_s(0);
    candidate->pack_again_s(0);
  }
}

}  // namespace

Record run_case(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.grid.kind) rehearse(comm, spec.multiplied(), o, progress);
  const CaseMatrix c = prepare(comm, spec, o, progress);
  if (!spec.grid.kind) rehearse(comm, c.block, o, progress);
  Record r = head_of(comm, spec, c, o), rows, left;
  Candidates candidates = make_candidates(comm, c, o, progress, left);
  const std::size_t baseline = baseline_of(candidates, o);
  Check check(comm, c, !c.parent || candidates.empty());
  std::vector<Runner> runners;
  for (const auto& candidate : candidates) {
    rows.push_back(first_product(comm, c, *candidate, o, check));
    if (rows.size() == 1) r["result_norm"] = norm_of(comm, candidate->result());  // the next overwrites y
    runners.push_back({candidate->name(), [raw = candidate.get()] { raw->multiply(); }});
  }
  add_yardsticks(comm, c, runners, r);
  if (ranks_of(comm) == 1) r["entry_check"] = time_entry_check(c);
  const std::vector<Record> samples = measure(comm, runners, o, progress);
  take_yardsticks(samples, r);
  for (std::size_t i = 0; i < candidates.size(); ++i) rows[i].update(samples[i]);
  if (o.cold) cold_times(candidates, o, progress, rows);
  if (o.graph) graph_times(comm, candidates, o, progress, rows);
  for (std::size_t i = 0; i < candidates.size(); ++i) packing_times(c, *candidates[i], rows[i]);
  if (!o.assembled.empty()) r.update(time_coo(comm, c, o, progress));
  candidates.clear();  // what follows needs the memory
  if (!o.inserted.empty()) r["assembly"] = time_assembly(comm, c, o, progress);
  if (!o.of_dense.empty()) r["dense"] = time_dense(comm, c, o, progress);
  if (!o.solvers.empty()) r["ksp"] = time_ksp(comm, c, o, progress);
  if (!o.of_columns.empty()) r["columns"] = time_columns(comm, c, o, progress);
  if (!o.layouts.empty()) r["layouts"] = layout_rows(comm, c, o, check, progress);
  if (!left.empty()) r["left_out"] = left;
  if (!rows.empty()) r["candidates"] = rows;
  relate(r, baseline);
  return r;
}

}  // namespace compound::bench
