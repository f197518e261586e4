// What measuring found, and which of the measured plans to take.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace compound {

/// Of an even number the larger one of the two in the middle. There must be one.
double median(std::vector<double> values);

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

/// The one to take, of those that are confirmed: of those within 3 % of the fastest those within 3 % of the smallest
/// packed copy, and of these the fastest, if that gains more than half a per cent on the one of them that comes first.
/// The fastest is one that most of its samples show to be faster than the first candidate, if not that itself. Null
/// where none has a time.
const Measured* choice(const Measurement& measurement);

/// The one to confirm, which choice() might then take; null where none has a time, where the best one is confirmed, or
/// where it gains too little on the first candidate to be worth another plan.
const Measured* to_confirm(const std::vector<Measured>& all);

/// The one with the least score of time and memory (Mueller-Roemer 2020, 6.1): (1 - weight) times its time over the
/// fastest one's, plus weight times the bytes of its packed copy over the largest one's. Null where none has a time.
const Measured* best_score(const Measurement& measurement, double memory_weight);

/// How many times faster it is than the first of the candidates; 1 where that has no time.
double gain(const Measurement& measurement, const Measured& measured);

/// What is reported of a search while it runs.
class BestSoFar {
 public:
  explicit BestSoFar(std::size_t plans) : plans_(plans) {}
  /// Whether it is the best so far.
  bool add(const Measured& measured);
  bool has_all() const { return done_ == plans_; }
  std::size_t done() const { return done_; }
  std::size_t plans() const { return plans_; }
  /// "12 of 40 plans, best so far 1.20 times as fast as the first: <plan>".
  std::string text() const;

 private:
  std::size_t plans_, done_ = 1;  // the first is there
  double ratio_ = 1;
  std::string line_;
};

}  // namespace compound
