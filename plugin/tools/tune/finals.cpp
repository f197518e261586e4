#include "finals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "record.hpp"

namespace compound::bench::tune {

namespace {

constexpr int least_samples = 25;
constexpr double near_fastest = 1.03, least_timing_s = 1, least_rounds_s = 2, rounds_of_search = 0.5;

bool is_in(const std::vector<Plan>& plans, const Plan& plan) { return std::ranges::find(plans, plan) != plans.end(); }

bool is_sampled(const Measured& one) { return one.is_timed() && !one.samples.empty(); }

const Measured* default_in(const Measurement& m) {
  const auto found = std::ranges::find(m.all, std::size_t{0}, &Measured::place);
  return found != m.all.end() && is_sampled(*found) ? &*found : nullptr;
}

std::vector<double> ratios_of(const Measured& plan) {
  std::vector<double> ratios;
  for (const Sample& s : plan.samples) ratios.push_back(s.ratio);
  return ratios;
}

}  // namespace

Spread spread_of(const Measured& plan) {
  if (plan.samples.empty()) return {};
  const std::vector<double> ratios = ratios_of(plan);
  return {quantile(ratios, 0.25), quantile(ratios, 0.75)};
}

std::vector<Plan> finalists(const Measurement& found, const std::vector<Plan>& known) {
  const Measured* const first = default_in(found);
  if (!first) return {};
  std::vector<const Measured*> sampled;
  double least = std::numeric_limits<double>::infinity(), least_known = 1;
  for (const Measured& one : found.all) {
    if (!is_sampled(one) || &one == first) continue;
    sampled.push_back(&one);
    least = std::min(least, one.ratio());
    if (is_in(known, one.plan)) least_known = std::min(least_known, one.ratio());
  }
  std::ranges::stable_sort(sampled, {}, [](const Measured* one) { return one->ratio(); });
  // What is near the fastest at first; later what seems to be faster than all that were timed once more.
  const double most = known.empty() ? std::min(near_fastest * least, near_fastest) : least_known;
  std::vector<Plan> plans = {first->plan};
  for (const Measured* one : sampled)
    if (plans.size() <= most_finalists && one->ratio() <= most && !is_in(known, one->plan)) plans.push_back(one->plan);
  if (plans.size() == 1) plans.clear();
  return plans;
}

void take_finals(Measurement& found, const std::vector<Measurement>& finals) {
  std::vector<Sample> of_default;
  for (Measured& one : found.all) one.is_confirmed = one.place == 0;
  for (const Measurement& round : finals) {
    found.timing_s += round.timing_s;
    found.packing_s += round.packing_s;
    found.products += round.products;
    for (const Measured& again : round.all) {
      if (!is_sampled(again)) continue;
      if (again.place == 0) {
        of_default.insert(of_default.end(), again.samples.begin(), again.samples.end());
        continue;
      }
      Measured& one = *std::ranges::find(found.all, again.plan, &Measured::plan);
      one.samples = again.samples;
      one.bytes = again.bytes;
      one.is_confirmed = true;
    }
  }
  if (of_default.empty()) return;
  std::vector<double> seconds;
  for (const Sample& s : of_default) seconds.push_back(s.seconds);
  const double unit_s = median(seconds);
  for (Measured& one : found.all) {
    if (one.place == 0) one.samples = of_default;
    if (is_sampled(one)) one.seconds = one.place == 0 ? unit_s : one.ratio() * unit_s;
  }
  std::ranges::stable_sort(found.all, {}, &Measured::seconds);
}

void run_finals(Measurement& found, const SearchedMatrix& matrix, const void* values, const SearchOptions& options,
                const std::function<void(std::size_t)>& say) {
  SearchOptions last = options;
  last.report = nullptr;
  last.measuring.samples = std::max(options.measuring.samples, least_samples);
  last.measuring.far_behind = std::numeric_limits<double>::infinity();
  last.measuring.timing_s = std::max(least_timing_s, found.timing_s / 2);
  std::vector<Measurement> rounds;
  std::vector<Plan> known;
  const Measurement before = found;
  const double until_s =
      options.measuring.now() + std::max(least_rounds_s, rounds_of_search * (before.timing_s + before.packing_s));
  do {
    const std::vector<Plan> plans = finalists(found, known);
    if (plans.empty()) return;
    say(plans.size());
    known.insert(known.end(), plans.begin() + 1, plans.end());
    rounds.push_back(measured_in_turn(matrix, plans, values, last));
    found = before;
    take_finals(found, rounds);
  } while (options.measuring.now() < until_s);
}

void leave_out_lucky(Measurement& found, const Measured& best) {
  const Spread of_best = spread_of(best);
  const double seconds = best.seconds;
  for (Measured& one : found.all)
    if (is_sampled(one) && !one.is_confirmed && one.seconds < seconds && !spread_of(one).overlaps(of_best)) {
      one.failure = "seemed to be faster, in too few samples to tell: " + std::to_string(one.samples.size()) +
                    "; the machine is busy, or -products and -seconds are short";
      one.seconds = std::numeric_limits<double>::infinity();
    }
  std::ranges::stable_sort(found.all, {}, &Measured::seconds);
}

const Measured* best_with_difference(const Measurement& measurement, double memory_weight) {
  const Measured* const best = best_of(measurement, memory_weight);
  const Measured* const first = default_in(measurement);
  if (!best || !first || memory_weight > 0) return best;
  return spread_of(*best).overlaps({}) ? first : best;
}

}  // namespace compound::bench::tune
