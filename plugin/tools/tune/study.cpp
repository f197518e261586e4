#include "study.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "text.hpp"

namespace compound::bench::tune {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// One round of timing; its parts of the budget. None is left behind but by the screening.
struct Round {
  int samples;
  double sample_s, of_budget, packing_of_budget, far_behind;
};
constexpr Round screening{3, 2e-4, 0.35, 0.45, 1.1}, again{15, 5e-4, 0.1, no_limit, no_limit},
    finals{41, 1e-3, 0.1, no_limit, no_limit};

constexpr double worth_another_round = 1.5;  // times as slow as the fastest, by the screening
constexpr double share_of_best = 0.05;       // of the screened plans
constexpr double near_best = 1.03;           // of those, a finalist

class Rounds {
 public:
  Rounds(const CoreSource& source, const PatternStatistics& numbers, double budget_s)
      : source_(source), matrix_{source.view, numbers, source.problem, core_backend()}, budget_s_(budget_s) {}

  Measurement run(const Round& round, const std::vector<Plan>& plans,
                  const decltype(SearchOptions::report)& report = {}) const {
    SearchOptions options;
    MeasureLimits& limits = options.measuring;
    limits.products = no_limit;
    limits.timing_s = round.of_budget * budget_s_;
    limits.seconds = round.packing_of_budget * budget_s_;
    limits.samples = round.samples;
    limits.sample_s = round.sample_s;
    limits.far_behind = round.far_behind;
    options.report = report;
    return measured_in_turn(matrix_, plans, source_.values, options);
  }
  /// What -mat_compound_tune takes by an effort.
  TestedPlan found_by(Effort effort, const Plan& rule) const {
    SearchOptions options;
    options.effort = effort;
    options.limits.padding = most_padding;
    options.measuring.seconds = 10;  // that of -mat_compound_tune_seconds
    return {word_of(effort), search(matrix_, rule, "", options, [&] { return source_.values; }).plan};
  }

 private:
  const CoreSource& source_;
  SearchedMatrix matrix_;
  double budget_s_;
};

/// `first`, then the fastest.
std::vector<Plan> fastest(const Measurement& m, const Plan& first, std::size_t most, double far) {
  std::vector<Plan> plans = {first};
  for (const Measured& one : std::span(m.all).first(std::min(most, m.all.size())))
    if (one.is_timed() && one.seconds <= far * m.all.front().seconds && one.plan != first) plans.push_back(one.plan);
  return plans;
}

}  // namespace

double Study::of_best(const TestedPlan& t) const {
  const auto found = std::ranges::find(finals.all, t.plan, &Measured::plan);
  return found != finals.all.end() && found->is_timed() ? found->seconds / finals.all.front().seconds : 0;
}

Study studied(const CoreSource& source, const PatternStatistics& numbers, const std::vector<Plan>& plans,
              double budget_s, const decltype(SearchOptions::report)& report) {
  const Rounds rounds(source, numbers, budget_s);
  const Plan& rule = plans.front();
  Study s;
  s.screened = rounds.run(screening, plans, report);
  s.tested = {{"rule", rule}, rounds.found_by(Effort::measure, rule)};
  if (rule.schedule.of_device()) s.tested.push_back(rounds.found_by(Effort::model, rule));
  const auto best = static_cast<std::size_t>(std::ceil(share_of_best * s.screened.timed));
  s.again = rounds.run(again, fastest(s.screened, rule, best, worth_another_round));
  std::vector<Plan> last = fastest(s.again, rule, most_finalists, near_best);
  for (const TestedPlan& t : s.tested)
    if (std::ranges::find(last, t.plan) == last.end()) last.push_back(t.plan);
  s.finals = rounds.run(finals, last);
  return s;
}

namespace {

/// Four digits are more than there is in a time.
double rounded(double value) { return std::stod(text("%.4g", value)); }

/// Of every plan its time relative to the rule's plan's, and the number of samples.
Record screened_rows(const Measurement& m) {
  Record all = Record::array();
  for (const Measured& one : m.all)
    if (one.is_timed()) all.push_back({to_string(one.plan), rounded(one.ratio()), one.samples.size()});
  return all;
}

/// The same with all samples.
Record sampled_rows(const Measurement& m) {
  Record all = Record::array();
  for (const Measured& one : m.all) {
    if (!one.is_timed()) continue;
    Record ratios = Record::array();
    for (const Sample& s : one.samples) ratios.push_back(rounded(s.ratio));
    all.push_back({{"plan", to_string(one.plan)},
                   {"seconds", rounded(one.seconds)},
                   {"bytes", one.bytes},
                   {"packing_s", rounded(one.packing_s)},
                   {"ratios", ratios}});
  }
  return all;
}

}  // namespace

Record record_of(const Study& s) {
  Record j;
  for (const TestedPlan& t : s.tested)
    j["tested"].push_back({{"by", t.chosen_by}, {"plan", to_string(t.plan)}, {"of_best", rounded(s.of_best(t))}});
  j["timing_s"] = s.screened.timing_s + s.again.timing_s + s.finals.timing_s;
  j["packing_s"] = s.screened.packing_s + s.again.packing_s + s.finals.packing_s;
  j["finals"] = sampled_rows(s.finals);
  j["again"] = sampled_rows(s.again);
  j["screened"] = screened_rows(s.screened);
  Record without = Record::array();
  for (const Measured& one : s.screened.all)
    if (!one.is_timed()) without.push_back({to_string(one.plan), one.failure});
  j["without"] = without;
  return j;
}

std::string study_file(const std::string& folder, const std::string& description, BlockShape block,
                       std::string_view scalars) {
  const std::string words = description + " " + block_text(block) + " " + std::string(scalars);
  std::string name;
  for (const char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return folder + "/" + name + ".json";
}

}  // namespace compound::bench::tune
