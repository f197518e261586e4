// The plans that may be the fastest, timed once more in turn with the default plan: of many plans the fastest is the
// luckiest, and a few samples tell it apart from no other.
#pragma once

#include "planner/search.hpp"

namespace compound::bench::tune {

/// The middle half of a plan's times, relative to those of the default plan beside them.
struct Spread {
  double lower = 1, upper = 1;
  bool overlaps(const Spread& other) const { return lower <= other.upper && other.lower <= upper; }
};
Spread spread_of(const Measured& plan);

inline constexpr std::size_t most_finalists = 8;

/// Those to time once more: the default plan, then the ones that seem to be as fast as the fastest of `known`, which
/// were timed before, or faster; most_finalists at most. None where all such plans are known.
std::vector<Plan> finalists(const Measurement& found, const std::vector<Plan>& known);

/// Puts the samples of the finals in the place of the earlier ones. All times are then those of the default plan in the
/// finals, times the median of the ratios; the fastest comes first, and best_of() takes a finalist.
void take_finals(Measurement& found, const std::vector<Measurement>& finals);

/// The finals of a search, until no other plan seems to be faster than those that were in them; they take half as long
/// as the search, or two seconds.
/// `say` is told how many plans are timed.
void run_finals(Measurement& found, const SearchedMatrix& matrix, const void* values, const SearchOptions& options,
                const std::function<void(std::size_t)>& say);

/// Takes the time from plans that seem to be faster than the best one, and were not sampled often enough to know.
void leave_out_lucky(Measurement& found, const Measured& best);

/// As best_of(), but the default plan where the best one shows no difference from it.
const Measured* best_with_difference(const Measurement& measurement, double memory_weight);

}  // namespace compound::bench::tune
