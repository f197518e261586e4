// The kind that is found for blocks: the cheapest, by ==, in one pass.
#include "planner/entry_choice.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/entry_cases.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"

namespace compound::test {
namespace {

template <class S>
std::string_view found(BlockShape shape, const std::vector<S>& blocks) {
  const auto entries = static_cast<count32>(blocks.size() / (std::size_t(shape.rows) * shape.cols));
  return cheapest_entry({shape, scalar_type_of<S>()}, backend("host"), blocks.data(), entries);
}

class Choices : public testing::TestWithParam<EntryCase> {
 protected:
  /// f(S{}, shape) in each field where the kind exists.
  template <class F>
  void in_each_field(const F& f) {
    for (const ScalarCase& c : scalar_cases()) {
      const BlockShape shape = GetParam().in(c.vectors.field);
      if (entry_kind(GetParam().entry).shape(c.vectors.field, shape).words == 0) continue;
      with_scalar(c.vectors, [&]<class S>(S s) { f(s, shape); });
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Choices, testing::ValuesIn(entry_cases(32)),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

TEST_P(Choices, AreTheKindThatBlocksWereMadeOf) {
  in_each_field([&]<class S>(S, BlockShape shape) {
    Random random;
    const auto blocks = random_blocks<S>(GetParam().entry, shape, 500, random);
    const bool approximate = entry_kind(GetParam().entry).approximate;

    EXPECT_EQ(found(shape, blocks), approximate ? "quaternion" : GetParam().entry) << seed_text();
  });
}

TEST_P(Choices, AreDenseWhereTheLastBlockIs) {
  in_each_field([&]<class S>(S, BlockShape shape) {
    Random random;
    auto blocks = random_blocks<S>(GetParam().entry, shape, 5000 / (shape.rows * shape.cols) + 2, random);
    const std::size_t size = std::size_t(shape.rows) * shape.cols;
    for (std::size_t i = blocks.size() - size; i < blocks.size(); ++i) blocks[i] += random.scalar<S>();

    EXPECT_EQ(found(shape, blocks), "dense") << seed_text();
  });
}

TEST(Choice, PrefersFewerWords) {
  const std::vector<double> identity = {2, 0, 0, 2}, diagonal = {2, 0, 0, 3}, complex = {2, 1, -1, 2};
  const auto joined = [](std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };

  EXPECT_EQ(found({2, 2}, identity), "scaled_identity");
  EXPECT_EQ(found({2, 2}, joined(identity, diagonal)), "diagonal");
  EXPECT_EQ(found({2, 2}, joined(identity, complex)), "complex");
  EXPECT_EQ(found({2, 2}, joined(diagonal, complex)), "dense");
}

TEST(Choice, OfScalarsOrOfNothingIsDense) {
  EXPECT_EQ(found<double>({1, 1}, {3, 3, 3}), "dense");
  EXPECT_EQ(found<double>({4, 4}, {}), "dense");
}

TEST(Choice, NeverTakesNaNForAKind) {
  const double nan = not_a_number<double>();

  EXPECT_EQ(found<double>({2, 2}, {nan, 0, 0, nan}), "dense");
  EXPECT_EQ(found<double>({2, 2}, {1, nan, nan, 1}), "dense");
}

TEST(Choice, TakesInfinityAndBothZeros) {
  const double infinity = std::numeric_limits<double>::infinity();

  EXPECT_EQ(found<double>({2, 2}, {infinity, 0, -0.0, infinity}), "scaled_identity");
  EXPECT_EQ(found<double>({2, 2}, {0.0, infinity, -infinity, -0.0}), "complex");
}

/// Blocks that each kind was looked for in.
struct Counting : RecordingBackend {
  std::map<std::string, std::size_t> looked_at;
  std::optional<count32> first_misfit(const FitTask& t) override {
    looked_at[std::string(t.entry)] += t.entries;
    return RecordingBackend::first_misfit(t);
  }
};

/// Dense blocks are known as such from the first few: a check of a matrix that is dense costs nothing.
TEST(Choice, LooksNoFurtherThanItMust) {
  Counting counting;
  Random random;
  const auto blocks = random_blocks<double>("dense", {4, 4}, 100000, random);

  EXPECT_EQ(cheapest_entry({{4, 4}, {}}, counting, blocks.data(), 100000), "dense");
  for (const auto& [kind, entries] : counting.looked_at) EXPECT_LT(entries, 1000u) << kind;
}

/// A kernel is compiled for each kind that a device looks for.
TEST(Choice, OfBlocksOnADeviceLeavesItOneKind) {
  Counting counting;
  Random random;
  const auto blocks = random_blocks<double>("quaternion", {4, 4}, 10000, random);

  EXPECT_EQ(cheapest_entry({{4, 4}, {}}, counting, blocks.data(), 10000, Memory::backend), "quaternion");
  EXPECT_EQ(counting.looked_at, (std::map<std::string, std::size_t>{{"quaternion", 10000}}));

  const auto few = random_blocks<double>("dense", {4, 4}, 3, random);
  EXPECT_EQ(cheapest_entry({{4, 4}, {}}, counting, few.data(), 3, Memory::backend), "dense");
}

}  // namespace
}  // namespace compound::test
