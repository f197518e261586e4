#include "tune_case.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "core_source.hpp"
#include "planner/model.hpp"
#include "statistics.hpp"
#include "yardsticks.hpp"

namespace compound::bench::tune {

namespace {

constexpr std::size_t enough_for_percentile = 20;

std::vector<double> seconds_of(const Measured& m) {
  std::vector<double> all;
  for (const Sample& s : m.samples) all.push_back(s.seconds);
  return all;
}

/// By the fewest bytes of dense blocks in compressed rows, as -mat_compound_block_size find counts them.
std::vector<BlockFill> block_fills(const CoreSource& source) {
  const BlockShape given = source.problem.block;
  if (given.rows != given.cols || source.view.entries() == 0) return {};
  std::vector<BlockFill> all;
  double as_given = 0;
  count32 entries = 0;
  detect_block_size(source.view, given.rows, [&](const Reblocked& r) {
    const double bytes = read_bytes(r, Plan{}, source.problem.scalar, core_backend());
    if (all.empty()) as_given = bytes, entries = r.pattern.view().entries();  // the given size comes first
    all.push_back({r.block(), r.fill(entries), bytes / as_given});
    return bytes;
  });
  std::ranges::stable_sort(all, {}, &BlockFill::of_given);
  return all;
}

double padding(const CoreSource& source, const Footprint& f) {
  return source.view.entries() > 0 ? double(f.slots) / double(source.view.entries()) : 0;
}

std::vector<LayoutBytes> layout_bytes(const CoreSource& source, Precision precision) {
  std::vector<LayoutBytes> all;
  for (const Preset& p : presets()) {
    LayoutBytes& row = all.emplace_back();
    try {
      Plan plan = layout_plan(source, std::string(p.name));
      plan.values = precision;
      row.layout = layout_name(plan.layout);
      const Footprint f = bytes_of(source.view, source.problem, plan, core_backend());
      row.bytes = double(f.read.total());
      row.padding = padding(source, f);
    } catch (const error& e) {
      row = {std::string(p.name), INFINITY, 0, e.what()};
    }
  }
  std::ranges::stable_sort(all, {}, &LayoutBytes::bytes);
  return all;
}

Analysis analysed(MPI_Comm comm, const CaseMatrix& c, const CoreSource& source) {
  Analysis a;
  a.numbers = statistics(source.view);
  a.quartiles = row_quartiles(comm, c.arrays());
  a.blocks = block_fills(source);
  return a;
}

Analysis analysed(MPI_Comm comm, const CaseMatrix& c, const CoreSource& source, const Plan& rule) {
  Analysis a = analysed(comm, c, source);
  a.layouts = layout_bytes(source, rule.values);
  a.rule = to_string(rule);
  return a;
}

Plan rule_plan(const CoreSource& source, const TuneOptions& o) {
  return core_plan(source, source.problem, "auto", o.precision);
}

/// As products of libraries are to be.
Problem problem_of(const CoreSource& source, const TuneOptions& o) {
  Problem problem = source.problem;
  problem.repeatable = o.reproducible;
  return problem;
}

/// Those of -plans; what is none goes to `without`.
std::vector<Plan> named_plans(const CoreSource& source, const TuneOptions& o, std::vector<LeftOut>& without) {
  std::vector<Plan> plans;
  for (const std::string& line : o.plans) {
    try {
      plans.push_back(core_plan(source, source.problem, line, o.precision));
    } catch (const error& e) {
      without.push_back({line, e.what()});
    }
  }
  return plans;
}

/// The rule's first. Those that need not be packed to be out go to `without`.
std::vector<Plan> plans_to_time(const SearchedMatrix& m, const CoreSource& source, const Plan& rule,
                                const TuneOptions& o, std::vector<LeftOut>& without) {
  PlansToTry tried = plans_to_try(m, rule, o.search_options(), named_plans(source, o, without));
  if (!o.library.empty())
    if (const std::string why = why_no_library_plan(o.library, rule, m.numbers, m.problem, m.on); !why.empty())
      without.push_back({o.library, why});
  for (const LargePlan& large : tried.left_out) without.push_back({to_string(large.plan), large.why});
  return std::move(tried.plans);
}

/// Counted once for all schedules of a layout.
class Paddings {
 public:
  explicit Paddings(const CoreSource& source) : source_(source) {}
  double operator()(const Plan& plan) {
    const auto known = std::ranges::find(counted_, plan.layout, &Counted::layout);
    if (known != counted_.end()) return known->padding;
    const Footprint f = bytes_of(source_.view, source_.problem, plan, core_backend());
    return counted_.emplace_back(Counted{plan.layout, padding(source_, f)}).padding;
  }

