// What the form rests on, and how good it is, is in docs/tuning.md.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "device_policy.hpp"
#include "error.hpp"
#include "layout/family.hpp"

namespace compound {

namespace {

constexpr DeviceTimes times[] = {
    {.measured_on = "NVIDIA H200",
     .launch_s = 2.86e-06,
     .memory_s = 2.13e-13,
     .cache_s = 1.30e-13,
     .gather_s = 1.31e-13,
     .step_s = 1.86e-08,
     .diagonal_step_s = 7.35e-08,
     .longest_s = 6.55e-09,
     .shared_row_s = 1.38e-12,
     .chunk_entry_s = 7.43e-12,
     .rows_of_words_s = 1.64e-14},
};

constexpr double promises = 1.06;  // times as fast, of a plan that is taken in the place of the first
constexpr double sector_bytes = 32;

/// Share of the bytes that the second cache still has from the product before.
double held(const Plan& plan, double bytes, const DeviceTraits& device) {
  constexpr double cache_of_fit = 60 * 1024 * 1024;
  struct Held {
    double all, none;
  };
  const Held h = plan.schedule.cache == Cache::keep ? Held{46e6, 56e6} : Held{10e6, 30e6};
  const double size = device.second_cache_bytes > 0 ? double(device.second_cache_bytes) / cache_of_fit : 1;
  return std::clamp((h.none * size - bytes) / ((h.none - h.all) * size), 0.0, 1.0);
}

}  // namespace

const DeviceTimes& device_times(const DeviceTraits& device) {
  const std::string_view nearest = nearest_policy(device_policies(), device).measured_on;
  const auto row = std::ranges::find(times, nearest, &DeviceTimes::measured_on);
  return row == std::end(times) ? times[0] : *row;
}

double predicted_s(const DeviceTimes& t, const DeviceTraits& device, const Plan& plan, const Footprint& counted,
                   const PatternStatistics& s, const Problem& problem) {
  const LayoutFamily& family = family_of(plan.layout);
  const Schedule& by = plan.schedule;
  const double scalar_bytes = double(bytes_of(problem.scalar)), rows = s.rows, entries = s.entries;
  const bool chunks = family.threads, diagonals = !chunks && !family.has_columns();
  const bool by_scalar_row = by.traversal == Traversal::components && family.interleaved;
  const double of_row = by.lanes * double(by_scalar_row ? problem.block.rows : 1);
  const double words = double(entry_shape(plan, problem).words) / (by_scalar_row ? problem.block.rows : 1);

  const double bytes =
      double(counted.read.total()) + scalar_bytes * (double(s.cols) * problem.block.cols + rows * problem.block.rows);
  const double kept = held(plan, bytes, device);
  const double x_bytes = std::ceil(problem.block.cols * scalar_bytes / sector_bytes) * sector_bytes;

  const double workers = chunks ? entries : rows * of_row;
  const double at_once = double(device.multiprocessors) * std::min(most_threads, by.threads * by.blocks);
  const double waves = std::max(1.0, workers / std::max(1.0, at_once));
  const double padding = diagonals && entries > 0 ? double(counted.slots) / entries : 1;
  const double entries_of_worker = chunks ? 2 : s.mean_row / by.lanes * padding;
  const double steps = waves * std::ceil(entries_of_worker / by.unroll) * std::sqrt(words);

  return t.launch_s + ((1 - kept) * t.memory_s + kept * t.cache_s) * bytes +
         t.gather_s * entries * s.scattered * x_bytes + (diagonals ? t.diagonal_step_s : t.step_s) * steps +
         (chunks || diagonals ? 0 : t.longest_s * s.longest_row / by.lanes) +
         (by.lanes > 1 ? t.shared_row_s * rows * of_row : 0) + (chunks ? t.chunk_entry_s * entries : 0) +
         (plan.layout.word_order == WordOrder::row ? t.rows_of_words_s * bytes : 0);
}

namespace {

DeviceTraits traits_for(const Backend& backend) {
  const DeviceTraits found = device_traits(backend.name());
  return found.multiprocessors > 0 ? found : nearest_policy(device_policies(), found).traits;
}

}  // namespace

Predictor::Predictor(const PatternView& pattern, const PatternStatistics& s, const Problem& problem,
                     const Backend& backend)
    : pattern_(pattern),
      statistics_(s),
      problem_(problem),
      backend_(backend),
      device_(traits_for(backend)),
      times_(device_times(device_)) {}

void Predictor::count(const Plan& plan) {
  if (counted_ && is_laid_out_alike(*counted_, plan)) return;
  counted_.reset();
  parts_.clear();
  numbers_.clear();
  for (const PatternPart& part : parts_of(pattern_, plan)) {
    const PatternView rows = part.view(pattern_);
    parts_.push_back({part.has_all() ? statistics_ : statistics(rows), bytes_of(rows, problem_, part.plan, backend_)});
    numbers_.push_back(part.number);
  }
  counted_ = plan;
}

double Predictor::seconds(const Plan& plan) try {
  count(plan);
  const std::vector<Plan> all = parts(plan);
  double sum = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    sum += predicted_s(times_, device_, all[numbers_[i]], parts_[i].bytes, parts_[i].statistics, problem_);
  return sum;
} catch (const error&) {  // more slots than can be counted
  return std::numeric_limits<double>::infinity();
}

std::vector<LargePlan> order_by_model(std::vector<Plan>& plans, const PatternView& pattern, const PatternStatistics& s,
                                      const Problem& problem, const Backend& backend) {
  constexpr double too_slow = 2;
  if (plans.empty()) return {};
  struct Predicted {
    Plan plan;
    double seconds;
  };
  Predictor predictor(pattern, s, problem, backend);
  double least = predictor.seconds(plans.front());
  std::vector<Predicted> rest;
  for (const Plan& plan : std::span(plans).subspan(1)) {
    rest.push_back({plan, predictor.seconds(plan)});
    least = std::min(least, rest.back().seconds);
  }
  std::ranges::stable_sort(rest, {}, &Predicted::seconds);
  std::vector<LargePlan> slow;
  plans.resize(1);
  for (const Predicted& p : rest) {
    if (p.seconds <= too_slow * least)
      plans.push_back(p.plan);
    else
      slow.push_back({p.plan, "not tried: predicted to take more than twice as long as another plan"});
  }
  return slow;
}

Prediction predicted_best(const std::vector<Plan>& plans, const PatternView& pattern, const PatternStatistics& s,
                          const Problem& problem, const Backend& backend, const PlanLimits& limits) {
  Predictor predictor(pattern, s, problem, backend);
  const double first = predictor.seconds(plans.front());
  Prediction best{plans.front()};
  // Schedules share what is counted of their layout.
  const Plan* looked_at = nullptr;
  bool is_out = false;
  for (const Plan& plan : plans) {
    if (!looked_at || !is_laid_out_alike(*looked_at, plan))
      is_out = &plan != &plans.front() && beyond(limits, pattern, problem, plan, backend).has_value();
    looked_at = &plan;
    const double gain = is_out ? 0 : first / predictor.seconds(plan);
    if (gain > std::max(promises, best.gain)) best = {plan, gain};
  }
  return best;
}

}  // namespace compound
