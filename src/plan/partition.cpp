#include "plan/partition.hpp"

#include <algorithm>

#include "layout/family.hpp"

namespace compound {

namespace {

/// Rows that are not in a later part must cost it nothing, and keep what the parts before have made of them.
bool visits_only_its_rows(const LayoutSpec& layout) { return layout.row_list || family_of(layout).visited_rows >= 0; }

}  // namespace

std::vector<Plan> parts(const Plan& plan) {
  Plan part = plan;
  part.later.clear();
  part.longest = any_number;
  std::vector<Plan> all{part};
  for (const PlanPart& later : plan.later) {
    part.layout = later.layout;
    part.schedule = later.schedule;
    all.push_back(part);
  }
  return all;
}

std::optional<std::string> why_not_in_parts(const Plan& plan) {
  const auto where = [&](std::size_t number, const LayoutSpec& layout) {
    return "part " + std::to_string(number) + ", " + layout_name(layout) + ", ";
  };
  const idx last = plan.later.empty() ? plan.longest : plan.later.back().longest;
  if (last != any_number)
    return "longest=" + std::to_string(last) +
           " leaves longer rows to a next part, and there is none; add one (\"... longest=" + std::to_string(last) +
           " + ccoo\"), or leave longest= out";
  const auto by_library = [](const Plan& part) { return !part.schedule.library.empty(); };
  if (!plan.later.empty() && std::ranges::any_of(parts(plan), by_library))
    return "a library's product is of a whole matrix: plans of several parts name none; leave cusparse: out";
  idx longest = plan.longest;
  for (std::size_t n = 0; n < plan.later.size(); ++n) {
    const PlanPart& part = plan.later[n];
    if (longest == any_number)
      return where(n + 1, n == 0 ? plan.layout : plan.later[n - 1].layout) +
             "leaves no rows to the next; say longest=N: rows of more entries go there";
    if (part.longest <= longest)
      return where(n + 2, part.layout) + "has longest=" + std::to_string(part.longest) +
             ", but shorter rows than that are in the parts before; make it more than " + std::to_string(longest);
    if (!visits_only_its_rows(part.layout))
      return where(n + 2, part.layout) + "goes by allrows; later parts list their rows: leave allrows out";
    if (part.layout.vector_group != plan.layout.vector_group)
      return where(n + 2, part.layout) + "has other vectors than part 1; they are the whole plan's";
    longest = part.longest;
  }
  return {};
}

slot_t EntryRuns::first_from(slot_t e) const {
  const auto after = std::ranges::upper_bound(of_whole, e);
  if (after == of_whole.begin()) return 0;
  const auto run = static_cast<std::size_t>(after - of_whole.begin()) - 1;
  const slot_t end = run + 1 < first.size() ? slot_t{first[run + 1]} : slot_t{entries};
  return std::min(first[run] + (e - of_whole[run]), end);
}

namespace {

/// The rows of more than `more_than` and up to `longest` entries, which are so many `entries`.
PatternPart part_of(const PatternView& p, const Plan& plan, int number, idx more_than, idx longest, count32 entries) {
  PatternPart part{plan, number, {}, {p.rows, p.cols, {0}, {}}};
  Pattern& rows = part.rows;
  rows.start.reserve(std::size_t(p.rows) + 1);
  rows.column.reserve(entries);
  bool in_run = false;
  for (idx row = 0; row < p.rows; ++row) {
    const idx length = p.length(row);
    if (length > more_than && length <= longest) {
      if (!in_run && length > 0) {
        part.entries.first.push_back(static_cast<count32>(rows.column.size()));
        part.entries.of_whole.push_back(p.start[row]);
        in_run = true;
      }
      const auto columns = p.column.subspan(p.start[row], length);
      rows.column.insert(rows.column.end(), columns.begin(), columns.end());
    } else if (length > 0) {
      in_run = false;
    }
    rows.start.push_back(static_cast<count32>(rows.column.size()));
  }
  part.entries.entries = rows.start.back();
  return part;
}

/// The entries on the diagonal and above.
PatternPart upper_half(const PatternView& p, const Plan& plan) {
  PatternPart part{plan, 0, {}, {p.rows, p.cols, {0}, {}}};
  Pattern& rows = part.rows;
  rows.start.reserve(std::size_t(p.rows) + 1);
  rows.column.reserve(p.entries() / 2 + p.rows);
  for (idx row = 0; row < p.rows; ++row) {
    const auto columns = p.column.subspan(p.start[row], p.length(row));
    const auto from = std::ranges::lower_bound(columns, row);
    if (from != columns.end()) {
      part.entries.first.push_back(static_cast<count32>(rows.column.size()));
      part.entries.of_whole.push_back(p.start[row] + static_cast<count32>(from - columns.begin()));
    }
    rows.column.insert(rows.column.end(), from, columns.end());
    rows.start.push_back(static_cast<count32>(rows.column.size()));
  }
  part.entries.entries = rows.start.back();
  return part;
}

}  // namespace

std::vector<PatternPart> parts_of(const PatternView& pattern, const Plan& plan, bool upper) {
  if (plan.half != Half::none && !upper && pattern.entries() > 0) {
    std::vector<PatternPart> half;
    half.push_back(upper_half(pattern, plan));
    return half;
  }
  if (plan.later.empty()) return {{plan, 0, {}, {}}};
  std::vector<idx> longest{-1, plan.longest};
  for (const PlanPart& part : plan.later) longest.push_back(part.longest);
  std::vector<count32> entries(longest.size() - 1, 0);
  for (idx row = 0; row < pattern.rows; ++row) {
    const idx length = pattern.length(row);
    const auto part = std::ranges::lower_bound(longest.begin() + 1, longest.end(), length) - longest.begin() - 1;
    entries[part] += static_cast<count32>(length);
  }
  const std::vector<Plan> plans = parts(plan);
  std::vector<PatternPart> found;
  for (int n = 0; n < static_cast<int>(plans.size()); ++n) {
    if (entries[n] == pattern.entries()) return {{plans[n], n, {}, {}}};  // all, or there are none
    if (entries[n] > 0) found.push_back(part_of(pattern, plans[n], n, longest[n], longest[n + 1], entries[n]));
  }
  return found;
}

}  // namespace compound
