// Model: how long a product takes on a device, by what it reads and how work is shared out; nothing is measured.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "planner/candidates.hpp"
#include "planner/device_tables.hpp"

namespace compound {

/// What a product does.
struct Work {
  /// In the order of seconds_fields: its seconds are the sum of these times those,
  std::array<double, std::size(seconds_fields)> sums = {};
  /// but no less than a launch and these, of the worker with the longest row, times `alone_s`.
  double alone = 0;
};

/// Of a plan of a device. `table`: what its second cache keeps. `bytes`: what bytes_of() counts of it.
Work work_of(const DeviceTable& table, const DeviceTraits& device, const Plan& plan, const Footprint& bytes,
             const PatternStatistics& statistics, const Problem& problem);
double seconds_of(const DeviceTable& table, const Work& work);

/// Predicts the times of plans of one matrix, of several parts too; what is counted of a layout serves its schedules.
class Predictor {
 public:
  /// The pattern's arrays and the others must outlive it.
  Predictor(const PatternView& pattern, const PatternStatistics& statistics, const Problem& problem,
            const Backend& backend);
  /// Of one product by our kernels; infinite where a plan has more slots than can be counted.
  double seconds(const Plan& plan);
  /// Throws `too_large` where a plan has more slots than can be counted.
  Work work(const Plan& plan);
  /// What it goes by: the device's own, or that of another one.
  const DeviceTable& table() const { return table_; }
  /// As DeviceTables::problem.
  const std::string& problem_with_file() const { return problem_with_file_; }

 private:
  struct CountedPart {
    PatternStatistics statistics;
    Footprint bytes;
  };
  void count(const Plan& plan);
  PatternView pattern_;
  const PatternStatistics& statistics_;
  const Problem& problem_;
  const Backend& backend_;
  DeviceTraits device_;
  DeviceTable table_;
  std::string problem_with_file_;
  std::optional<Plan> counted_;
  std::vector<CountedPart> parts_;  ///< of `counted_`, those that have entries
  std::vector<int> numbers_;        ///< of these parts in their plan
};

/// Puts the plans after the first in the order in which they are likely to be the fastest, and leaves those out that
/// are predicted to take more than twice as long as the one that takes the least. Of a library's products it knows
/// nothing: they stay before the others.
std::vector<LargePlan> order_by_model(std::vector<Plan>& plans, const PatternView& pattern,
                                      const PatternStatistics& statistics, const Problem& problem,
                                      const Backend& backend);

struct Prediction {
  Plan plan;
  double gain = 1;                     ///< times as fast as the first plan
  std::string device;                  ///< whose table was gone by
  std::string problem_with_file = {};  ///< as DeviceTables::problem
};

/// Of these plans, the first of which is the rule's, the one that is to be the fastest; the first, unless another one
/// promises more than the model is wrong by. Those that are beyond the limits are left out.
Prediction predicted_best(const std::vector<Plan>& plans, const PatternView& pattern,
                          const PatternStatistics& statistics, const Problem& problem, const Backend& backend,
                          const PlanLimits& limits);

}  // namespace compound
