// A study of a matrix: every plan against those that a rule or a short search takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core_source.hpp"
#include "planner/search.hpp"
#include "record.hpp"

namespace compound::bench::tune {

/// A plan that is taken without timing all of them.
struct TestedPlan {
  std::string_view chosen_by;  ///< "rule", or the effort of -mat_compound_tune
  Plan plan;
};

/// Three rounds, so that the luckiest of a thousand plans is not the yardstick: times of the finals are of samples of
/// their own.
struct Study {
  Measurement screened;  ///< every plan, by a few short samples
  Measurement again;     ///< the best of those, by more
  std::vector<TestedPlan> tested;
  Measurement finals;  ///< the best of those again, and the tested ones

  /// Time over that of the fastest finalist; 0 where there is none.
  double of_best(const TestedPlan& tested) const;
};

/// `plans`: the rule's first. `budget_s`: of timing and packing; where it is short there are fewer samples.
Study studied(const CoreSource& source, const PatternStatistics& numbers, const std::vector<Plan>& plans,
              double budget_s, const decltype(SearchOptions::report)& report);

/// Of all plans their times relative to the rule's plan's, of the best again and of the finals all samples.
Record record_of(const Study& study);

/// The file of a matrix in a study's folder: "27-point-grid-60-x-60-x-60-nodes-3x3-double.json".
std::string study_file(const std::string& folder, const std::string& description, BlockShape block,
                       std::string_view scalars);

}  // namespace compound::bench::tune
