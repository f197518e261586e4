#include "device/entry/scaled_identity.hpp"

#include <gtest/gtest.h>

#include "support/words.hpp"

namespace compound::test {
namespace {

TEST(ScaledIdentity, IsTheBlockOfTheDesign) {
  EXPECT_EQ(block_of_words(scaled_identity<double, 3>{}, {2}), (std::vector<double>{2, 0, 0, 0, 2, 0, 0, 0, 2}));
}

TEST(ScaledIdentity, HasOneWordWhateverItsSize) {
  EXPECT_EQ((scaled_identity<float, 8>{}.words()), 1);
  EXPECT_EQ((scaled_identity<float, dynamic>::of(32, 32).words()), 1);
}

TEST(ScaledIdentity, FitsNeitherOtherDiagonalsNorOtherScalars) {
  EXPECT_TRUE(block_fits(scaled_identity<double, 2>{}, {3, 0, 0, 3}));
  EXPECT_FALSE(block_fits(scaled_identity<double, 2>{}, {3, 0, 0, 3.0000000000000004}));
  EXPECT_FALSE(block_fits(scaled_identity<double, 2>{}, {3, 1e-300, 0, 3}));
}

TEST(ScaledIdentity, OfAComplexNumberIsConjugatedByTheAdjoint) {
  using C = complex_number<double>;
  const scaled_identity<C, 2> entry;
  const std::vector<C> words = {{3, 4}}, x = {{1, 0}, {0, 1}};
  std::vector<C> y(2);

  entry.madd<Op::hermitian>(words_view(entry, words), x.data(), y.data());

  EXPECT_TRUE((y == std::vector<C>{{3, -4}, {4, 3}}));
}

}  // namespace
}  // namespace compound::test
