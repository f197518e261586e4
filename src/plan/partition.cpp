#include "plan/partition.hpp"

#include <algorithm>
#include <functional>

#include "layout/family.hpp"

namespace compound {

namespace {

/// Rows that are not in a later part must cost it nothing, and keep what the parts before have made of them.
bool visits_only_its_rows(const LayoutSpec& layout) { return layout.row_list || family_of(layout).visited_rows >= 0; }

/// What a part leaves to the next: of the rows that come to it those of more than `longest` entries, of the others what
/// they have beyond `width`.
struct Rest {
  idx longest, width;
  bool is_none() const { return longest == any_number && width == any_number; }
};

std::vector<Rest> rests_of(const Plan& plan) {
  std::vector<Rest> all{{plan.longest, plan.width}};
  for (const PlanPart& part : plan.later) all.push_back({part.longest, part.width});
  return all;
}

}  // namespace

std::string rest_text(idx longest, idx width) {
  if (longest != any_number) return "longest=" + std::to_string(longest);
  if (width != any_number) return "width=" + (width == width_by_rule ? "auto" : std::to_string(width));
  return {};
}

std::vector<Plan> parts(const Plan& plan) {
  Plan part = plan;
  part.later.clear();
  part.longest = part.width = any_number;
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
  const std::vector<Rest> rests = rests_of(plan);
  const Rest& last = rests.back();
  const std::string left = rest_text(last.longest, last.width),
                    remedy = "; add one (\"... " + left + " + ccoo\"), or leave ";
  if (last.longest != any_number)
    return left + " leaves longer rows to a next part, and there is none" + remedy + "longest= out";
  if (last.width != any_number)
    return left + " leaves the other entries of rows to a next part, and there is none" + remedy + "width= out";
  const auto by_library = [](const Plan& part) { return !part.schedule.library.empty(); };
  if (!plan.later.empty() && std::ranges::any_of(parts(plan), by_library))
    return "a library's product is of a whole matrix: plans of several parts name none; leave cusparse: out";
  idx longest = 0;  // what comes to the part is longer
  for (std::size_t n = 0; n < plan.later.size(); ++n) {
    const PlanPart& part = plan.later[n];
    const Rest& before = rests[n];
    if (before.is_none())
      return where(n + 1, n == 0 ? plan.layout : plan.later[n - 1].layout) +
             "leaves no rows to the next; say longest=N: rows of more entries go there, or width=N: what rows have "
             "beyond N entries";
    longest = before.longest != any_number ? before.longest : std::max(0, longest - before.width);
    if (before.width == width_by_rule) longest = 0;
    if (part.longest <= longest)
      return where(n + 2, part.layout) + "has longest=" + std::to_string(part.longest) +
             ", but shorter rows than that are in the parts before; make it more than " + std::to_string(longest);
    if (!visits_only_its_rows(part.layout))
      return where(n + 2, part.layout) + "goes by allrows; later parts list their rows: leave allrows out";
    if (part.layout.vector_group != plan.layout.vector_group)
      return where(n + 2, part.layout) + "has other vectors than part 1; they are the whole plan's";
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

/// How many entries a part takes of a row whose first `from` are gone. Where it would take some of the row's blocks on
/// the diagonal, and leave others, it takes what is before them.
idx taken(const PatternView& p, idx row, idx from, const Rest& rest) {
  const idx left = p.length(row) - from;
  if (left > rest.longest) return 0;
  if (left <= rest.width) return left;
  const auto columns = p.column.subspan(p.start[row] + from, left);
  const auto on_diagonal = std::ranges::find(columns.first(rest.width), row);
  const auto before = static_cast<idx>(on_diagonal - columns.begin());
  if (before == rest.width || std::ranges::count(columns.subspan(rest.width), row) == 0) return rest.width;
  return before;
}

/// Of each row `count` entries, from `from` on, which are so many `entries`.
PatternPart part_of(const PatternView& p, const Plan& plan, int number, const std::vector<idx>& from,
                    const std::vector<idx>& count, count32 entries) {
  PatternPart part{plan, number, {}, {p.rows, p.cols, {0}, {}}};
  Pattern& rows = part.rows;
  rows.start.reserve(std::size_t(p.rows) + 1);
  rows.column.reserve(entries);
  count32 end_of_run = 0;
  for (idx row = 0; row < p.rows; ++row) {
    if (count[row] > 0) {
      const count32 first = p.start[row] + from[row];
      if (rows.column.empty() || first != end_of_run) {
        part.entries.first.push_back(static_cast<count32>(rows.column.size()));
        part.entries.of_whole.push_back(first);
      }
      const auto columns = p.column.subspan(first, count[row]);
      rows.column.insert(rows.column.end(), columns.begin(), columns.end());
      end_of_run = first + count[row];
    }
    rows.start.push_back(static_cast<count32>(rows.column.size()));
  }
  part.entries.entries = rows.start.back();
  return part;
}

/// [rows] the entries that the parts before leave.
std::vector<idx> left_after(const PatternView& p, const std::vector<idx>& taken) {
  std::vector<idx> left(p.rows);
  for (idx row = 0; row < p.rows; ++row) left[row] = p.length(row) - taken[row];
  return left;
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

idx width_of_rows(std::vector<idx> lengths) {
  const std::size_t rows = std::max<std::size_t>(4096, (lengths.size() + 2) / 3);
  if (rows > lengths.size()) return 0;
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(rows - 1);
  std::ranges::nth_element(lengths, last, std::greater{});
  return *last;
}

std::vector<PatternPart> parts_of(const PatternView& pattern, const Plan& plan, bool upper) {
  if (plan.half != Half::none && !upper && pattern.entries() > 0) {
    std::vector<PatternPart> half;
    half.push_back(upper_half(pattern, plan));
    return half;
  }
  if (plan.later.empty()) return {{plan, 0, {}, {}}};
  const std::vector<Plan> plans = parts(plan);
  std::vector<Rest> rests = rests_of(plan);
  std::vector<idx> from(pattern.rows, 0), count(pattern.rows, 0);
  std::vector<PatternPart> found;
  for (int n = 0; n < static_cast<int>(plans.size()); ++n) {
    for (idx row = 0; row < pattern.rows; ++row) from[row] += count[row];
    if (rests[n].width == width_by_rule) rests[n].width = width_of_rows(left_after(pattern, from));
    count32 entries = 0;
    for (idx row = 0; row < pattern.rows; ++row) {
      count[row] = taken(pattern, row, from[row], rests[n]);
      entries += static_cast<count32>(count[row]);
    }
    if (entries == pattern.entries()) return {{plans[n], n, {}, {}}};  // all, or there are none
    if (entries > 0) found.push_back(part_of(pattern, plans[n], n, from, count, entries));
  }
  return found;
}

}  // namespace compound
