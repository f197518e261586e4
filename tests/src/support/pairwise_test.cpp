#include "support/pairwise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace compound::test {
namespace {

Space small_space() {
  // Value 0 of factor 0 goes with nothing but value 0 of factor 1.
  return {{3, 4, 2, 5}, [](const Choice& c) { return c[0] != 0 || c[1] == 0; }, {0, 1}};
}

TEST(CoveringSet, HasEveryAllowedPair) {
  const Space space = small_space();

  const auto set = covering_set(space, 7).choices;

  EXPECT_TRUE(missing_pairs(allowed_pairs(space), set).empty());
}

TEST(CoveringSet, HoldsAllowedChoicesOnly) {
  const Space space = small_space();

  const auto set = covering_set(space, 7).choices;

  EXPECT_TRUE(std::all_of(set.begin(), set.end(), space.allowed));
}

/// The deciding factors are those that a pair's other factors are tried in, not all that decide.
TEST(CoveringSet, AsksWhetherAWholeChoiceIsAllowed) {
  const Space space{{4, 4, 4, 3}, [](const Choice& c) { return c[0] == 0 || c[3] == 0; }, {0}};

  const auto set = covering_set(space, 7).choices;

  EXPECT_TRUE(std::all_of(set.begin(), set.end(), space.allowed));
}

TEST(RandomSet, HoldsSoManyAllowedChoices) {
  const Space space = small_space();

  const auto set = random_set(space, 20, 7);

  EXPECT_EQ(set.size(), 20u);
  EXPECT_TRUE(std::all_of(set.begin(), set.end(), space.allowed));
  EXPECT_GT(std::set(set.begin(), set.end()).size(), 5u);
}

TEST(CoveringSet, IsMuchSmallerThanTheProduct) {
  const Space space{{10, 10, 10, 10, 10}, [](const Choice&) { return true; }, {}};

  const auto set = covering_set(space, 7).choices;

  EXPECT_LT(set.size(), 180u);
}

TEST(CoveringSet, HasNoChoiceThatOthersMakeNeedless) {
  const Space space{{6, 5, 4, 4, 3}, [](const Choice& c) { return c[0] != 2 || c[2] > 1; }, {0, 2}};

  const auto set = covering_set(space, 7).choices;

  for (std::size_t without = 0; without < set.size(); ++without) {
    auto others = set;
    others.erase(others.begin() + without);
    EXPECT_FALSE(missing_pairs(allowed_pairs(space), others).empty()) << without;
  }
}

TEST(AllowedPairs, LeavesOutWhatNoChoiceCanHave) {
  const auto pairs = allowed_pairs(small_space());

  const auto all = 3 * 4 + 3 * 2 + 3 * 5 + 4 * 2 + 4 * 5 + 2 * 5;
  EXPECT_EQ(pairs.size(), all - 3u);
}

TEST(MissingPairs, FindsWhatASetLacks) {
  const Space space{{2, 2}, [](const Choice&) { return true; }, {}};

  const auto missing = missing_pairs(allowed_pairs(space), {{0, 0}, {0, 1}, {1, 1}});

  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].value, 1);
  EXPECT_EQ(missing[0].other_value, 0);
}

}  // namespace
}  // namespace compound::test
