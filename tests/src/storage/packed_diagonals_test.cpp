// Diagonals and inverses of diagonal blocks: what is beyond those that the property runner draws.
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

TEST(InvertDiagonal, NamesTheFirstSingularRowInAnyRowOrder) {
  for (const char* layout : {"csr", "sell:2:all", "sell:8:all presence", "ellr rowlist", "hdia:32", "ccoo:32"}) {
    const Pattern p = pattern_of(5, {{0}, {1, 0, 2}, {2, 1}, {3}, {4, 1, 2, 3}});
    std::vector<double> blocks(4 * p.view().entries(), 0.0);
    for (count32 e = 0; e < p.view().entries(); ++e) blocks[4 * e] = 2, blocks[4 * e + 3] = 4;
    for (const count32 singular : {p.start[4], p.start[2]}) blocks[4 * singular + 3] = 0;  // rows 4 and 2
    PackedMatrix A(p.view(), {{2, 2}, {}}, parse_plan(layout, {}), backend("host"));
    A.update_values(blocks.data());
    std::vector<double> found(20);

    EXPECT_EQ(A.invert_diagonal(found.data()), 2) << layout;

    EXPECT_EQ(found[4 * 3], 0.5) << layout;
    EXPECT_EQ(found[4 * 2], 0) << layout;
  }
}

/// By parts of a plan that cut rows, too.
TEST(InvertDiagonal, AddsBlocksThatARowHasTwice) {
  const Pattern p = pattern_of(2, {{0, 1, 0}, {1, 1, 1}});
  const std::vector<double> values = {2, 9, 6, 1, 1, 2};
  for (const char* line :
       {"csr", "ellr width=1 + ccoo:32", "ellr width=2 + csr", "csr width=1 + sell:2 width=1 + csr"}) {
    PackedMatrix A(p.view(), {{1, 1}, {}}, parse_plan(line, {}), backend("host"));
    A.update_values(values.data());
    double diagonal[2], inverse[2];

    A.diagonal(diagonal);
    EXPECT_FALSE(A.invert_diagonal(inverse));

    EXPECT_EQ(diagonal[0], 8) << line;
    EXPECT_EQ(diagonal[1], 4) << line;
    EXPECT_EQ(inverse[0], 0.125) << line;
    EXPECT_EQ(inverse[1], 0.25) << line;
  }
}

TEST(Diagonal, NeedsSquareBlocks) {
  const Pattern p = pattern_of(1, {{0}});
  const std::vector<double> blocks(6);
  PackedMatrix A(p.view(), {{3, 2}, {}}, {}, backend("host"));
  A.update_values(blocks.data());
  double found[9];

  EXPECT_ERROR(A.diagonal(found), ErrorKind::argument,
               "diagonal blocks of a matrix with blocks of 3x2; only square blocks have a diagonal");
  EXPECT_ERROR(A.invert_diagonal(found), ErrorKind::argument,
               "diagonal blocks of a matrix with blocks of 3x2; only square blocks have a diagonal");
}

TEST(UnitQuaternions, HaveTheDiagonalsAndInversesOfTheirBlocks) {
  Random random;
  const Pattern p = pattern_of(2, {{1, 0}, {1}});
  const Problem problem{{4, 4}, {Field::real, Precision::double_}};
  const auto blocks = random_blocks<double>("unit_quaternion", problem.block, 3, random);
  PackedMatrix A(p.view(), problem, parse_plan("csr entry=unit_quaternion", {}), backend("host"));
  A.update_values(blocks.data());
  double diagonal[8], inverse[2][16];

  A.diagonal(diagonal);
  ASSERT_FALSE(A.invert_diagonal(inverse));

  for (int row = 0; row < 2; ++row) {  // the inverse of a rotation is its transpose
    const double* const block = &blocks[std::size_t(row == 0 ? 1 : 2) * 16];
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(diagonal[4 * row + i], block[5 * i], 2e-15) << seed_text();
      for (int j = 0; j < 4; ++j) EXPECT_NEAR(inverse[row][i + 4 * j], block[j + 4 * i], 2e-15);
    }
  }
}

}  // namespace
}  // namespace compound::test
