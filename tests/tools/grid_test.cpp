#include "grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace compound::bench {
namespace {

std::vector<std::int64_t> sorted_neighbours(const Grid& g, std::int64_t row) {
  std::vector<std::int64_t> all;
  g.neighbours(row, all);
  std::sort(all.begin(), all.end());
  return all;
}

class EveryGrid : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  Grid grid() const { return {find_grid(std::get<0>(GetParam())), std::get<1>(GetParam())}; }
};

TEST_P(EveryGrid, CountsItsEntriesAndHasTheDiagonalInEveryRow) {
  const Grid g = grid();

  std::int64_t entries = 0, diagonals = 0;
  for (std::int64_t row = 0; row < g.rows(); ++row) {
    const auto all = sorted_neighbours(g, row);
    entries += static_cast<std::int64_t>(all.size());
    diagonals += std::count(all.begin(), all.end(), row);
  }

  EXPECT_EQ(entries, g.entries());
  EXPECT_EQ(diagonals, g.rows());
}

TEST_P(EveryGrid, IsSymmetricWithoutDoubleEntriesAndWithinItsRows) {
  const Grid g = grid();

  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < g.rows(); ++row)
    for (const auto column : sorted_neighbours(g, row))
      wrong += column < 0 || column >= g.rows() || !pairs.insert({row, column}).second;
  for (const auto& [row, column] : pairs) wrong += !pairs.contains({column, row});

  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Sides, EveryGrid,
                         testing::Values(std::tuple{"7", 1}, std::tuple{"7", 4}, std::tuple{"15", 2},
                                         std::tuple{"15", 4}, std::tuple{"27", 1}, std::tuple{"27", 5},
                                         std::tuple{"surface", 3}, std::tuple{"surface", 6}));

TEST(Grid, InnerNodesHaveTheNumberOfNeighboursOfTheName) {
  EXPECT_EQ(sorted_neighbours({find_grid("7"), 3}, 13).size(), 7u);
  EXPECT_EQ(sorted_neighbours({find_grid("15"), 3}, 13).size(), 15u);
  EXPECT_EQ(sorted_neighbours({find_grid("27"), 3}, 13).size(), 27u);
  EXPECT_EQ(sorted_neighbours({find_grid("surface"), 5}, 0).size(), 7u);
}

TEST(Grid, CornersHaveFewer) {
  EXPECT_EQ(sorted_neighbours({find_grid("7"), 3}, 0), (std::vector<std::int64_t>{0, 1, 3, 9}));
  EXPECT_EQ(sorted_neighbours({find_grid("27"), 3}, 26).size(), 8u);
}

TEST(Grid, TakesTheNearestSide) {
  EXPECT_EQ(grid_of_rows(*find_grid("7"), 64000).side, 40);
  EXPECT_EQ(grid_of_rows(*find_grid("7"), 1).side, 1);
  EXPECT_EQ(grid_of_rows(*find_grid("27"), 950).side, 10);
  EXPECT_EQ(grid_of_rows(*find_grid("surface"), 99).side, 10);
  EXPECT_EQ(grid_of_rows(*find_grid("surface"), 2).side, 3);
}

TEST(Grid, MatchesAskedEntriesWithinOneSide) {
  for (const GridKind& kind : grid_kinds())
    for (const double wanted : {1.0, 1e3, 2.5e5, 7e8}) {
      const Grid g = grid_of_entries(kind, wanted);
      const auto distance = [&](std::int64_t side) {
        return std::abs(static_cast<double>(Grid{&kind, side}.entries()) - wanted);
      };
      EXPECT_LE(distance(g.side), distance(g.side + 1)) << kind.name << " " << wanted;
      EXPECT_TRUE(g.side == least_side(kind) || distance(g.side) <= distance(g.side - 1)) << kind.name << " " << wanted;
    }
}

TEST(Grid, UnknownNamesAreNull) { EXPECT_EQ(find_grid("8"), nullptr); }

TEST(Shuffle, WindowOfOneMovesNothing) {
  const Shuffle s(100, 1, 7);

  EXPECT_TRUE(s.identity());
  EXPECT_EQ(s.node_of(42), 42);
}

TEST(Shuffle, StaysWithinWindowsAndIsAPermutation) {
  const Shuffle s(103, 10, 7);

  std::set<std::int64_t> nodes;
  std::int64_t moved = 0, outside = 0, not_inverse = 0;
  for (std::int64_t row = 0; row < 103; ++row) {
    nodes.insert(s.node_of(row));
    moved += s.node_of(row) != row;
    outside += s.node_of(row) / 10 != row / 10;
    not_inverse += s.number_of(s.node_of(row)) != row;
  }

  EXPECT_EQ(nodes.size(), 103u);
  EXPECT_GT(moved, 50);
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(not_inverse, 0);
}

TEST(Shuffle, OfAllRowsCrossesWindows) {
  const Shuffle s(1000, 1000000, 7);

  std::int64_t far = 0;
  for (std::int64_t row = 0; row < 1000; ++row) far += std::abs(s.node_of(row) - row) > 100;

  EXPECT_GT(far, 500);
}

TEST(Shuffle, DependsOnTheSeedAndNothingElse) {
  const Shuffle a(50, 50, 1), b(50, 50, 1), c(50, 50, 2);

  bool same = true, other = false;
  for (std::int64_t row = 0; row < 50; ++row) {
    same = same && a.node_of(row) == b.node_of(row);
    other = other || a.node_of(row) != c.node_of(row);
  }

  EXPECT_TRUE(same);
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace compound::bench
