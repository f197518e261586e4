#include "pattern/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/errors.hpp"
#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// A 3 x 4 pattern: {0, 2}, {}, {3, 1, 0}.
Pattern example() { return pattern_of(4, {{0, 2}, {}, {3, 1, 0}}); }

TEST(PatternCheck, AcceptsTheZoo) {
  for (const auto& z : zoo()) EXPECT_NO_THROW(check(z.pattern.view())) << z.name;
}

TEST(PatternCheck, NamesNegativeSizes) {
  Pattern p = example();
  p.cols = -4;

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "negative size 3 x -4");
}

TEST(PatternCheck, WantsOneRowStartMoreThanRows) {
  Pattern p = example();
  p.rows = 4;

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "4 row starts for 4 rows");
}

TEST(PatternCheck, WantsTheFirstRowToStartAtZero) {
  Pattern p = example();
  p.start[0] = 1;

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "the first row starts at 1, not at 0");
}

TEST(PatternCheck, NamesTheFirstRowThatEndsBeforeItStarts) {
  Pattern p = example();
  p.start = {0, 2, 1, 5};

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "row 1 ends before it starts");
}

TEST(PatternCheck, WantsAColumnForEachEntry) {
  Pattern p = example();
  p.column.pop_back();

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "4 columns for 5 entries");
}

TEST(PatternCheck, NamesRowAndColumnOutOfRange) {
  Pattern p = example();
  p.column[3] = 4;

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "row 2 has column 4, allowed are 0 to 3");
}

TEST(PatternCheck, NamesRowAndNegativeColumn) {
  Pattern p = example();
  p.column[1] = -1;

  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "row 0 has column -1, allowed are 0 to 3");
}

TEST(PatternStatistics, AreThoseOfAHandCountedExample) {
  const PatternStatistics s = statistics(example().view());

  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.cols, 4);
  EXPECT_EQ(s.entries, 5u);
  EXPECT_EQ(s.empty_rows, 1);
  EXPECT_EQ(s.shortest_row, 0);
  EXPECT_EQ(s.longest_row, 3);
  EXPECT_DOUBLE_EQ(s.mean_row, 5.0 / 3);
  EXPECT_DOUBLE_EQ(s.row_deviation * s.row_deviation, (4 + 0 + 9) / 3.0 - 25.0 / 9);
  EXPECT_EQ(s.bandwidth, 2);
}

TEST(PatternStatistics, CountBandwidthOnBothSidesOfTheDiagonal) {
  EXPECT_EQ(statistics(pattern_of(9, {{8}, {1}}).view()).bandwidth, 8);
  EXPECT_EQ(statistics(pattern_of(2, {{0}, {1}, {1}, {0}}).view()).bandwidth, 3);
}

TEST(PatternStatistics, TellRowsInOrderFromScatteredOnes) {
  const auto in_order = statistics(pattern_of(1000, {{0, 500}, {1, 501}, {2, 502}}).view());
  const auto scattered = statistics(pattern_of(1000, {{0, 500}, {100, 500}, {10, 900}}).view());

  EXPECT_EQ(in_order.scattered, 0);
  EXPECT_DOUBLE_EQ(in_order.mean_distance, 250);   // 0 and 500 in each row
  EXPECT_DOUBLE_EQ(scattered.scattered, 3.0 / 6);  // 100 after 0, 10 after 100, 900 after 500
  EXPECT_DOUBLE_EQ(scattered.mean_distance, (0 + 500 + 99 + 499 + 8 + 898) / 6.0);
}

TEST(PatternStatistics, HaveNoDeviationWhereRowsAreEqual) {
  const PatternStatistics s = statistics(pattern_of(3, {{0, 1}, {1, 2}, {2, 0}}).view());

  EXPECT_EQ(s.shortest_row, 2);
  EXPECT_EQ(s.longest_row, 2);
  EXPECT_EQ(s.row_deviation, 0);
}

