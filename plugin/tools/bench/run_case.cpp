#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "candidate.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "read_bandwidth.hpp"
#include "statistics.hpp"

namespace compound::bench {

std::vector<CaseSpec> cases_of(const Options& o) {
  if (!o.file.empty()) return {{o.block_sizes.empty() ? 0 : o.block_sizes.front(), {}}};
  std::vector<CaseSpec> all;
  for (const double size : o.sizes)
    for (const int block_size : o.block_sizes) {
      const double block_bytes = static_cast<double>(block_size) * block_size * sizeof(PetscScalar);
      Grid grid{o.grid, static_cast<std::int64_t>(size)};
      if (o.size_by == SizeBy::rows) grid = grid_of_rows(*o.grid, size);
      if (o.size_by == SizeBy::megabytes) grid = grid_of_entries(*o.grid, 1e6 * size / block_bytes);
      all.push_back({block_size, grid});
    }
  return all;
}

namespace {

int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

std::string describe(const CaseSpec& spec, const Options& o) {
  if (!spec.grid.kind) return o.file;
  const std::string side = std::to_string(spec.grid.side);
  std::string text = spec.grid.kind->surface ? "surface grid, " + side + "^2 nodes"
                                             : std::string(spec.grid.kind->name) + "-point grid, " + side + "^3 nodes";
  if (o.entry != "dense") text += ", " + o.entry + " blocks";
  if (o.shuffle_window >= spec.grid.rows())
    text += ", rows shuffled";
  else if (o.shuffle_window > 1)
    text += ", rows shuffled within " + std::to_string(o.shuffle_window);
  return text;
}

Matrix generate(MPI_Comm comm, const CaseSpec& spec, const Options& o) {
  BlockRows rows;
  std::optional<ValueRule> rule;
  collectively(comm, [&] {
    rule.emplace(o.entry, spec.block_size, o.seed);
    const double scalars = static_cast<double>(spec.grid.rows()) * spec.block_size;
    if (scalars > static_cast<double>(std::numeric_limits<PetscInt>::max()))
      throw std::invalid_argument("the matrix would have more rows than PETSc's indices count; choose a smaller case");
    const Share share = share_of_rank(comm, spec.grid.rows());
    rows = grid_rows(spec.grid, Shuffle(spec.grid.rows(), o.shuffle_window, o.seed), share.first, share.rows);
  });
  return assemble(comm, rows, spec.block_size, &*rule);
}

CaseMatrix prepare(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.grid.kind) {
    progress.say("assembling " + describe(spec, o),
                 double(spec.grid.entries()) * spec.block_size * spec.block_size > 1e7);
    check_memory(comm, {double(spec.grid.rows()), double(spec.grid.entries()), spec.block_size}, o);
    return make_case(generate(comm, spec, o), o.operation, o.seed);
  }
  progress.say("reading " + o.file);
  CaseMatrix c = make_case(load(comm, o.file, spec.block_size), o.operation, o.seed);
  check_memory(comm, {double(c.block_rows), double(c.entries), c.block_size}, o);
  return c;
}

/// Compares results with the first candidate's.
class Check {
 public:
  Check(MPI_Comm comm, const CaseMatrix& c) : comm_(comm), case_(c) {}

  void operator()(const Candidate& candidate, CandidateResult& result) {
    const std::vector<PetscScalar> y = candidate.result();
    const Storage storage = storage_of(candidate, case_);
    if (reference_.empty()) {
      reference_ = y;
      reference_single_ = storage.single;
    }
    double largest[2] = {0, 0};  // difference, component
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double wanted = std::abs(reference_[i]);
      largest[0] = std::max(largest[0], distance(y[i], reference_[i]));
      if (std::isfinite(wanted)) largest[1] = std::max(largest[1], wanted);
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm_);
    const double scale = largest[1] > 0 ? largest[1] : 1;
    result.error = largest[0] / scale;
    result.allowed_error = allowed(storage.single || reference_single_) / scale;
    if (result.error == 0 || result.error <= result.allowed_error) return;
    throw usage_error("candidate '" + candidate.name() +
                      "' is wrong: its result differs from the first candidate's by " + std::to_string(result.error) +
                      " of its largest component, allowed are " + std::to_string(result.allowed_error) +
                      "; -no_check times it nevertheless");
  }

 private:
  /// Infinite if just one of them is not finite: a matrix with NaNs has NaNs in every candidate's result.
  static double distance(PetscScalar a, PetscScalar b) {
    const bool finite[2] = {std::isfinite(std::abs(a)), std::isfinite(std::abs(b))};
    if (finite[0] != finite[1]) return INFINITY;
    return finite[0] ? std::abs(a - b) : 0;
  }

  /// 8 eps x additions of a component x |A| |x|. A transposed product may add up as many as there are rows.
  double allowed(bool single) const {
    const double eps = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const std::int64_t blocks = case_.operation == Operation::transpose ? case_.block_rows : case_.longest_row;
    const double added = case_.operation == Operation::multadd ? 1 : 0;
    return 8 * eps * static_cast<double>(blocks * case_.block_size + 1) * (case_.norm * case_.x_norm + added);
  }

  MPI_Comm comm_;
  const CaseMatrix& case_;
  std::vector<PetscScalar> reference_;
  bool reference_single_ = false;
};

std::vector<std::unique_ptr<Candidate>> make_candidates(MPI_Comm comm, const CaseMatrix& c, const Options& o,
                                                        Progress& progress) {
  std::vector<std::unique_ptr<Candidate>> all;
  for (const std::string& type : o.types) {
    progress.say("converting to " + type);
    all.push_back(make_type_candidate(c, type));
  }
  for (const std::string& plan : o.plans) {
    progress.say("copying for plan " + plan);
    all.push_back(make_plan_candidate(c, plan));
  }
  if (o.core_plans.empty()) return all;
  if (size_of(comm) > 1) throw usage_error("-core_plans run on one rank: the core knows no MPI; leave mpirun out");
  const auto source = make_core_source(c, o.core_float);
  for (const std::string& plan : o.core_plans) all.push_back(make_core_candidate(c, source, plan));
  return all;
}

