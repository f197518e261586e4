#include "tune_case.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "core_source.hpp"
#include "finals.hpp"
#include "pattern/block_size.hpp"
#include "planner/model.hpp"
#include "report.hpp"
#include "text.hpp"

namespace compound::bench::tune {

namespace {

constexpr std::size_t enough_for_percentile = 20;

/// By the fewest bytes of dense blocks in compressed rows, as -mat_compound_block_size find counts them. None where
/// blocks are not square.
Record block_fills(const CoreSource& source) {
  const BlockShape given = source.problem.block;
  Record all = Record::array();
  if (given.rows != given.cols || source.view.entries() == 0) return all;
  double as_given = 0;
  count32 entries = 0;
  detect_block_size(source.view, given.rows, [&](const Reblocked& r) {
    const double bytes = read_bytes(r, Plan{}, source.problem.scalar, core_backend());
    if (all.empty()) as_given = bytes, entries = r.pattern.view().entries();  // the given size comes first
    all.push_back({{"block", block_text(r.block())}, {"fill", r.fill(entries)}, {"bytes_of_given", bytes / as_given}});
    return bytes;
  });
  std::ranges::stable_sort(all.get_ref<Record::array_t&>(), {},
                           [](const Record& b) { return b.at("bytes_of_given").get<double>(); });
  return all;
}

double padding(const CoreSource& source, const Footprint& f) {
  return source.view.entries() > 0 ? double(f.slots) / double(source.view.entries()) : 0;
}

/// What products read, the fewest bytes first, and layouts that there are not.
Record layout_bytes(const CoreSource& source, Precision precision) {
  std::vector<Record> all;
  for (const Preset& p : presets()) try {
      Plan plan = layout_plan(source, std::string(p.name));
      plan.values = precision;
      const Footprint f = bytes_of(source.view, source.problem, plan, core_backend());
      all.push_back(
          {{"layout", layout_name(plan.layout)}, {"bytes", double(f.read.total())}, {"padding", padding(source, f)}});
    } catch (const error& e) {
      all.push_back({{"layout", p.name}, {"why", e.what()}});
    }
  std::ranges::stable_sort(all, {}, [](const Record& l) { return l.value("bytes", INFINITY); });
  return all;
}

Record analysed(MPI_Comm comm, const CaseMatrix& c, const CoreSource& source, const PatternStatistics& n) {
  Record a = {{"block_rows", n.rows},       {"block_columns", n.cols}, {"blocks", n.entries},
              {"empty_rows", n.empty_rows}, {"mean_row", n.mean_row},  {"row_deviation", n.row_deviation},
              {"scattered", n.scattered},   {"bandwidth", n.bandwidth}};
  a.update(row_quartiles(comm, c.arrays()));
  a["block_sizes"] = block_fills(source);
  a["layouts"] = Record::array();
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
std::vector<Plan> named_plans(const CoreSource& source, const TuneOptions& o, Record& without) {
  std::vector<Plan> plans;
  for (const std::string& line : o.more_plans) {
    try {
      plans.push_back(core_plan(source, source.problem, line, o.precision));
    } catch (const error& e) {
      without.push_back({{"plan", line}, {"why", e.what()}});
    }
  }
  return plans;
}

/// The rule's first. Those that need not be packed to be out go to `without`.
std::vector<Plan> plans_to_time(const SearchedMatrix& m, const CoreSource& source, const Plan& rule,
                                const TuneOptions& o, Record& without) {
  PlansToTry tried = plans_to_try(m, rule, o.search_options(), named_plans(source, o, without));
  if (!o.library.empty())
    if (const std::string why = why_no_library_plan(o.library, rule, m.numbers, m.problem, m.on); !why.empty())
      without.push_back({{"plan", o.library}, {"why", why}});
  for (const LargePlan& large : tried.left_out)
    without.push_back({{"plan", to_string(large.plan)}, {"why", large.why}});
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

/// Seconds that models say, of the plans of one matrix: made before any of them is timed.
class Predictions {
 public:
  Predictions(const CoreSource& source, const PatternStatistics& numbers, const std::vector<Plan>& plans,
              ChoiModel* choi) {
    Predictor predictor(source.view, numbers, source.problem, core_backend());
    for (const Plan& plan : plans) {
      Record of_plan = Record::object();
      if (plan.schedule.of_device() && plan.schedule.library.empty()) of_plan["predicted_s"] = predictor.seconds(plan);
      if (choi)
        if (const auto seconds = choi->seconds(plan, source.view, source.problem)) {
          const Work work = predictor.work(plan);
          of_plan["choi_s"] = *seconds;
          of_plan["work"] = work.sums;
          of_plan["work"].push_back(work.alone);
        }
      of_plans_.emplace_back(plan, of_plan);
    }
  }
  /// Nothing of a plan that only a study's rounds have found.
  Record of(const Plan& plan) const {
    const auto found = std::ranges::find(of_plans_, plan, &std::pair<Plan, Record>::first);
    return found == of_plans_.end() ? Record::object() : found->second;
  }

 private:
  std::vector<std::pair<Plan, Record>> of_plans_;
};

/// The plans of a measurement, and which of them is the best.
void take_times(Record& r, const CoreSource& source, const Predictions& predictions, const Measurement& m,
                const TuneOptions& o) {
  const Measured* const best = best_with_difference(m, o.memory_weight);
  double rule_s = 0;
  for (const Measured& one : m.all)
    if (one.is_timed() && one.place == 0) rule_s = one.seconds;
  Paddings paddings(source);
  for (const Measured& one : m.all) {
    if (!one.is_timed()) {
      r["without"].push_back({{"plan", to_string(one.plan)}, {"why", one.failure}});
      continue;
    }
    Record plan = record_of(one, rule_s, r);
    plan["padding"] = paddings(one.plan);
    if (best && &one != best) plan["no_difference"] = spread_of(one).overlaps(spread_of(*best));
    plan.update(predictions.of(one.plan));
    r["plans"].push_back(plan);
  }
  if (!best)
    throw usage_error(r["description"].get<std::string>() +
                      ": no plan could be timed: " + r["without"].back()["why"].get<std::string>());
  const Spread spread = spread_of(*best);
  r.update({{"best", to_string(best->plan)},
            {"gain", gain(m, *best)},
            {"gain_quartiles", {1 / spread.upper, 1 / spread.lower}},
            {"timing_s", m.timing_s},
            {"packing_s", m.packing_s},
            {"products", m.products}});
}

void measure_yardsticks(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress, Record& r) {
  std::vector<Runner> runners;
  add_yardsticks(comm, c, runners, r);
  take_yardsticks(measure(comm, runners, o, progress), r);
}

std::string keep(const SearchedMatrix& m, const Plan& rule, const Measurement& found, const TuneOptions& o) {
  if (o.weighs_memory()) return "not added to " + o.wisdom + ": it keeps what is fastest, and memory counted here";
  const Measured& best = *best_with_difference(found, o.memory_weight);
  const std::string lost = keep_in_wisdom(m, rule, o.search_options(), best, gain(found, best));
  return lost.empty() ? "added to " + o.wisdom : "not added to " + o.wisdom + ": " + lost;
}

double share(const Record& result, const char* yardstick, double seconds) {
  const double gbs = result.at(yardstick).value("gbs", 0.0);
  return gbs > 0 ? result.value("compulsory_bytes", 0.0) / seconds / 1e9 / gbs : 0;
}

Record head_of(const CaseSpec& spec, const CaseMatrix& c, const Options& o) {
  return {{"description", description_of(spec, o)}, {"block", block_text(c.block)}};
}

}  // namespace

std::string time_left(std::size_t done, std::size_t all, double seconds) {
  if (done == 0 || done >= all) return "";
  return text("; about %.0f s left", std::ceil(seconds / double(done) * double(all - done)));
}

std::string case_name(const std::string& description, const std::string& block, const std::string& precision) {
  return description + ", blocks of " + block + ", " + precision;
}

Record record_of(const Measured& plan, double rule_s, const Record& result) {
  std::vector<double> seconds, ratios;
  for (const Sample& s : plan.samples) {
    seconds.push_back(s.seconds);
    ratios.push_back(s.ratio);
  }
  const double gain_s = rule_s - plan.seconds;
  Record r = {{"plan", to_string(plan.plan)},
              {"seconds", plan.seconds},
              {"median_s", quantile(seconds, 0.5)},
              {"least_s", quantile(seconds, 0)},
              {"gbs", result.value("compulsory_bytes", 0.0) / plan.seconds / 1e9},
              {"share_of_read", share(result, "read", plan.seconds)},
              {"copy_bytes", plan.bytes},
              {"packing_s", plan.packing_s},
              {"samples_s", seconds},
              {"ratios", ratios}};
  // By the median of the ratios, which a machine that changes its speed does not change.
  if (rule_s > 0) {
    const Spread spread = spread_of(plan);
    r["times_rule"] = rule_s / plan.seconds;
    r["quartiles_s"] = {spread.lower * rule_s, spread.upper * rule_s};
  }
  if (seconds.size() >= enough_for_percentile) r["p95_s"] = quantile(seconds, 0.95);
  if (result.contains("copy")) r["share_of_copy"] = share(result, "copy", plan.seconds);
  if (gain_s > 0) r["pays_off_after"] = plan.packing_s / gain_s;  // products that win back what packing takes
  return r;
}

Record block_sizes(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& o, Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, o, progress);
  return block_fills(*make_core_source(c, o.core_float));
}

std::size_t compile_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& o, Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, o, progress);
  const auto source = make_core_source(c, o.core_float);
  const PatternStatistics numbers = statistics(source->view);
  Record without;  // by this matrix: others may take them
  auto plans = candidates(candidates_of(o.search), rule_plan(*source, o), numbers, problem_of(*source, o),
                          core_backend(), VectorOrder::petsc, o.library);
  for (const Plan& plan : named_plans(*source, o, without))
    if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);
  if (DeviceControl* const control = core_backend().extensions().control)
    control->compile_ahead(plans, source->problem, has_even_rows(source->view));
  return plans.size();
}