TEST(PatternStatistics, AreZeroWithoutRows) {
  EXPECT_EQ(statistics(pattern_of(5, {}).view()), (PatternStatistics{.cols = 5}));
  std::vector<std::vector<idx>> rows(1000, {0, 1, 2});
  EXPECT_EQ(statistics(pattern_of(1000, rows).view()).usual_row, 3);
  for (idx c = 3; c < 900; ++c) rows[8].push_back(c);
  const PatternStatistics s = statistics(pattern_of(1000, rows).view());
  EXPECT_EQ(s.usual_row, 3) << "one row of 900 is not usual";
  EXPECT_EQ(s.long_entries, 900u);
}

TEST(Fingerprint, IsEqualForEqualPatterns) {
  const Pattern p = random_pattern(50, 40, 6, test_seed()), same = random_pattern(50, 40, 6, test_seed());

  EXPECT_EQ(fingerprint(p.view()), fingerprint(same.view())) << seed_text();
}

TEST(Fingerprint, DiffersBetweenAnyTwoOfTheZoo) {
  std::vector<std::uint64_t> prints;
  for (const auto& z : zoo()) prints.push_back(fingerprint(z.pattern.view()));

  std::sort(prints.begin(), prints.end());

  EXPECT_EQ(std::adjacent_find(prints.begin(), prints.end()), prints.end());
}

TEST(Fingerprint, ChangesWithAnySingleColumn) {
  const Pattern p = random_pattern(50, 40, 6, test_seed());
  int unchanged = 0;

  for (std::size_t e = 0; e < p.column.size(); ++e) {
    Pattern other = p;
    other.column[e] = (other.column[e] + 1) % p.cols;
    unchanged += fingerprint(other.view()) == fingerprint(p.view());
  }

  EXPECT_EQ(unchanged, 0) << seed_text();
}

TEST(Fingerprint, ChangesWithAnySingleRowStart) {
  const Pattern p = random_pattern(50, 40, 6, test_seed());
  int unchanged = 0;

  for (std::size_t r = 0; r < p.start.size(); ++r) {
    Pattern other = p;
    other.start[r] ^= 1;
    unchanged += fingerprint(other.view()) == fingerprint(p.view());
  }

  EXPECT_EQ(unchanged, 0) << seed_text();
}

TEST(Fingerprint, ChangesWithNothingButASize) {
  const Pattern p = example();
  PatternView more_rows = p.view(), more_cols = p.view();
  ++more_rows.rows;
  ++more_cols.cols;

  EXPECT_NE(fingerprint(more_rows), fingerprint(p.view()));
  EXPECT_NE(fingerprint(more_cols), fingerprint(p.view()));
}

TEST(Fingerprint, DoesNotDependOnWhereArraysLie) {
  const Pattern p = random_pattern(50, 40, 6, test_seed());
  Pattern moved = p;
  moved.start.insert(moved.start.begin(), 7);
  moved.column.insert(moved.column.begin(), 7);
  PatternView view = p.view();
  view.start = std::span(moved.start).subspan(1);
  view.column = std::span(moved.column).subspan(1);

  EXPECT_EQ(fingerprint(view), fingerprint(p.view())) << seed_text();
}

TEST(Fingerprint, ChangesWhenAnEntryMovesToTheNextRow) {
  const Pattern p = pattern_of(4, {{0, 1}, {1, 2}, {2, 3}, {3}});
  int unchanged = 0;

  for (idx r = 1; r < p.rows; ++r) {
    Pattern other = p;
    --other.start[r];
    unchanged += fingerprint(other.view()) == fingerprint(p.view());
  }

  EXPECT_EQ(unchanged, 0);
}

TEST(Fingerprint, ChangesWithSizesAndOrder) {
  const std::uint64_t original = fingerprint(example().view());

  EXPECT_NE(fingerprint(pattern_of(5, {{0, 2}, {}, {3, 1, 0}}).view()), original);
  EXPECT_NE(fingerprint(pattern_of(4, {{0, 2}, {}, {3, 1, 0}, {}}).view()), original);
  EXPECT_NE(fingerprint(pattern_of(4, {{2, 0}, {}, {3, 1, 0}}).view()), original);
}

