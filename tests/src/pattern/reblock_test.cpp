#include "pattern/reblock.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/errors.hpp"
#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Every scalar of a matrix, where zeros are not stored.
struct Dense {
  idx rows, cols;
  std::vector<double> all = std::vector<double>(std::size_t{1} * rows * cols);
  bool operator==(const Dense&) const = default;

  /// Adds the blocks that begin at these rows and columns.
  void add(const PatternView& p, BlockShape block, const std::vector<double>& values, const std::vector<idx>& row_start,
           const std::vector<idx>& col_start) {
    for (idx r = 0; r < p.rows; ++r)
      for (count32 e = p.start[r]; e < p.start[r + 1]; ++e)
        for (int j = 0; j < block.cols; ++j)
          for (int i = 0; i < block.rows; ++i) {
            const idx row = row_start[r] + i, col = col_start[p.column[e]] + j;
            const double v = values[(std::size_t{e} * block.cols + j) * block.rows + i];
            if (row < row_start[r + 1] && col < col_start[p.column[e] + 1])
              all[std::size_t{1} * row * cols + col] += v;
            else
              EXPECT_EQ(v, 0) << "padding";
          }
  }
  /// Adds an edge that begins there.
  void add(const Edge& edge, const std::vector<double>& given, idx first_row, idx first_col) {
    const auto values = values_of(edge, given.data());
    const PatternView p = edge.pattern.view();
    for (idx r = 0; r < p.rows; ++r)
      for (count32 e = p.start[r]; e < p.start[r + 1]; ++e)
        all[std::size_t{1} * (first_row + r) * cols + first_col + p.column[e]] += values[e];
  }
};

std::vector<idx> even_starts(idx groups, int size) {
  std::vector<idx> start;
  for (idx g = 0; g <= groups; ++g) start.push_back(g * size);
  return start;
}

std::vector<double> random_values(const PatternView& p, int block) {
  Random random;
  std::vector<double> v(std::size_t{p.entries()} * block * block);
  for (double& x : v) x = random.whole_number<double>();
  return v;
}

/// Nodes of 3 unknowns each, every `clamped`-th with only 2, coupled to their neighbours on a line.
Pattern partly_clamped(int nodes, int clamped) {
  std::vector<std::vector<idx>> unknowns(nodes), rows;
  idx next = 0;
  for (int n = 0; n < nodes; ++n)
    for (int k = 0; k < (n % clamped == 0 ? 2 : 3); ++k) unknowns[n].push_back(next++);
  for (int n = 0; n < nodes; ++n)
    for (std::size_t k = 0; k < unknowns[n].size(); ++k) {
      std::vector<idx> row;
      for (int m = std::max(0, n - 1); m < std::min(nodes, n + 2); ++m)
        row.insert(row.end(), unknowns[m].begin(), unknowns[m].end());
      rows.push_back(row);
    }
  return pattern_of(next, rows);
}

struct Sizes {
  int from;
  BlockShape to;
};
void PrintTo(const Sizes& s, std::ostream* out) { *out << s.from << " to " << text_of(s.to); }

struct Reblocking : testing::TestWithParam<Sizes> {};

TEST_P(Reblocking, KeepsEveryScalarOfTheZoo) {
  const auto [from, to] = GetParam();
  for (const auto& z : zoo()) {
    SCOPED_TRACE(z.name);
    const auto given = z.pattern.view();
    const auto values = random_values(given, from);

    const auto r = reblocked(given, from, to);
    std::vector<double> blocks(r.pattern.view().entries() * scalars_in(to), 7.0);
    fill_blocks(r, given, values.data(), blocks.data());

    Dense expected{given.rows * from, given.cols * from}, found = expected;
    expected.add(given, {from, from}, values, even_starts(given.rows, from), even_starts(given.cols, from));
    found.add(r.pattern.view(), to, blocks, r.rows.start, r.cols.start);
    if (r.beside) found.add(*r.beside, values, 0, r.cols.scalars());
    if (r.below) found.add(*r.below, values, r.rows.scalars(), 0);
    EXPECT_NO_THROW(check(r.pattern.view()));
    EXPECT_EQ(found, expected);
  }
}

/// What is left over at the edges is less than a block, and there only.
TEST_P(Reblocking, LeavesLessThanABlockOver) {
  const auto [from, to] = GetParam();
  for (const auto& z : zoo()) {
    SCOPED_TRACE(z.name);
    const auto given = z.pattern.view();

    const auto r = reblocked(given, from, to);

    EXPECT_LT(r.rows.all_scalars() - r.rows.scalars(), to.rows);
    EXPECT_LT(r.cols.all_scalars() - r.cols.scalars(), to.cols);
    EXPECT_EQ(r.below.has_value(), r.rows.scalars() < given.rows * from);
    EXPECT_EQ(r.beside.has_value(), r.cols.scalars() < given.cols * from);
    for (const auto* edge : {&r.beside, &r.below})
      EXPECT_NO_THROW(check(*edge ? (*edge)->pattern.view() : r.pattern.view()));
  }
}

