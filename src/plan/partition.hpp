// Plans of several parts: what their parts may be, and which entries of a pattern each takes.
#pragma once

#include "device/entry_runs.hpp"
#include "plan/plan.hpp"

namespace compound {

/// Whether one packed copy serves both, but for schedules of the first part.
inline bool is_laid_out_alike(const Plan& a, const Plan& b) {
  return a.entry == b.entry && a.layout == b.layout && a.values == b.values && a.codes == b.codes && a.half == b.half &&
         a.longest == b.longest && a.width == b.width && a.later == b.later;
}

/// "longest=64", "width=auto": what a part leaves to the next; empty where it leaves nothing.
std::string rest_text(idx longest, idx width);

/// Why the parts of a plan are not in order, in words; empty if they are, or where there is one.
std::optional<std::string> why_not_in_parts(const Plan& plan);

/// The first reason that f(part) has, with the part that it is about where there are several.
template <class F>
std::optional<std::string> first_of_parts(const Plan& plan, const F& f) {
  if (plan.later.empty()) return f(plan);
  int number = 0;
  for (const Plan& part : parts(plan)) {
    ++number;
    if (const auto why = f(part))
      return "part " + std::to_string(number) + ", " + layout_name(part.layout) + ": " + *why;
  }
  return {};
}

/// Which entries of a pattern those of a part are, as runs of neighbours: entry first[r] and those after it are
/// of_whole[r] and those after that.
struct EntryRuns {
  std::vector<count32> first, of_whole;
  count32 entries = 0;  ///< of the part

  bool empty() const { return first.empty(); }
  std::size_t bytes() const { return (first.size() + of_whole.size()) * sizeof(count32); }
  entry_runs args() const { return {static_cast<idx>(first.size()), first.data(), of_whole.data()}; }
  /// The first entry of the part that is not before entry `e` of the whole.
  slot_t first_from(slot_t e) const;
};

/// width=auto of rows of these lengths, which are left to a part: the most that at least a third of them have, and
/// 4,096 of them. So the hybrid format of Bell and Garland 2009 divides rows between slices of one width and
/// coordinates, since a GPU goes through the former three times as fast, where there are rows enough.
idx width_of_rows(std::vector<idx> lengths);

/// A part of a plan with its rows of a pattern.
struct PatternPart {
  Plan plan;
  int number = 0;     ///< of the part in its plan, from 0
  EntryRuns entries;  ///< none: all that the pattern has
  Pattern rows;       ///< without the entries of others; where it has not all entries

  bool has_all() const { return entries.empty(); }
  PatternView view(const PatternView& pattern) const { return has_all() ? pattern : rows.view(); }
};

/// The parts of a plan that have entries, each row, or what is left of it, in the first that takes so many entries; the
/// first part where there are no entries. Of a plan that stores a half: that, which is all of a pattern of the upper
/// triangle (`upper`). Entries of the diagonal that a row has twice are in one part, which their inverse needs.
std::vector<PatternPart> parts_of(const PatternView& pattern, const Plan& plan, bool upper = false);

}  // namespace compound
