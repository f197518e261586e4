// What the form rests on, and how good it is, is in docs/tuning.md.
#include "planner/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "layout/family.hpp"

namespace compound {

namespace {

constexpr double promises = 1.06;  // times as fast, of a plan that is taken in the place of the first
constexpr double sector_bytes = 32;

/// Share of the bytes that the second cache still has from the product before.
double held(const Plan& plan, double bytes, const DeviceTraits& device, const DeviceTable& t) {
  const bool keeps = plan.schedule.cache == Cache::keep;
  const double all = keeps ? t.kept_all : t.streamed_all, none = keeps ? t.kept_none : t.streamed_none;
  const double size = device.second_cache_bytes > 0 ? double(device.second_cache_bytes) / t.cache : 1;
  return std::clamp((none * size - bytes) / ((none - all) * size), 0.0, 1.0);
}

}  // namespace

Work work_of(const DeviceTable& t, const DeviceTraits& device, const Plan& plan, const Footprint& counted,
             const PatternStatistics& s, const Problem& problem) {
  const LayoutFamily& family = family_of(plan.layout);
  const Schedule& by = plan.schedule;
  const double scalar_bytes = double(bytes_of(problem.scalar)), rows = s.rows, entries = s.entries;
  const bool chunks = family.threads, diagonals = !chunks && !family.has_columns();
  const bool by_scalar_row = by.traversal == Traversal::components && family.interleaved;
  const double of_row = by.lanes * double(by_scalar_row ? problem.block.rows : 1);
  const double all_words = double(entry_shape(plan, problem).words);
  const double words = all_words / (by_scalar_row ? problem.block.rows : 1);

  const double bytes =
      double(counted.read.total()) + scalar_bytes * (double(s.cols) * problem.block.cols + rows * problem.block.rows);
  const double kept = held(plan, bytes, device, t);
  const double x_bytes = std::ceil(problem.block.cols * scalar_bytes / sector_bytes) * sector_bytes;

  const double workers = chunks ? entries : rows * of_row;
  const double at_once = double(device.multiprocessors) * std::min(most_threads, by.threads * by.blocks);
  const double waves = std::max(1.0, workers / std::max(1.0, at_once));
  const double padding = diagonals && entries > 0 ? double(counted.slots) / entries : 1;
  const double entries_of_worker = chunks ? 2 : s.mean_row / by.lanes * padding;
  const double steps = waves * std::ceil(entries_of_worker / by.unroll) * std::sqrt(words);

  // Lanes that share a scalar row, where each has one, and the words of it.
  const bool components = by.traversal == Traversal::components;
  const double of_scalar_row = components && !family.interleaved ? by.lanes / double(problem.block.rows) : by.lanes;
  const double row_words = components ? all_words / problem.block.rows : all_words;
  const double alone = chunks ? 0 : s.longest_row * padding / of_scalar_row * std::sqrt(row_words);

  return {
      {1, (1 - kept) * bytes, kept * bytes, entries * s.scattered * x_bytes, diagonals ? 0 : steps,
       diagonals ? steps : 0, chunks || diagonals ? 0 : double(s.longest_row) / by.lanes,
       by.lanes > 1 ? rows * of_row : 0, chunks ? entries : 0, plan.layout.word_order == WordOrder::row ? bytes : 0},
      alone};
}

double seconds_of(const DeviceTable& t, const Work& work) {
  double sum = 0;
  for (std::size_t i = 0; i < work.sums.size(); ++i) sum += t.*seconds_fields[i].value * work.sums[i];
  return std::max(sum, t.launch_s * work.sums.front() + t.alone_s * work.alone);
}

Predictor::Predictor(const PatternView& pattern, const PatternStatistics& s, const Problem& problem,
                     const Backend& backend)
    : pattern_(pattern), statistics_(s), problem_(problem), backend_(backend), device_(traits_of(backend)) {
  const DeviceTables tables = device_tables();
  table_ = table_for(tables.all, backend.machine().device, device_);
  problem_with_file_ = tables.problem;
  if (device_.multiprocessors == 0) device_ = table_.traits();  // of a backend that is no device
}

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

Work Predictor::work(const Plan& plan) {
  count(plan);
  const std::vector<Plan> all = parts(plan);
  Work sum = {};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Work of_part = work_of(table_, device_, all[numbers_[i]], parts_[i].bytes, parts_[i].statistics, problem_);
    for (std::size_t k = 0; k < sum.sums.size(); ++k) sum.sums[k] += of_part.sums[k];
    sum.alone += of_part.alone;
  }
  return sum;
}

double Predictor::seconds(const Plan& plan) try {
  return seconds_of(table_, work(plan));
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
  std::vector<Plan> unknown;
  std::vector<Predicted> rest;
  for (const Plan& plan : std::span(plans).subspan(1)) {
    if (!plan.schedule.library.empty()) {
      unknown.push_back(plan);
      continue;
    }
    rest.push_back({plan, predictor.seconds(plan)});
    least = std::min(least, rest.back().seconds);
  }
  std::ranges::stable_sort(rest, {}, &Predicted::seconds);
  std::vector<LargePlan> slow;
  plans.resize(1);
  plans.insert(plans.end(), unknown.begin(), unknown.end());
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
  Prediction best{plans.front(), 1, predictor.table().name, predictor.problem_with_file()};
  // Schedules share what is counted of their layout.
  const Plan* looked_at = nullptr;
  bool is_out = false;
  for (const Plan& plan : plans) {
    if (!looked_at || !is_laid_out_alike(*looked_at, plan))
      is_out = &plan != &plans.front() && beyond(limits, pattern, problem, plan, backend).has_value();
    looked_at = &plan;
    const double gain = is_out ? 0 : first / predictor.seconds(plan);
    if (gain > std::max(promises, best.gain)) best.plan = plan, best.gain = gain;
  }
  return best;
}

}  // namespace compound
