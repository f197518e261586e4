// Tuner: from a matrix to times of products of given plans on it, by measurement.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "planner/measurement.hpp"
#include "storage/packed.hpp"

namespace compound {

/// Seconds of a clock that only goes forward.
double steady_s();

struct MeasureLimits {
  /// Of timing, in products of the first candidate; 40 ms are allowed always, which a clock needs to tell small
  /// matrices apart.
  double products = 150;
  double timing_s = std::numeric_limits<double>::infinity();  ///< the same in seconds
  /// Of packing the others, in seconds and in products of the first.
  double seconds = std::numeric_limits<double>::infinity(), packing_products = std::numeric_limits<double>::infinity();
  int samples = 9;          ///< of each candidate; of 20 and more the 95th percentile means something
  double sample_s = 1e-3;   ///< of one of them, where there are many products to spend
  double far_behind = 1.1;  ///< times as slow as the fastest after three samples: is left
  std::function<double()> now = steady_s;
};

/// Times products of the candidates on this backend.
///
/// The first candidate's packed copy stays; one other at a time is there beside it, and serves all its schedules. They
/// are timed in turn with the first one, and what counts is the median of their ratios to it: machines are shared, and
/// change their clocks. Samples of less than 0.1 ms would time the wait for a device. A candidate that is a tenth
/// behind after three samples, or takes twice as long from the beginning, is left. The fastest is packed and sampled
/// again, and keeps the new samples. `values`: all of the matrix's in host memory, in problem.order;
/// `report(candidate)` is called after each of them. What a candidate needs that is not there (memory above all) makes
/// it fail, not the call.
Measurement measure(const PatternView& pattern, const Problem& problem, const std::vector<Plan>& candidates,
                    Backend& backend, const void* values, const MeasureLimits& limits = {},
                    const std::function<void(const Measured&)>& report = {});

}  // namespace compound