namespace {

Record counted(const CoreSource& source, const std::string& asked, Precision precision) {
  try {
    const Plan plan = core_plan(source, source.problem, asked, precision);
    const Footprint bytes = bytes_of(source.view, source.problem, plan, core_backend());
    return {{"asked", asked},
            {"plan", to_string(plan)},
            {"bytes", bytes.read.total()},
            {"allocated_bytes", bytes.allocated.total()},
            {"padding", padding(source, bytes)}};
  } catch (const error& e) {
    return {{"asked", asked}, {"why", e.what()}};
  }
}

}  // namespace

Record count_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& o, Progress& progress) {
  const CaseMatrix c = prepare(comm, spec, o, progress);
  const auto source = make_core_source(c, o.core_float);
  Record r = head_of(spec, c, o);
  progress.say("counting bytes of " + description_of(spec, o));
  r["analysis"] = analysed(comm, c, *source, statistics(source->view));
  for (const std::string& plan : o.counted) r["counted"].push_back(counted(*source, plan, o.precision));
  return r;
}

Record tune_case(MPI_Comm comm, const CaseSpec& spec, const TuneOptions& o, Progress& progress, ChoiModel* choi) {
  const CaseMatrix c = prepare(comm, spec, o, progress);
  const auto source = make_core_source(c, o.core_float);
  Record r = head_of(spec, c, o);
  try {
    const Plan rule = rule_plan(*source, o);
    const PatternStatistics numbers = statistics(source->view);
    progress.say("analysing " + description_of(spec, o));
    r["analysis"] = analysed(comm, c, *source, numbers);
    r["analysis"].update({{"rule", to_string(rule)}, {"layouts", layout_bytes(*source, rule.values)}});
    const EntryShape entry = entry_shape(rule, source->problem);
    const double entry_bytes = double(bytes_of(entry, {source->problem.scalar.field, rule.values}));
    r["compulsory_bytes"] = compulsory_bytes(c, {entry_bytes, double(bytes_of(source->problem.scalar)), o.core_float});
    const Problem problem = problem_of(*source, o);
    const SearchedMatrix m{source->view, numbers, problem, core_backend()};
    r.update({{"plans", Record::array()}, {"without", Record::array()}});
    const auto plans = plans_to_time(m, *source, rule, o, r["without"]);
    const Predictions predictions(*source, numbers, plans, choi);
    r["predicted_at"] = date_now();
    progress.say("timing " + std::to_string(plans.size()) + " plans");
    SearchOptions options = o.search_options();
    options.report = [&, begin_s = steady_s()](const BestSoFar& best, bool) {
      progress.say(best.text() + time_left(best.done(), best.plans(), steady_s() - begin_s));
    };
    Measurement found;
    r["timed_at"] = date_now();
    if (o.study.empty()) {
      found = measured_in_turn(m, plans, source->values, options);
      // Where products are counted, or memory counts, the search's own samples are what there is.
      if (std::isinf(o.products) && o.memory_weight == 0)
        run_finals(found, m, source->values, options,
                   [&](std::size_t n) { progress.say("timing " + std::to_string(n) + " plans once more"); });
    } else {
      Study study = studied(*source, numbers, plans, o.budget_s, options.report);
      r["study"] = record_of(study);
      found = std::move(study.finals);
    }
    if (const Measured* const best = best_with_difference(found, o.memory_weight); best && o.memory_weight == 0)
      leave_out_lucky(found, Measured(*best));
    measure_yardsticks(comm, c, o, progress, r);
    take_times(r, *source, predictions, found, o);
    if (!o.wisdom.empty()) r["wisdom"] = keep(m, rule, found, o);
  } catch (const error& e) {
    throw usage_error(r["description"].get<std::string>() + ": " + e.what());
  }
  return r;
}

}  // namespace compound::bench::tune