 private:
  struct Counted {
    LayoutSpec layout;
    double padding;
  };
  const CoreSource& source_;
  std::vector<Counted> counted_;
};

void take_times(TuneResult& r, const CoreSource& source, const Measurement& m, const TuneOptions& o) {
  const Measured* const best = best_of(m, o.memory_weight);
  Paddings paddings(source);
  Predictor predictor(source.view, r.analysis.numbers, source.problem, core_backend());
  for (const Measured& one : m.all) {
    if (!one.is_timed()) {
      r.without.push_back({to_string(one.plan), one.failure});
      continue;
    }
    if (&one == best) r.best = r.plans.size(), r.gain = gain(m, one);
    if (one.place == 0) r.rule_s = one.seconds;
    r.plans.push_back({to_string(one.plan), one, paddings(one.plan)});
    if (one.plan.schedule.of_device() && one.plan.schedule.library.empty())
      r.plans.back().predicted_s = predictor.seconds(one.plan);
  }
  r.timing_s = m.timing_s;
  r.packing_s = m.packing_s;
  r.products = m.products;
  if (!best) throw usage_error(r.description + ": no plan could be timed: " + r.without.back().why);
}

void take_yardsticks(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress, TuneResult& r) {
  std::vector<Runner> runners;
  add_yardsticks(comm, c, runners, r.read, r.copy);
  std::vector<Samples> samples = measure(comm, runners, o, progress);
  r.read.samples = std::move(samples.back());
  if (r.copy) r.copy->samples = std::move(samples.front());
}

std::string keep(const TuneResult& r, const SearchedMatrix& m, const Plan& rule, const TuneOptions& o) {
  if (o.wisdom.empty()) return "";
  if (o.weighs_memory()) return "not added to " + o.wisdom + ": it keeps what is fastest, and memory counted here";
  const std::string lost = keep_in_wisdom(m, rule, o.search_options(), r.plans[r.best].measured, r.gain);
  return lost.empty() ? "added to " + o.wisdom : "not added to " + o.wisdom + ": " + lost;
}

}  // namespace

double TunedPlan::median_s() const { return quantile(seconds_of(measured), 0.5); }

double TunedPlan::least_s() const { return quantile(seconds_of(measured), 0); }

std::optional<double> TunedPlan::late_s() const {
  if (measured.samples.size() < enough_for_percentile) return {};
  return quantile(seconds_of(measured), 0.95);
}

double share(const TuneResult& r, const Yardstick& y, const TunedPlan& plan) {
  const double passes_s = statistics_of(y.samples.seconds).median;
  return y.bytes > 0 && passes_s > 0 ? r.compulsory_bytes / plan.median_s() / (y.bytes / passes_s) : 0;
}

std::optional<double> pays_off_after(const TuneResult& r, const TunedPlan& plan) {
  const double gain_s = r.rule_s - plan.measured.seconds;
  if (!(gain_s > 0)) return {};
  return plan.measured.packing_s / gain_s;
}

std::vector<std::size_t> pareto(const std::vector<TunedPlan>& plans) {
  std::vector<std::size_t> places(plans.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(
      places, {}, [&](std::size_t i) { return std::pair(plans[i].measured.seconds, plans[i].measured.bytes); });
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::erase_if(places, [&](std::size_t i) {
    const std::size_t bytes = plans[i].measured.bytes;
    return bytes >= std::exchange(least, std::min(least, bytes));
  });
  return places;
}

std::vector<BlockFill> block_sizes(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, matrix, progress);
  return block_fills(*make_core_source(c, false));
}

std::size_t compile_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& o,
                         Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, matrix, progress);
  const auto source = make_core_source(c, false);
  const PatternStatistics numbers = statistics(source->view);
  const Problem problem = problem_of(*source, o);
  std::vector<LeftOut> without;  // by this matrix: others may take them
  auto plans = candidates(candidates_of(o.search->effort), rule_plan(*source, o), numbers, problem, core_backend(),
                          VectorOrder::petsc, o.library);
  for (const Plan& plan : named_plans(*source, o, without))
    if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);
  if (DeviceControl* const control = core_backend().extensions().control)
    control->compile_ahead(plans, source->problem);
  return plans.size();
}