TEST(Fingerprint, IsTheSameOnEveryMachine) {
  // Pinned: caches of plans on disk are keyed by it.
  std::vector<idx> row(45);
  for (idx k = 0; k < 45; ++k) row[k] = 7 * k % 100;

  EXPECT_EQ(fingerprint(example().view()), 0x798aa284a0708381u);
  EXPECT_EQ(fingerprint(pattern_of(0, {}).view()), 0x69f70c8c1bb9b990u);
  EXPECT_EQ(fingerprint(pattern_of(100, {row}).view()), 0xd9b15f8754044521u);
}

template <class Integer>
struct Wide {
  std::vector<Integer> start, column;

  explicit Wide(const Pattern& p) : start(p.start.begin(), p.start.end()), column(p.column.begin(), p.column.end()) {}
};

TEST(PatternFrom, TakesBothWidthsOfPetscIndices) {
  const Pattern p = example();
  const Wide<std::int32_t> narrow(p);
  const Wide<std::int64_t> wide(p);

  const Pattern from_narrow = pattern_from(3, 4, narrow.start.data(), narrow.column.data());
  const Pattern from_wide = pattern_from(3, 4, wide.start.data(), wide.column.data());

  EXPECT_EQ(fingerprint(from_narrow.view()), fingerprint(p.view()));
  EXPECT_EQ(fingerprint(from_wide.view()), fingerprint(p.view()));
}

TEST(PatternFrom, RefusesSizesBeyondThirtyTwoBits) {
  const std::int64_t start[] = {0}, column[] = {0};
  const std::int64_t many = std::int64_t{1} << 31;

  EXPECT_ERROR(pattern_from(many, 3, start, column), ErrorKind::too_large, "2147483648 x 3 blocks");
  EXPECT_ERROR(pattern_from(0, many, start, column), ErrorKind::too_large, "use more processes or larger blocks");
  EXPECT_ERROR(pattern_from(0, many - 1, start, column), ErrorKind::too_large, "0 x 2147483647 blocks");
  EXPECT_EQ(pattern_from(0, many - 2, start, column).cols, many - 2);
}

TEST(PatternFrom, RefusesEntryCountsBeyondThirtyTwoBitsBeforeReadingColumns) {
  const std::int64_t start[] = {0, std::int64_t{1} << 32};

  EXPECT_ERROR(pattern_from(1, 3, start, static_cast<const std::int64_t*>(nullptr)), ErrorKind::too_large,
               "4294967296 blocks on one process");
}

TEST(PatternFrom, RefusesColumnsThatNarrowingWouldBringIntoRange) {
  const std::int64_t start[] = {0, 1}, column[] = {(std::int64_t{1} << 32) + 2};

  EXPECT_ERROR(pattern_from(1, 3, start, column), ErrorKind::argument, "row 0 has column 4294967298");
}

TEST(PatternFrom, RefusesStartsThatNarrowingWouldBringIntoRange) {
  const std::int64_t start[] = {0, (std::int64_t{1} << 32) + 1, 2}, column[] = {0, 1};

  EXPECT_ERROR(pattern_from(2, 3, start, column), ErrorKind::argument, "row 1 ends before it starts");
}

TEST(PatternFrom, RefusesNegativeSizesWithoutReading) {
  const std::int64_t* const nothing = nullptr;

  EXPECT_ERROR(pattern_from(-1, 3, nothing, nothing), ErrorKind::argument, "negative size -1 x 3");
}

TEST(Transposed, OfTheTransposedIsThePatternWithSortedRows) {
  for (const auto& z : zoo()) {
    Pattern sorted = z.pattern;
    for (idx r = 0; r < sorted.rows; ++r)
      std::sort(sorted.column.begin() + sorted.start[r], sorted.column.begin() + sorted.start[r + 1]);

    const Pattern twice = transposed(transposed(z.pattern.view()).pattern.view()).pattern;

    EXPECT_EQ(twice.column, sorted.column) << z.name;
    EXPECT_EQ(twice.start, sorted.start) << z.name;
    EXPECT_EQ(std::pair(twice.rows, twice.cols), std::pair(sorted.rows, sorted.cols)) << z.name;
  }
}

