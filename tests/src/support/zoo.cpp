#include "zoo.hpp"

#include <algorithm>

#include "random.hpp"

namespace compound::test {

namespace {

using Rows = std::vector<std::vector<idx>>;

Pattern banded(idx rows, idx cols, idx half_width) {
  Rows lists(rows);
  for (idx r = 0; r < rows; ++r)
    for (idx c = std::max(0, r - half_width); c <= std::min(cols - 1, r + half_width); ++c) lists[r].push_back(c);
  return pattern_of(cols, lists);
}

/// Every third row has two entries; the first and the last row have none.
Pattern empty_rows() {
  Rows lists(50);
  for (idx r = 1; r < 49; r += 3) lists[r] = {r, 49 - r};
  return pattern_of(50, lists);
}

/// A full row among rows of one or no entry.
Pattern one_long_row() {
  Rows lists(80);
  for (idx r = 0; r < 80; r += 2) lists[r] = {3 * r};
  for (idx c = 0; c < 300; ++c) lists[37].push_back(c);
  return pattern_of(300, lists);
}

/// Twice and three times the same column in a row: the entries add up.
Pattern repeated_column() { return pattern_of(4, {{0, 2, 2, 3, 2}, {1}, {3, 3}}); }

}  // namespace

Pattern pattern_of(idx cols, const Rows& rows) {
  Pattern p{static_cast<idx>(rows.size()), cols, {0}, {}};
  for (const auto& columns : rows) {
    p.column.insert(p.column.end(), columns.begin(), columns.end());
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

Pattern pattern_of_lengths(const std::vector<idx>& lengths) {
  std::vector<std::vector<idx>> rows;
  idx cols = 1;
  for (const idx length : lengths) {
    rows.emplace_back(length);
    for (idx k = 0; k < length; ++k) rows.back()[k] = k;
    cols = std::max(cols, length);
  }
  return pattern_of(cols, rows);
}

Pattern random_pattern(idx rows, idx cols, idx longest, std::uint64_t seed) {
  Random random(seed);
  Rows lists(rows);
  for (auto& columns : lists)
    for (idx left = random.below(longest + 1); left > 0; --left) columns.push_back(random.below(cols));
  return pattern_of(cols, lists);
}

Pattern even_pattern(idx rows, count32 entries) {
  Pattern p{rows, rows, {0}, {}};
  for (idx r = 1; r <= rows; ++r)
    p.start.push_back(static_cast<count32>(static_cast<std::uint64_t>(entries) * r / rows));
  for (idx r = 0; r < rows; ++r)
    for (count32 e = p.start[r]; e < p.start[r + 1]; ++e)
      p.column.push_back((r + static_cast<idx>(e - p.start[r])) % rows);
  return p;
}

const std::vector<ZooPattern>& zoo() {
  static const std::vector<ZooPattern> patterns = {
      {"no rows, no columns", pattern_of(0, {})},
      {"no rows", pattern_of(5, {})},
      {"no columns", pattern_of(0, Rows(5))},
      {"one by one", pattern_of(1, {{0}})},
      {"all rows empty", pattern_of(7, Rows(40))},
      {"empty rows", empty_rows()},
      {"one long row", one_long_row()},
      {"banded", banded(100, 100, 2)},
      {"wide", random_pattern(13, 90, 12, 1)},
      {"tall", random_pattern(90, 13, 4, 2)},
      {"random", random_pattern(70, 70, 9, 3)},
      {"repeated column", repeated_column()},
      {"many slices", random_pattern(1100, 300, 6, 4)},
  };
  return patterns;
}

}  // namespace compound::test
