#include "device/pack_values.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "device/entry/complex.hpp"
#include "device/entry/dense.hpp"
#include "device/entry/quaternion.hpp"
#include "support/blocks.hpp"
#include "support/device_forms.hpp"
#include "support/words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

LayoutSpec spec_of(std::string_view text, Occupancy occupancy) {
  LayoutSpec spec = parse_layout(text);
  spec.occupancy = occupancy;
  return spec;
}

/// Values of all slots; what packing does not write stays NaN.
template <class Stored, class Entry, class Slices, class Words>
std::vector<Stored> packed_values(const Entry& entry, const Slices& slices, const Words& words, const Layout& l,
                                  std::size_t items, const std::vector<typename Entry::scalar>& blocks) {
  std::vector<Stored> values(items * entry.words(), Stored(std::numeric_limits<real_of<Stored>>::quiet_NaN()));
  const packing<Entry, Stored, Slices, Words> p{entry,         slices,       words, data_or_null(l.first_entry),
                                                blocks.data(), values.data()};
  for (idx position = 0; position < l.positions; ++position) pack_row(p, position);
  return values;
}

/// The pattern entry in each slot of the layout's positions, -1 in padding, -2 in slots of no position.
std::vector<slot_t> entry_of_slots(const Pattern& p, const Layout& l) {
  const AnySlices s = any_slices_of(l);
  std::vector<slot_t> entry(l.slots(), -2);
  for (idx position = 0; position < l.positions; ++position)
    for (idx k = 0; k < s.width(position); ++k)
      entry[s.first(position) + slot_t{k} * l.height] =
          k < p.view().length(s.row(position)) ? slot_t{p.start[s.row(position)]} + k : -1;
  return entry;
}

template <class Entry, slot_t Group, WordOrder Order>
void expect_slots_hold_their_entries_words(const Entry& entry, const LayoutSpec& spec, const char* kind) {
  using Scalar = typename Entry::scalar;
  Random random;
  const Pattern pattern = random_pattern(50, 40, 6, test_seed());
  const auto blocks = random_blocks<Scalar>(kind, {entry.rows(), entry.cols()}, pattern.view().entries(), random);
  const Layout l = encode(pattern.view(), spec);
  const matrix_words<Group, Order> words{map_of<Group>(l.slots())};
  const auto values =
      packed_values<typename Entry::word>(entry, any_slices_of(l), words, l, whole_groups(l.slots(), Group), blocks);
  const auto entries = entry_of_slots(pattern, l);
  const std::size_t scalars = std::size_t(entry.rows()) * entry.cols();

  int wrong = 0;
  for (slot_t slot = 0; slot < l.slots(); ++slot) {
    const auto w = words.at(entry, values.data(), slot);
    if (entries[slot] == -2) continue;
    for (int j = 0; j < entry.cols(); ++j)
      for (int i = 0; i < entry.rows(); ++i)
        wrong +=
            !(entry.block(w, i, j) ==
              (entries[slot] < 0 ? Scalar{} : blocks[entries[slot] * scalars + i + std::size_t(j) * entry.rows()]));
  }

  EXPECT_EQ(wrong, 0) << kind << ", " << layout_name(spec) << ", " << seed_text();
}

template <class Entry>
void expect_in_every_form(const Entry& entry, const char* kind) {
  for (const auto& spec : {spec_of("csr", Occupancy::lengths), spec_of("ellr", Occupancy::lengths),
                           spec_of("sell:8:16", Occupancy::lengths), spec_of("sell:32", Occupancy::presence),
                           spec_of("sell:2:all", Occupancy::presence)}) {
    expect_slots_hold_their_entries_words<Entry, 1, WordOrder::column>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, 1, WordOrder::row>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, 32, WordOrder::row>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, all_items, WordOrder::column>(entry, spec, kind);
  }
}

TEST(PackRow, PutsDenseWordsWhereTheKernelReadsThemAndZerosIntoPadding) {
  expect_in_every_form(dense<double, 3, 2>{}, "dense");
  expect_in_every_form(dense<complex_number<double>, dynamic, dynamic>{2, 5}, "dense");
}

TEST(PackRow, PutsWordsOfCompressedKindsWhereTheKernelReadsThem) {
  expect_in_every_form(complex_entry<double>{}, "complex");
  expect_in_every_form(quaternion<float>{}, "quaternion");
  expect_in_every_form(quaternion<complex_number<double>>{}, "quaternion");
}

TEST(PackRow, WritesTheSameWhetherTheFormIsKnownOrCarried) {
  Random random;
  const dense<double, 3, 3> entry;
  const Pattern pattern = random_pattern(64, 40, 6, test_seed());
  const auto blocks = random_blocks<double>("dense", {3, 3}, pattern.view().entries(), random);
  const Layout l = encode(pattern.view(), parse_layout("sell:32"));
  const std::size_t items = whole_groups(l.slots(), 32);
  const matrix_words<32, WordOrder::row> known{map_of<32>(l.slots())};
  const matrix_words<dynamic, WordOrder::any> carried{map_of<dynamic>(l.slots(), 32), WordOrder::row};

  const auto a = packed_values<double>(entry, slices_of<32, Occupancy::lengths>(l), known, l, items, blocks);
  const auto b = packed_values<double>(entry, any_slices_of(l), carried, l, items, blocks);

  EXPECT_EQ(a, b) << seed_text();
}

TEST(PackRow, RoundsToNarrowerWords) {
  const dense<double, 1, 1> entry;
  const Layout l = encode(pattern_of(1, {{0}}).view(), parse_layout("csr"));
  const matrix_words<1, WordOrder::row> words;

  const auto values = packed_values<float>(entry, any_slices_of(l), words, l, 1, {0.1});

  EXPECT_EQ(values[0], 0.1f);
}

}  // namespace
}  // namespace compound::test