namespace {

CountedPlan counted(const CoreSource& source, const std::string& asked, Precision precision) {
  CountedPlan p{asked, ""};
  try {
    Plan plan = core_plan(source, source.problem, asked, precision);
    p.line = to_string(plan);
    p.bytes = bytes_of(source.view, source.problem, plan, core_backend());
    p.padding = padding(source, p.bytes);
  } catch (const error& e) {
    p.why = e.what();
  }
  return p;
}

}  // namespace

TuneResult count_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& o,
                      Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, matrix, progress);
  const auto source = make_core_source(c, false);
  TuneResult r;
  r.description = description_of(spec, matrix);
  r.block = c.block;
  progress.say("counting bytes of " + r.description);
  r.analysis = analysed(comm, c, *source);
  for (const std::string& plan : o.counted) r.counted.push_back(counted(*source, plan, o.precision));
  return r;
}

std::string description_of(const CaseSpec& spec, const Options& matrix) {
  return describe(spec, matrix) + (spec.ordering == "natural" ? "" : ", numbered by " + spec.ordering);
}

TuneResult tune_case(MPI_Comm comm, const CaseSpec& spec, const Options& matrix, const TuneOptions& o,
                     Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, matrix, progress);
  const auto source = make_core_source(c, false);
  TuneResult r;
  r.description = description_of(spec, matrix);
  r.block = c.block;
  try {
    const Plan rule = rule_plan(*source, o);
    progress.say("analysing " + r.description);
    r.analysis = analysed(comm, c, *source, rule);
    const EntryShape entry = entry_shape(rule, source->problem);
    const double entry_bytes = double(bytes_of(entry, {source->problem.scalar.field, rule.values}));
    r.compulsory_bytes = compulsory_bytes(c, {entry_bytes, sizeof(PetscScalar), false});
    const Problem problem = problem_of(*source, o);
    const SearchedMatrix m{source->view, r.analysis.numbers, problem, core_backend()};
    const auto plans = plans_to_time(m, *source, rule, o, r.without);
    progress.say("timing " + std::to_string(plans.size()) + " plans");
    SearchOptions options = o.search_options();
    if (isatty(STDERR_FILENO)) options.told = [&](const BestSoFar& best, bool) { progress.say(best.text()); };
    if (o.study.empty()) {
      take_times(r, *source, measured_in_turn(m, plans, source->values, options), o);
    } else {
      r.study = studied(*source, r.analysis.numbers, plans, o.budget_s, options.told);
      take_times(r, *source, r.study->finals, o);
    }
    take_yardsticks(comm, c, matrix, progress, r);
    r.kept = keep(r, m, rule, o);
  } catch (const error& e) {
    throw usage_error(r.description + ": " + e.what());
  }
  return r;
}

}  // namespace compound::bench::tune
