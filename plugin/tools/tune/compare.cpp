#include "compare.hpp"

#include <algorithm>

namespace compound::bench::tune {

namespace {

/// f(matrix, plan, seconds) for every time.
template <class F>
void for_each(const SavedTimes& times, const F& f) {
  for (const auto& [matrix, plans] : times)
    for (const auto& [plan, seconds] : plans) f(matrix, plan, seconds);
}

/// Null where there is none.
const double* find(const SavedTimes& times, const std::string& matrix, const std::string& plan) {
  const auto of_matrix = times.find(matrix);
  if (of_matrix == times.end()) return nullptr;
  const auto found = of_matrix->second.find(plan);
  return found == of_matrix->second.end() ? nullptr : &found->second;
}

}  // namespace

Comparison compared(const SavedTimes& before, const SavedTimes& after, double threshold) {
  Comparison c;
  for_each(before, [&](const std::string& matrix, const std::string& plan, double before_s) {
    const double* const after_s = find(after, matrix, plan);
    if (!after_s) {
      ++c.before_alone;
      return;
    }
    ++c.compared;
    const Change change{matrix, plan, before_s, *after_s};
    if (change.ratio() > threshold) c.slower.push_back(change);
    if (change.ratio() * threshold < 1) c.faster.push_back(change);
  });
  for_each(after, [&](const std::string& matrix, const std::string& plan, double) {
    if (!find(before, matrix, plan)) ++c.after_alone;
  });
  std::ranges::stable_sort(c.slower, std::greater{}, &Change::ratio);
  std::ranges::stable_sort(c.faster, {}, &Change::ratio);
  return c;
}

}  // namespace compound::bench::tune
