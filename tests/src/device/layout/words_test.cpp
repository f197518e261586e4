#include "device/layout/words.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "device/entry/dense.hpp"
#include "support/device_forms.hpp"

namespace compound::test {
namespace {

constexpr slot_t items = 77;

/// The definition: word k of item s of W words lies at (s / G) * G * W + k * G + s % G.
slot_t place(slot_t group, slot_t item, int k, int words) {
  return item / group * group * words + k * group + item % group;
}

template <slot_t Group>
word_map<Group> map_for() {
  return map_of<Group>(items);
}

word_map<dynamic> dynamic_map_for(slot_t group) { return map_of<dynamic>(items, group); }

template <class Map>
std::vector<slot_t> places(const Map& map, int words) {
  std::vector<slot_t> all;
  for (slot_t item = 0; item < items; ++item)
    for (int k = 0; k < words; ++k) all.push_back(map.first(item, words) + k * map.stride);
  return all;
}

std::vector<slot_t> defined_places(slot_t group, int words) {
  std::vector<slot_t> all;
  for (slot_t item = 0; item < items; ++item)
    for (int k = 0; k < words; ++k) all.push_back(place(group == all_items ? items : group, item, k, words));
  return all;
}

template <class Group>
class WordMap : public testing::Test {};

template <slot_t G>
struct group_of {
  static constexpr slot_t value = G;
};
using Groups = testing::Types<group_of<1>, group_of<2>, group_of<8>, group_of<32>, group_of<256>, group_of<all_items>>;
TYPED_TEST_SUITE(WordMap, Groups);

TYPED_TEST(WordMap, KnownWhenCompiledIsTheDefinition) {
  for (const int words : {1, 2, 4, 9, 144})
    EXPECT_EQ(places(map_for<TypeParam::value>(), words), defined_places(TypeParam::value, words)) << words;
}

TYPED_TEST(WordMap, KnownAtRunTimeIsTheDefinition) {
  for (const int words : {1, 2, 4, 9, 144})
    EXPECT_EQ(places(dynamic_map_for(TypeParam::value), words), defined_places(TypeParam::value, words)) << words;
}

TYPED_TEST(WordMap, GivesEveryWordAPlaceOfItsOwnInWholeGroups) {
  const slot_t group = TypeParam::value == all_items ? items : TypeParam::value;
  const slot_t whole_groups = (items + group - 1) / group * group;

  const auto all = places(map_for<TypeParam::value>(), 9);

  const std::set<slot_t> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), items * 9u);
  EXPECT_GE(*distinct.begin(), 0);
  EXPECT_LT(*distinct.rbegin(), whole_groups * 9);
}

TEST(WordMap, OfOneIsAnArrayOfStructuresAndOfAllAStructureOfArrays) {
  EXPECT_EQ(map_for<1>().first(5, 9), 45);
  EXPECT_EQ(slot_t(map_for<1>().stride), 1);
  EXPECT_EQ(map_for<all_items>().first(5, 9), 5);
  EXPECT_EQ(slot_t(map_for<all_items>().stride), items);
}

TEST(WordMap, ReachesBeyondThirtyTwoBits) {
  constexpr slot_t far = slot_t{1} << 33;

  EXPECT_EQ(map_for<32>().first(far + 5, 144), far * 144 + 5);
  EXPECT_EQ(dynamic_map_for(32).first(far + 5, 144), far * 144 + 5);
  EXPECT_EQ(dynamic_map_for(1).first(far + 5, 144), (far + 5) * 144);
}

constexpr dense<double, 3, 2> entry{};

/// Places of an item's words in the entry's order, row by row.
template <class Words>
std::vector<double> read_by_row(const Words& w) {
  std::vector<double> all;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) all.push_back(w(i, j));
  return all;
}

std::vector<double> counted(std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<double>(i);
  return v;
}

TEST(MatrixWords, LieInRowOrColumnOrder) {
  const auto v = counted(12);

  EXPECT_EQ(read_by_row(matrix_words<1, WordOrder::row>{}.at(entry, v.data(), 1)),
            (std::vector<double>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(read_by_row(matrix_words<1, WordOrder::column>{}.at(entry, v.data(), 1)),
            (std::vector<double>{6, 9, 7, 10, 8, 11}));
}

TEST(MatrixWords, LieInGroups) {
  const auto v = counted(24);

  EXPECT_EQ(read_by_row(matrix_words<2, WordOrder::row>{}.at(entry, v.data(), 3)),
            (std::vector<double>{13, 15, 17, 19, 21, 23}));
  EXPECT_EQ(read_by_row(matrix_words<4, WordOrder::column>{}.at(entry, v.data(), 3)),
            (std::vector<double>{3, 15, 7, 19, 11, 23}));
}

template <slot_t G, WordOrder Order>
void expect_same_as_run_time() {
  const auto v = counted(std::size_t{items + 300} * 6);
  const matrix_words<G, Order> known{map_for<G>()};
  const matrix_words<dynamic, WordOrder::any> carried{dynamic_map_for(G), Order};
  for (slot_t slot = 0; slot < items; ++slot)
    EXPECT_EQ(read_by_row(known.at(entry, v.data(), slot)), read_by_row(carried.at(entry, v.data(), slot))) << slot;
}

TYPED_TEST(WordMap, PlacesMatrixWordsAlikeWhetherKnownOrCarried) {
  expect_same_as_run_time<TypeParam::value, WordOrder::row>();
  expect_same_as_run_time<TypeParam::value, WordOrder::column>();
}

/// All blocks, loaded one after the other.
template <class VectorWords>
std::vector<float> loaded(const VectorWords& words, const std::vector<float>& v) {
  std::vector<float> all(items * 5);
  for (idx block = 0; block < items; ++block) words.load(v.data(), block, 5, &all[block * 5]);
  return all;
}

TYPED_TEST(WordMap, LoadsTheVectorBlocksThatItStored) {
  const vector_words<TypeParam::value> known{map_for<TypeParam::value>()};
  const vector_words<dynamic> carried{dynamic_map_for(TypeParam::value)};
  std::vector<float> plain(items * 5), v(std::size_t{items + 300} * 5, -1);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i);

  for (idx block = 0; block < items; ++block) known.store(v.data(), block, 5, &plain[block * 5]);

  EXPECT_EQ(loaded(known, v), plain);
  EXPECT_EQ(loaded(carried, v), plain);
}

TEST(MatrixWords, NarrowWhatIsPutAndWidenWhatIsRead) {
  float v[6] = {};
  const auto w = matrix_words<1, WordOrder::row>{}.at(entry, v, 0);

  w.put(2, 1, 0.1);

  EXPECT_EQ(v[5], 0.1f);
  EXPECT_EQ(w(2, 1), static_cast<double>(0.1f));
}

}  // namespace
}  // namespace compound::test
