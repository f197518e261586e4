// Tuner: from a matrix to the plan that is fastest on it, by measurement.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

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

struct Sample {
  double seconds = 0;  ///< of one product
  double ratio = 1;    ///< to the first candidate's product timed just before
};

struct Measured {
  Plan plan;
  double seconds = std::numeric_limits<double>::infinity();  ///< of one product y = A x; infinite where there is none
  std::size_t bytes = 0;                                     ///< that its packed copy owns
  double packing_s = 0;                                      ///< of that copy, which its schedules share
  std::vector<Sample> samples;                               ///< in the order in which they were taken
  std::string failure;        ///< why there is no time, in words: it failed, or was not tried
  std::size_t place = 0;      ///< in the list of candidates
  bool is_confirmed = false;  ///< the first, or sampled once more when it seemed to be the one to take

  bool is_timed() const { return failure.empty(); }
  /// To the first candidate's time: the median of the samples' ratios. Of timed ones alone.
  double ratio() const;
};

struct Measurement {
  std::vector<Measured> all;  ///< the fastest first, those without a time last
  double timing_s = 0, packing_s = 0;
  double products = 0;  ///< that timing took, in products of the first candidate that has a time
  int timed = 0;        ///< candidates that have a time
};

/// What onlookers are told of a search that goes on.
class BestSoFar {
 public:
  explicit BestSoFar(std::size_t plans) : plans_(plans) {}
  /// Whether it is the best so far.
  bool add(const Measured& measured);
  bool has_all() const { return done_ == plans_; }
  /// "12 of 40 plans, best so far 1.20 times as fast as the first: <plan>".
  std::string text() const;

 private:
  std::size_t plans_, done_ = 1;  // the first is there
  double ratio_ = 1;
  std::string line_;
};

/// Times products of the candidates on this backend.
///
/// The first candidate's packed copy stays; one other at a time is there beside it, and serves all its schedules. They
/// are timed in turn with the first one, and what counts is the median of their ratios to it: machines are shared, and
/// change their clocks. Samples of less than 0.1 ms would time the wait for a device. A candidate that is a tenth
/// behind after three samples, or takes twice as long from the beginning, is left. The fastest is packed and sampled
/// again, and keeps the new samples. `values`: all of the matrix's in host memory, in problem.order;
/// `told(candidate)` is called after each of them. What a candidate needs that is not there (memory above all) makes it
/// fail, not the call.
Measurement measure(const PatternView& pattern, const Problem& problem, const std::vector<Plan>& candidates,
                    Backend& backend, const void* values, const MeasureLimits& limits = {},
                    const std::function<void(const Measured&)>& told = {});

/// The one to take, of those that are confirmed: of those within 3 % of the
/// fastest those within 3 % of the smallest packed copy, and of these the fastest, if that gains more than half a per
/// cent on the one of them that comes first. The fastest is one that most of its samples show to be faster than the
/// first candidate, if not that itself. Null where none has a time.
const Measured* choice(const Measurement& measurement);

/// The one with the least score of time and memory (Mueller-Roemer 2020, 6.1): (1 - weight) times its time over the
/// fastest one's, plus weight times the bytes of its packed copy over the largest one's. Null where none has a time.
const Measured* best_score(const Measurement& measurement, double memory_weight);

/// How many times faster it is than the first of the candidates; 1 where that has no time.
double gain(const Measurement& measurement, const Measured& measured);

}  // namespace compound