/// Entry t of A^T in row r and column c stands for an entry of A in row c and column r.
int misplaced_entries(const Pattern& a, const Transposed& t) {
  std::vector<idx> row_of_entry;
  for (idx r = 0; r < a.rows; ++r) row_of_entry.insert(row_of_entry.end(), a.view().length(r), r);
  int misplaced = 0;
  for (idx r = 0; r < t.pattern.rows; ++r)
    for (count32 e = t.pattern.start[r]; e < t.pattern.start[r + 1]; ++e) {
      const count32 of_a = t.entry_of[e];
      misplaced += a.column[of_a] != r || row_of_entry[of_a] != t.pattern.column[e];
    }
  return misplaced;
}

TEST(Transposed, NamesTheEntryThatEachOfItsEntriesStandsFor) {
  for (const auto& z : zoo()) {
    const Transposed t = transposed(z.pattern.view());
    auto named = t.entry_of;
    std::sort(named.begin(), named.end());

    EXPECT_EQ(misplaced_entries(z.pattern, t), 0) << z.name;
    EXPECT_EQ(std::adjacent_find(named.begin(), named.end()), named.end()) << z.name;
    EXPECT_NO_THROW(check(t.pattern.view())) << z.name;
  }
}

TEST(Transposed, KeepsEntriesOfOneColumnInTheOrderOfTheRows) {
  const Transposed t = transposed(pattern_of(2, {{1, 0}, {1}, {0, 1, 1}}).view());

  EXPECT_EQ(t.pattern.column, (std::vector<idx>{0, 2, 0, 1, 2, 2}));
  EXPECT_EQ(t.entry_of, (std::vector<count32>{1, 3, 0, 2, 4, 5}));
}

/// More entries than one thread gets: rows of `length` entries from their own column on, around the end.
Pattern large_pattern(idx rows, idx length) {
  Pattern p{rows, rows, {0}, {}};
  p.column.reserve(static_cast<std::size_t>(rows) * length);
  for (idx r = 0; r < rows; ++r) {
    for (idx k = 0; k < length; ++k) p.column.push_back((r + k * k) % rows);
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

TEST(LargePattern, HasTheStatisticsOfAllItsRows) {
  constexpr idx rows = 300'000, length = 10;
  const Pattern p = large_pattern(rows, length);
  double distance = 0;
  idx bandwidth = 0, far = 0;
  for (idx r = 0; r < rows; ++r)
    for (idx k = 0; k < length; ++k) {
      const idx d = std::abs(r - (r + k * k) % rows);
      distance += d;
      bandwidth = std::max(bandwidth, d);
      if (r > 0) far += std::abs((r + k * k) % rows - (r - 1 + k * k) % rows) > 64;
    }

  const PatternStatistics s = statistics(p.view());

  EXPECT_EQ(s.entries, count32{rows * length});
  EXPECT_EQ(s.shortest_row, length);
  EXPECT_EQ(s.longest_row, length);
  EXPECT_EQ(s.empty_rows, 0);
  EXPECT_EQ(s.bandwidth, bandwidth);
  EXPECT_DOUBLE_EQ(s.mean_distance, distance / (double{rows} * length));
  EXPECT_DOUBLE_EQ(s.scattered, far / (double{rows} * length));
  EXPECT_EQ(s.row_deviation, 0);
}

TEST(LargePattern, IsCheckedToItsLastRow) {
  constexpr idx rows = 300'000;
  Pattern p = large_pattern(rows, 10);
  EXPECT_NO_THROW(check(p.view()));
  p.column.back() = rows;
  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "row 299999 has column 300000");

  p.column[p.start[160'000]] = -7;
  EXPECT_ERROR(check(p.view()), ErrorKind::argument, "row 160000 has column -7");
}

}  // namespace
}  // namespace compound::test
