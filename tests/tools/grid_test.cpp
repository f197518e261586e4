#include "generated_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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

TEST_P(EveryGrid, CountsItsEntriesAndHasTheDiagonal) {
  const Grid g = grid();

  std::int64_t entries = 0, diagonals = 0;
  for (std::int64_t row = 0; row < g.rows(); ++row) {
    const auto all = sorted_neighbours(g, row);
    entries += static_cast<std::int64_t>(all.size());
    diagonals += std::count(all.begin(), all.end(), row);
  }

  EXPECT_EQ(entries, g.entries());
  // The multipliers of an optimality system have no entry on the diagonal.
  EXPECT_EQ(diagonals, g.rows() - (g.kind->name == "kkt" ? g.sides.x * g.sides.x * g.sides.x : 0));
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
                                         std::tuple{"surface", 3}, std::tuple{"surface", 6}, std::tuple{"5", 1},
                                         std::tuple{"5", 4}, std::tuple{"dense", 7}, std::tuple{"kkt", 1},
                                         std::tuple{"kkt", 2}, std::tuple{"kkt", 5}, std::tuple{"elasticity", 1},
                                         std::tuple{"elasticity", 4}));

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

TEST(Grid, HasSidesOfDifferentLengths) {
  const Grid box{find_grid("7"), {4, 3, 2}}, square{find_grid("5"), {1000, 1000}};

  EXPECT_EQ(box.rows(), 24);
  EXPECT_EQ(sorted_neighbours(box, 0), (std::vector<std::int64_t>{0, 1, 4, 12}));
  EXPECT_EQ(sorted_neighbours(box, 23), (std::vector<std::int64_t>{11, 19, 22, 23}));
  std::int64_t entries = 0;
  for (std::int64_t row = 0; row < box.rows(); ++row)
    entries += static_cast<std::int64_t>(sorted_neighbours(box, row).size());
  EXPECT_EQ(entries, box.entries());
  EXPECT_EQ(box.description(), "7-point grid, 4 x 3 x 2 nodes");
  EXPECT_EQ(square.description(), "5-point grid, 1000^2 nodes");
}

/// Sizes that the SuiteSparse collection prints.
TEST(Grid, HasTheSizesOfPublishedMatrices) {
  const Grid atmosmodd{find_grid("7"), {148, 148, 58}}, atmosmodl{find_grid("7"), {198, 198, 38}};
  const Grid ecology{find_grid("5"), 1000}, pde100{find_grid("7"), 100};

  EXPECT_EQ(atmosmodd.rows(), 1270432);
  EXPECT_EQ(atmosmodd.entries(), 8814880);
  EXPECT_EQ(atmosmodl.rows(), 1489752);
  EXPECT_EQ(atmosmodl.entries(), 10319760);
  EXPECT_EQ(ecology.rows(), 1000000);
  EXPECT_EQ(ecology.entries(), 4996000);
  EXPECT_EQ(pde100.entries(), 6940000);
}

TEST(Grid, OptimalitySystemsHaveTheSizesOfNlpkkt) {
  const std::tuple<int, std::int64_t, std::int64_t> published[] = {
      {80, 1062400, 28192672}, {120, 3542400, 95117792}, {160, 8345600, 225422112}};
  for (const auto& [n, rows, entries] : published) {
    const Grid g{find_grid("kkt"), n};
    EXPECT_EQ(g.rows(), rows) << n;
    EXPECT_EQ(g.entries(), entries) << n;
  }
}

TEST(Grid, OptimalitySystemsHaveRowsOf28EntriesAtMost) {
  const Grid g{find_grid("kkt"), 4};

  std::size_t longest = 0;
  for (std::int64_t row = 0; row < g.rows(); ++row) longest = std::max(longest, sorted_neighbours(g, row).size());

  EXPECT_EQ(longest, 28u);
}

