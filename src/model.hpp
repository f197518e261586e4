// Model: how long a product takes on a device, by what it reads and how work is shared out; nothing is measured.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "candidates.hpp"

namespace compound {

/// Seconds that things take on a device. Fitted to a recorded study of plans by config/fit-model.py, which also says
/// how well times and choices are predicted.
struct DeviceTimes {
  std::string_view measured_on;  ///< as DevicePolicy's
  double launch_s;
  double memory_s, cache_s;        ///< a byte of the matrix, x or y, from memory or the second cache
  double gather_s;                 ///< a byte of x in sectors for blocks that are not near those of the row above
  double step_s, diagonal_step_s;  ///< a worker's next entries, times the square root of the words that it has of each
  double longest_s;                ///< an entry of the longest row
  double shared_row_s;             ///< adding up, a worker of those that share a row
  double chunk_entry_s;            ///< an entry in chunks of coordinates
  double rows_of_words_s;          ///< a byte more where each block's words lie side by side
};

/// Of the device whose policy is taken for this one.
const DeviceTimes& device_times(const DeviceTraits& device);

/// Seconds of one product by a plan of a device. `bytes`: what bytes_of() counts of it.
double predicted_s(const DeviceTimes& times, const DeviceTraits& device, const Plan& plan, const Footprint& bytes,
                   const PatternStatistics& statistics, const Problem& problem);

/// Predicts the times of plans of one matrix, of several parts too; what is counted of a layout serves its schedules.
class Predictor {
 public:
  /// The pattern's arrays and the others must outlive it.
  Predictor(const PatternView& pattern, const PatternStatistics& statistics, const Problem& problem,
            const Backend& backend);
  /// Of one product; infinite where a plan has more slots than can be counted.
  double seconds(const Plan& plan);

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
  const DeviceTimes& times_;
  std::optional<Plan> counted_;
  std::vector<CountedPart> parts_;  ///< of `counted_`, those that have entries
  std::vector<int> numbers_;        ///< of these parts in their plan
};

/// Puts the plans after the first in the order in which they are likely to be the fastest, and leaves those out that
/// are predicted to take more than twice as long as the one that takes the least.
std::vector<LargePlan> order_by_model(std::vector<Plan>& plans, const PatternView& pattern,
                                      const PatternStatistics& statistics, const Problem& problem,
                                      const Backend& backend);

struct Prediction {
  Plan plan;
  double gain = 1;  ///< times as fast as the first plan
};

/// Of these plans, the first of which is the rule's, the one that is to be the fastest; the first, unless another one
/// promises more than the model is wrong by. Those that are beyond the limits are left out.
Prediction predicted_best(const std::vector<Plan>& plans, const PatternView& pattern,
                          const PatternStatistics& statistics, const Problem& problem, const Backend& backend,
                          const PlanLimits& limits);

}  // namespace compound