std::size_t baseline_of(const std::vector<std::unique_ptr<Candidate>>& all, const Options& o) {
  const std::string wanted = o.baseline.empty() ? "baij" : o.baseline;
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->name() == wanted) return i;
    names += (names.empty() ? "'" : ", '") + all[i]->name() + "'";
  }
  if (o.baseline.empty()) return 0;
  throw usage_error("-baseline '" + o.baseline + "' is not a candidate; choose " + names);
}

/// The first product packs, so it is timed; steady products are not known yet.
void first_product(MPI_Comm comm, Candidate& candidate, CandidateResult& result) {
  result.name = candidate.name();
  result.kind = candidate.kind();
  result.first_pack_s = timed(comm, [&] { candidate.multiply(); });
  result.plan = candidate.plan();
}

/// After the rounds, which give the time of a steady product.
void packing_times(Candidate& candidate, CandidateResult& result) {
  const double steady_s = statistics_of(result.samples.seconds).median;
  std::vector<double> first = {std::max(0.0, result.first_pack_s - steady_s) + candidate.preparation_s()}, values;
  for (int i = 0; i < 3; ++i) values.push_back(candidate.new_values_s(steady_s));
  for (int i = 0; i < 2; ++i)  // one sample alone would be at the mercy of the machine's other work
    if (const double again_s = candidate.pack_again_s(steady_s); again_s >= 0) first.push_back(again_s);
  result.first_pack_s = statistics_of(first).median;
  result.new_values_s = statistics_of(values).median;
}

void take_read(MPI_Comm comm, const CaseMatrix& c, std::vector<Runner>& runners, CaseResult& result) {
  runners.push_back({"plain read", [parts = block_arrays(c.parent), area = std::size_t(c.block_size * c.block_size)] {
                       // Without a use of the sums the compiler might leave them out.
                       [[maybe_unused]] static volatile std::uint64_t sink;
                       for (const BlockArrays& p : parts) {
                         const auto entries = static_cast<std::size_t>(p.entries());
                         sink = streaming_sum(p.values, entries * area * sizeof(PetscScalar)) +
                                streaming_sum(p.column, entries * sizeof(PetscInt));
                       }
                     }});
  double bytes = static_cast<double>(c.read_bytes);
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  result.read_bytes = bytes;
  result.read_kernel = streaming_sum_name();
}

double norm_of(MPI_Comm comm, const std::vector<PetscScalar>& y) {
  double sum = 0;
  for (const PetscScalar v : y) sum += std::norm(v);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return std::sqrt(sum);
}

CaseResult head_of(MPI_Comm comm, const CaseSpec& spec, const CaseMatrix& c, const Options& o) {
  CaseResult r;
  r.description = describe(spec, o);
  r.block_size = c.block_size;
  r.ranks = size_of(comm);
  r.block_rows = c.block_rows;
  r.block_columns = c.block_columns;
  r.entries = c.entries;
  r.longest_row = c.longest_row;
  r.value_bytes = static_cast<double>(c.entries) * c.block_size * c.block_size * sizeof(PetscScalar);
  return r;
}

/// Every candidate once on a small matrix: what is wrong with a type or plan shows before the large one is assembled,
/// and code is loaded before first products are timed.
void rehearse(MPI_Comm comm, int block_size, const Options& o, Progress& progress) {
  const CaseSpec small{block_size, {find_grid("7"), 4}};
  Options options = o;
  options.entry = "identity";  // fits all kinds of entry that plans may ask for
  options.shuffle_window = 1;
  const CaseMatrix c = make_case(generate(comm, small, options), o.operation, o.seed);
  const auto candidates = make_candidates(comm, c, o, progress);
  baseline_of(candidates, o);
  for (const auto& candidate : candidates) {
    candidate->multiply();
    candidate->new_values_s(0);
    candidate->pack_again_s(0);
  }
}

}  // namespace

CaseResult run_case(MPI_Comm comm, const CaseSpec& spec, const Options& o, Progress& progress) {
  if (spec.grid.kind) rehearse(comm, spec.block_size, o, progress);
  const CaseMatrix c = prepare(comm, spec, o, progress);
  if (!spec.grid.kind) rehearse(comm, c.block_size, o, progress);
  CaseResult r = head_of(comm, spec, c, o);
  const auto candidates = make_candidates(comm, c, o, progress);
  r.baseline = baseline_of(candidates, o);
  Check check(comm, c);
  std::vector<Runner> runners;
  for (const auto& candidate : candidates) {
    CandidateResult& result = r.candidates.emplace_back();
    first_product(comm, *candidate, result);
    result.compulsory_bytes = compulsory_bytes(c, storage_of(*candidate, c));
    if (r.candidates.size() == 1) r.result_norm = norm_of(comm, candidate->result());  // the next overwrites y
    if (o.check) check(*candidate, result);
    runners.push_back({candidate->name(), [raw = candidate.get()] { raw->multiply(); }});
  }
  take_read(comm, c, runners, r);
  std::vector<Samples> samples = measure(comm, runners, o, progress);
  r.read = std::move(samples.back());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    r.candidates[i].samples = std::move(samples[i]);
    packing_times(*candidates[i], r.candidates[i]);
    const Bytes bytes = candidates[i]->bytes();
    r.candidates[i].parent_bytes = bytes.parent;
    r.candidates[i].packed_bytes = bytes.packed;
  }
  return r;
}

}  // namespace compound::bench