TEST(Grid, ElasticityCouplesTheThreeUnknownsOfNeighbours) {
  const Grid g{find_grid("elasticity"), {3, 4, 5}}, cube{find_grid("27"), {3, 4, 5}};

  EXPECT_EQ(g.rows(), 3 * cube.rows());
  EXPECT_EQ(g.entries(), 9 * cube.entries());
  EXPECT_EQ(sorted_neighbours(g, 1).size(), 3u * 8);
  // The same step, other unknowns.
  EXPECT_EQ(g.relation(0, 3), g.relation(3, 6));
  EXPECT_NE(g.relation(0, 3), g.relation(0, 4));
  EXPECT_NE(g.relation(0, 3), g.relation(1, 3));
}

TEST(Grid, RelationsAreThoseOfTheStencil) {
  const Grid cube{find_grid("27"), 5}, torus{find_grid("surface"), 4};

  std::set<std::int64_t> of_cube, of_torus;
  for (std::int64_t row = 0; row < cube.rows(); ++row)
    for (const auto column : sorted_neighbours(cube, row)) of_cube.insert(cube.relation(row, column));
  for (std::int64_t row = 0; row < torus.rows(); ++row)
    for (const auto column : sorted_neighbours(torus, row)) of_torus.insert(torus.relation(row, column));

  EXPECT_EQ(of_cube.size(), 27u);
  EXPECT_EQ(of_torus.size(), 7u);
}

TEST(LongRows, AreSpreadAndHaveSoManyEntries) {
  const Generated matrix{Grid(find_grid("7"), 10), Shuffle(1000, 1, 1), {7, 50}};
  const std::int64_t length = matrix.longer.length(matrix.grid);

  std::vector<std::int64_t> columns, long_ones;
  for (std::int64_t row = 0; row < 1000; ++row) {
    matrix.columns(row, columns);
    EXPECT_TRUE(std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end());
    if (columns.size() <= 7) continue;
    long_ones.push_back(row);
    EXPECT_EQ(columns.size(), static_cast<std::size_t>(length));
  }

  EXPECT_EQ(length, 320);  // 50 times 6.4
  EXPECT_EQ(long_ones, (std::vector<std::int64_t>{71, 214, 357, 500, 642, 785, 928}));
}

TEST(LongRows, OfAnyNumberAreSoMany) {
  for (std::int64_t count = 1; count <= 27; ++count) {
    const Generated matrix{Grid(find_grid("7"), 3), Shuffle(27, 27, 1), {count, 1e6}};
    std::vector<std::int64_t> columns;
    std::int64_t full = 0;
    for (std::int64_t row = 0; row < 27; ++row) {
      matrix.columns(row, columns);
      full += columns.size() == 27;
    }
    EXPECT_EQ(full, count);
  }
}

TEST(Grid, TakesTheNearestSide) {
  EXPECT_EQ(grid_of_rows(*find_grid("7"), 64000).sides.x, 40);
  EXPECT_EQ(grid_of_rows(*find_grid("7"), 1).sides.x, 1);
  EXPECT_EQ(grid_of_rows(*find_grid("27"), 950).sides.x, 10);
  EXPECT_EQ(grid_of_rows(*find_grid("surface"), 99).sides.x, 10);
  EXPECT_EQ(grid_of_rows(*find_grid("surface"), 2).sides.x, 3);
}

TEST(Grid, MatchesAskedEntriesWithinOneSide) {
  for (const GridKind& kind : grid_kinds())
    for (const double wanted : {1.0, 1e3, 2.5e5, 7e8}) {
      const Grid g = grid_of_entries(kind, wanted);
      const auto distance = [&](std::int64_t side) {
        return std::abs(static_cast<double>(Grid{&kind, side}.entries()) - wanted);
      };
      EXPECT_LE(distance(g.sides.x), distance(g.sides.x + 1)) << kind.name << " " << wanted;
      EXPECT_TRUE(g.sides.x == least_side(kind) || distance(g.sides.x) <= distance(g.sides.x - 1))
          << kind.name << " " << wanted;
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
