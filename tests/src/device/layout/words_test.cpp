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

/// Word k of item s of W words and P words of padding lies at s (W + P) + k.
TEST(WordMap, PutsPaddingBehindEachItem) {
  const word_map<1, 3> known;
  word_map<dynamic> carried = map_of<dynamic>(items, 1);
  carried.padding = 3;
  for (slot_t item = 0; item < items; ++item) {
    EXPECT_EQ(known.first(item, 9), item * 12);
    EXPECT_EQ(carried.first(item, 9), item * 12);
  }
}

/// A misaligned access would end a device's context.
TEST(WidestAccess, FitsEveryItem) {
  for (slot_t bytes = 4; bytes <= 256; bytes += 4) {
    const int access = widest_access(bytes);
    EXPECT_EQ(bytes % access, 0) << bytes;
    EXPECT_TRUE(access == 16 || bytes % (2 * access) != 0) << bytes << " would take more";
  }
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

template <WordOrder Order, slot_t Padding>
void expect_held_words_are_those_read_one_by_one() {
  const auto v = counted(items * (6 + Padding));
  const matrix_words<1, Order, plain_words<>, Padding> one_by_one;
  const wide_matrix_words<Order, Cache::keep, Padding> at_once;
  for (slot_t slot = 0; slot < items; ++slot) {
    const auto held = at_once.at(entry, v.data(), slot);
    EXPECT_EQ(read_by_row(held), read_by_row(one_by_one.at(entry, v.data(), slot))) << slot;
  }
}

TEST(WideMatrixWords, AreThoseReadOneByOne) {
  expect_held_words_are_those_read_one_by_one<WordOrder::row, 0>();
  expect_held_words_are_those_read_one_by_one<WordOrder::column, 0>();
  expect_held_words_are_those_read_one_by_one<WordOrder::row, 2>();
  expect_held_words_are_those_read_one_by_one<WordOrder::column, 1>();
}

TEST(HeldMatrixWords, AreThoseReadOneByOne) {
  const auto v = counted(std::size_t{items + 300} * 6);
  const matrix_words<32, WordOrder::row> one_by_one;
  for (slot_t slot = 0; slot < items; ++slot)
    EXPECT_EQ(read_by_row(held_matrix_words<matrix_words<32, WordOrder::row>>{one_by_one}.at(entry, v.data(), slot)),
              read_by_row(one_by_one.at(entry, v.data(), slot)))
        << slot;
}

TEST(WideMatrixWords, WidenWhatIsRead) {
  const std::vector<float> v = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};

  EXPECT_EQ((wide_matrix_words<WordOrder::row, Cache::keep, 0>{}.at(entry, v.data(), 0)(2, 1)),
            static_cast<double>(0.6f));
}

TEST(WideMatrixWords, AreWhereAnAccessTakesSeveralNumbers) {
  EXPECT_TRUE(holds_words<float>(4, 0));
  EXPECT_TRUE(holds_words<float>(6, 0));
  EXPECT_FALSE(holds_words<float>(9, 0));
  EXPECT_TRUE(holds_words<float>(9, 3));
  EXPECT_TRUE(holds_words<double>(4, 0));
  EXPECT_FALSE(holds_words<double>(9, 0));
  EXPECT_TRUE(holds_words<double>(9, 1));
  EXPECT_TRUE(holds_words<complex_number<float>>(1, 0));
  EXPECT_TRUE(holds_words<complex_number<double>>(9, 0));
  EXPECT_FALSE(holds_words<double>(1024, 0)) << "more than there are registers";
}

TEST(VectorWords, InWideAccessesAreTheSame) {
  const vector_words<1, 16> wide;
  std::vector<float> v(items * 4, -1), block(4);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
  std::vector<float> to(v.size());

  for (idx b = 0; b < items; ++b) {
    wide.load(v.data(), b, 4, block.data());
    wide.store(to.data(), b, 4, block.data());
  }

  EXPECT_EQ(to, v);
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