constexpr Sizes sizes[] = {{1, {1, 1}}, {1, {2, 2}}, {1, {3, 3}}, {1, {8, 8}}, {2, {1, 1}},   {2, {4, 4}}, {2, {6, 6}},
                           {3, {1, 1}}, {3, {3, 3}}, {6, {2, 2}}, {6, {3, 3}}, {4, {12, 12}}, {1, {3, 2}}, {1, {2, 3}},
                           {1, {1, 7}}, {1, {5, 1}}, {2, {4, 1}}, {2, {1, 6}}, {6, {3, 2}},   {6, {12, 3}}};
INSTANTIATE_TEST_SUITE_P(Sizes, Reblocking, testing::ValuesIn(sizes), [](const auto& i) {
  return std::to_string(i.param.from) + "_to_" + std::to_string(i.param.to.rows) + "x" +
         std::to_string(i.param.to.cols);
});

TEST(Reblock, RefusesSizesThatDoNotFit) {
  const auto p = pattern_of(2, {{0}, {1}});

  EXPECT_ERROR(reblocked(p.view(), 3, {4, 4}), ErrorKind::argument, "blocks of 4 do not fit a matrix with blocks of 3");
  EXPECT_ERROR(reblocked(p.view(), 2, {2, 0}), ErrorKind::argument, "choose a multiple or a divisor of 2");
  EXPECT_ERROR(reblocked(p.view(), 2, {4, 3}), ErrorKind::argument, "blocks of 4x3 do not fit");
}

TEST(Reblock, RefusesMoreScalarsThanAnIndexCounts) {
  Pattern p{1 << 30, 1 << 30, {}, {}};

  EXPECT_ERROR(reblocked(p.view(), 4, {8, 8}), ErrorKind::too_large, "use more processes");
}

TEST(Reblock, FindsTheNodesOfAPartlyClampedMesh) {
  const auto p = partly_clamped(40, 4);

  const auto r = reblocked(p.view(), 1, {3, 3});

  EXPECT_EQ(r.rows.groups(), 40);
  EXPECT_EQ(r.pattern.view().entries(), 3u * 40 - 2);
  EXPECT_FALSE(r.rows.is_full());
  EXPECT_GT(r.fill(p.view().entries()), 0.8);
}

TEST(Reblock, KeepsEvenGroupsWhereRowsDiffer) {
  // A tridiagonal matrix has no two rows alike: nodes would be single rows.
  std::vector<std::vector<idx>> rows;
  for (idx i = 0; i < 12; ++i) rows.push_back(i == 0 ? std::vector<idx>{0, 1} : std::vector<idx>{i - 1, i});

  const auto r = reblocked(pattern_of(12, rows).view(), 1, {3, 3});

  EXPECT_EQ(r.rows.groups(), 4);
  EXPECT_TRUE(r.rows.is_full());
}

TEST(Reblock, StoresLessByNodesOfRectangularBlocksToo) {
  // A chain of nodes of 3 unknowns behind a single one: even groups never meet a node.
  std::vector<std::vector<idx>> rows{{0}};
  for (idx node = 0; node < 20; ++node)
    for (int k = 0; k < 3; ++k) {
      rows.emplace_back();
      for (idx c = std::max(node - 1, 0); c < std::min(node + 2, 20); ++c)
        for (idx j = 1; j <= 3; ++j) rows.back().push_back(3 * c + j);
    }
  const auto p = pattern_of(61, rows);

  const auto r = reblocked(p.view(), 1, {3, 1});

  EXPECT_EQ(r.pattern.view().entries(), 3u * (3 * 20 - 2) + 1);
  EXPECT_EQ(r.rows.groups(), 21);
  EXPECT_EQ(r.cols.groups(), 61);
}

TEST(Reblock, BringsVectorsToGroupsAndBack) {
  const Grouping g{3, {0, 2, 5, 6}, {0, 0, 1, 1, 1, 2}};
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  std::vector<double> grouped(9, 7.0), back(6);

  to_groups(g, x.data(), grouped.data());
  from_groups(g, grouped.data(), back.data());

  EXPECT_EQ(grouped, (std::vector<double>{1, 2, 0, 3, 4, 5, 6, 0, 0}));
  EXPECT_EQ(back, x);
}

}  // namespace
}  // namespace compound::test
