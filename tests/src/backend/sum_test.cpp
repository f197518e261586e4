// Backend::sum: lists of scalars added up in their order.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "support/blocks.hpp"

namespace compound::test {
namespace {

struct Lists {
  std::vector<slot_t> first, index, place;
  slot_t sums() const { return static_cast<slot_t>(first.size()) - 1; }
};

/// Lists of 0 to 5 indices below `from`, to places in another order than theirs.
Lists random_lists(slot_t sums, int from, Random& random) {
  Lists l{{0}, {}, {}};
  for (slot_t s = 0; s < sums; ++s) {
    for (int left = random.below(6); left > 0; --left) l.index.push_back(random.below(from));
    l.first.push_back(static_cast<slot_t>(l.index.size()));
    l.place.push_back((7 * s + 3) % sums);
  }
  return l;
}

SumTask task_of(const Lists& l, ScalarType scalar, bool placed, Update update, const void* from, void* to) {
  return {scalar, l.sums(), l.first.data(), l.index.data(), placed ? l.place.data() : nullptr, from, to, update};
}

template <class S>
void expect_sums(bool placed, Update update) {
  Random random;
  const auto l = random_lists(50, 40, random);
  const auto from = random_vector<S>(40, random), before = random_vector<S>(50, random);
  auto found = before, wanted = before;
  for (slot_t s = 0; s < l.sums(); ++s) {
    S sum{};
    for (slot_t n = l.first[s]; n < l.first[s + 1]; ++n) sum += from[l.index[n]];
    S& to = wanted[placed ? l.place[s] : s];
    if (update == Update::add) sum += to;
    to = sum;
  }

  backend("host").sum(task_of(l, scalar_type_of<S>(), placed, update, from.data(), found.data()));

  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i] == wanted[i]) << i << ", " << seed_text();
}

TEST(Sum, AddsUpInTheOrderOfTheLists) {
  for (const bool placed : {false, true})
    for (const Update update : {Update::assign, Update::add}) {
      expect_sums<float>(placed, update);
      expect_sums<double>(placed, update);
      expect_sums<complex_number<float>>(placed, update);
      expect_sums<complex_number<double>>(placed, update);
    }
}

/// Blocks from two shapes of contributions, to lines that lie close or apart.
void expect_block_sums(int side, bool shapes, bool apart, Update update) {
  Random random;
  const int words = side * side;
  auto l = random_lists(20, 30, random);
  std::vector<unsigned char> shape;
  std::vector<int> offset, stride;
  for (slot_t& place : l.place) place *= 2 * words;
  for (slot_t s = 0; s < l.sums(); ++s) stride.push_back(side + random.below(side + 1));
  for (std::size_t n = 0; n < l.index.size(); ++n) shape.push_back(static_cast<unsigned char>(random.below(2)));
  for (int w = 0; w < 2 * words; ++w) offset.push_back(w < words ? words - 1 - w : 3 * (w - words));
  const auto from = random_vector<double>(30 + 3 * words, random), before = random_vector<double>(40 * words, random);
  auto found = before, wanted = before;
  for (slot_t s = 0; s < l.sums(); ++s)
    for (int line = 0; line < side; ++line)
      for (int k = 0; k < side; ++k) {
        const int word = line * side + k;
        double sum = 0;
        for (slot_t n = l.first[s]; n < l.first[s + 1]; ++n)
          sum += from[l.index[n] + offset[(shapes ? shape[n] : 0) * words + word]];
        double& to = wanted[apart ? l.place[s] + line * stride[s] + k : s * words + word];
        to = update == Update::add ? sum + to : sum;
      }

  SumTask task = task_of(l, scalar_type_of<double>(), apart, update, from.data(), found.data());
  task.side = side;
  task.offset = offset.data();
  if (shapes) task.shape = shape.data();
  if (apart) task.stride = stride.data();
  backend("host").sum(task);

  EXPECT_EQ(found, wanted) << side << ", " << seed_text();
}

TEST(Sum, AddsUpBlocks) {
  for (const int side : {1, 2, 3, 6, 7})
    for (const bool shapes : {false, true})
      for (const bool apart : {false, true})
        for (const Update update : {Update::assign, Update::add}) expect_block_sums(side, shapes, apart, update);
}

TEST(Sum, TakesOneIndexAListWithoutBeginnings) {
  const std::vector<slot_t> first{0, 1, 2, 3}, index{2, 0, 1};
  const std::vector<double> from{1, 2, 4}, before{8, 16, 32};
  for (const Update update : {Update::assign, Update::add}) {
    std::vector<double> wanted = before, found = before;
    const ScalarType scalar = scalar_type_of<double>();
    backend("host").sum({scalar, 3, first.data(), index.data(), nullptr, from.data(), wanted.data(), update});
    backend("host").sum({scalar, 3, nullptr, index.data(), nullptr, from.data(), found.data(), update});
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(found.front(), update == Update::add ? 12 : 4);
  }
}

TEST(Sum, KeepsTheOrderWhereItMatters) {
  const Lists l{{0, 3, 6}, {0, 1, 2, 2, 1, 0}, {}};
  const std::vector<double> from = {1e17, -1e17, 1};
  std::vector<double> found(2);

  backend("host").sum(task_of(l, {}, false, Update::assign, from.data(), found.data()));

  EXPECT_EQ(found, (std::vector<double>{1, 0}));
}

TEST(Sum, TouchesOnlyItsPlaces) {
  const Lists l{{0, 1}, {0}, {2}};
  const std::vector<double> from = {5};
  std::vector<double> found = {1, 2, 3, 4};

  backend("host").sum(task_of(l, {}, true, Update::assign, from.data(), found.data()));

  EXPECT_EQ(found, (std::vector<double>{1, 2, 5, 4}));
}

}  // namespace
}  // namespace compound::test
