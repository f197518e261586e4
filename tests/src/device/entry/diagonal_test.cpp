#include "device/entry/diagonal.hpp"

#include <gtest/gtest.h>

#include "support/words.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;

TEST(DiagonalEntry, IsTheBlockOfTheDesign) {
  EXPECT_EQ(block_of_words(diagonal_entry<double, 3>{}, {2, 3, 5}), (std::vector<double>{2, 0, 0, 0, 3, 0, 0, 0, 5}));
}

TEST(DiagonalEntry, OfAProductIsTheProductOfTheBlocks) {
  const diagonal_entry<C, 2> entry;
  const std::vector<C> p = {{1, 2}, {3, -4}}, q = {{5, 6}, {-7, 8}};

  EXPECT_TRUE(matrix_product(block_of_words(entry, p), block_of_words(entry, q), 2) ==
              block_of_words(entry, {p[0] * q[0], p[1] * q[1]}));
}

TEST(DiagonalEntry, HasAsManyWordsAsRowsWhetherTheSizeIsKnownOrCarried) {
  const auto carried = diagonal_entry<double, dynamic>::of(7, 7);

  EXPECT_EQ((diagonal_entry<double, 7>{}.words()), 7);
  EXPECT_EQ(carried.words(), 7);
  EXPECT_EQ(carried.rows(), 7);
}

TEST(DiagonalEntry, DoesNotFitBlocksWithAnythingElse) {
  EXPECT_FALSE(block_fits(diagonal_entry<double, 2>{}, {1, 1e-300, 0, 1}));
  EXPECT_FALSE(block_fits(diagonal_entry<double, 2>{}, {1, 0, -1e-300, 1}));
  EXPECT_TRUE(block_fits(diagonal_entry<double, 2>{}, {1, 0, -0.0, 2}));
}

}  // namespace
}  // namespace compound::test
