// Results of earlier runs, and of two of them which plans became slower.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record.hpp"

namespace compound::bench::tune {

inline constexpr int schema = 1;  ///< of JSON files

/// Median seconds by plan.
using PlanTimes = std::map<std::string, double>;

/// What a comparison needs of a JSON file, by matrix and block.
using SavedTimes = std::map<std::string, PlanTimes>;

/// The cases of a JSON file, which `option` reads, and their precision. Throws usage_error, naming the file, unless it
/// is one of compound-tune's.
Record read_results(const char* option, const std::string& file);
SavedTimes read_times(const std::string& file);

struct Change {
  std::string matrix, plan;
  double before_s = 0, after_s = 0;
  double ratio() const { return after_s / before_s; }
};

struct Comparison {
  std::vector<Change> slower, faster;  ///< by more than the threshold, the largest change first
  int compared = 0;                    ///< plans that have a time in both
  int before_alone = 0, after_alone = 0;
};

Comparison compared(const SavedTimes& before, const SavedTimes& after, double threshold);

}  // namespace compound::bench::tune
