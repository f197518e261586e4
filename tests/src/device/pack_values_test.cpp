#include "device/pack_values.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "device/entry/complex.hpp"
#include "device/entry/dense.hpp"
#include "device/entry/quaternion.hpp"
#include "support/blocks.hpp"
#include "support/device_forms.hpp"
#include "support/row_words.hpp"
#include "support/words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

LayoutSpec spec_of(std::string_view text, Occupancy occupancy) {
  LayoutSpec spec = parse_layout(text);
  spec.occupancy = occupancy;
  return spec;
}

/// Of the entries of a row in a column the one that comes after `before` others.
slot_t entry_at(const Pattern& p, idx row, idx column, idx before) {
  for (slot_t e = p.start[row]; e < p.start[row + 1]; ++e)
    if (p.column[e] == column && before-- == 0) return e;
  return -3;
}

/// Values of all slots; what packing does not write stays NaN.
template <class Stored, class Entry, class Words>
std::vector<Stored> packed_values(const Entry& entry, const LayoutSpec& spec, const Words& words, const Layout& l,
                                  std::size_t items, const std::vector<typename Entry::scalar>& blocks) {
  std::vector<Stored> values(items * entry.words(), Stored(std::numeric_limits<real_of<Stored>>::quiet_NaN()));
  pack_all_slots(packing<Entry, Stored, Words>{entry, words, blocks.data(), values.data()}, spec, l.args());
  return values;
}

/// The pattern entry in each slot of the layout's positions, -1 in padding, -2 in slots of no position: what is visited
/// of a row, by its columns.
std::vector<slot_t> entry_of_slots(const Pattern& p, const LayoutSpec& spec, const Layout& l) {
  const AnyLayout s(spec, l.args());
  std::vector<slot_t> entry(l.slots, -2);
  for (idx position = 0; position < l.positions; ++position) {
    std::map<idx, idx> seen;
    for (idx k = 0; k < s.width(position); ++k) {
      const slot_t slot = s.first(position) + k * s.apart();
      const bool holds = k < s.count(position) && s.present(slot);
      const idx column = holds ? s.columns_of(position).at(slot) : 0;
      entry[slot] = holds ? entry_at(p, s.row(position), column, seen[column]++) : -1;
    }
  }
  return entry;
}

template <class Entry, slot_t Group, WordOrder Order>
void expect_slots_hold_their_entries_words(const Entry& entry, const LayoutSpec& spec, const char* kind) {
  using Scalar = typename Entry::scalar;
  Random random;
  const Pattern pattern = random_pattern(50, 40, 6, test_seed());
  const auto blocks = random_blocks<Scalar>(kind, {entry.rows(), entry.cols()}, pattern.view().entries(), random);
  const Layout l = encode(pattern.view(), spec);
  const matrix_words<Group, Order> words{map_of<Group>(l.slots)};
  const auto values = packed_values<typename Entry::word>(entry, spec, words, l, whole_groups(l.slots, Group), blocks);
  const auto entries = entry_of_slots(pattern, spec, l);
  const std::size_t scalars = std::size_t(entry.rows()) * entry.cols();

  int wrong = 0;
  for (slot_t slot = 0; slot < l.slots; ++slot) {
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
                           spec_of("sell:2:all", Occupancy::presence), spec_of("hdia:32", Occupancy::lengths),
                           spec_of("dia", Occupancy::lengths), spec_of("ccoo:64", Occupancy::lengths)}) {
    expect_slots_hold_their_entries_words<Entry, 1, WordOrder::column>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, 1, WordOrder::row>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, 32, WordOrder::row>(entry, spec, kind);
    expect_slots_hold_their_entries_words<Entry, all_items, WordOrder::column>(entry, spec, kind);
  }
}

TEST(PackSlots, PutsDenseWordsWhereTheKernelReadsThemAndZerosIntoPadding) {
  expect_in_every_form(dense<double, 3, 2>{}, "dense");
  expect_in_every_form(dense<complex_number<double>, dynamic, dynamic>{2, 5}, "dense");
}

TEST(PackSlots, PutsWordsOfCompressedKindsWhereTheKernelReadsThem) {
  expect_in_every_form(complex_entry<double>{}, "complex");
  expect_in_every_form(quaternion<float>{}, "quaternion");
  expect_in_every_form(quaternion<complex_number<double>>{}, "quaternion");
}

TEST(PackSlots, WritesTheSameWhetherTheFormIsKnownOrCarried) {
  Random random;
  const dense<double, 3, 3> entry;
  const Pattern pattern = random_pattern(64, 40, 6, test_seed());
  const auto blocks = random_blocks<double>("dense", {3, 3}, pattern.view().entries(), random);
  const LayoutSpec spec = parse_layout("sell:32");
  const Layout l = encode(pattern.view(), spec);
  const std::size_t items = whole_groups(l.slots, 32);
  const matrix_words<32, WordOrder::row> known{map_of<32>(l.slots)};
  const matrix_words<dynamic, WordOrder::any> carried{map_of<dynamic>(l.slots, 32), WordOrder::row};

  const auto a = packed_values<double>(entry, spec, known, l, items, blocks);
  const auto b = packed_values<double>(entry, spec, carried, l, items, blocks);

  EXPECT_EQ(a, b) << seed_text();
}

/// As a device packs: row by row, in parts of the blocks that come one after the other.
TEST(PackRowPart, FillsTheSlotsOfThePartsEntriesAlone) {
  using Words = matrix_words<32, WordOrder::column>;
  Random random;
  const Pattern pattern = random_pattern(70, 50, 7, test_seed());
  const slot_t entries = pattern.view().entries();
  const auto blocks = random_blocks<double>("dense", {2, 2}, static_cast<count32>(entries), random);
  for (const auto& spec : {spec_of("sell:8:16", Occupancy::lengths), spec_of("sell:32", Occupancy::presence),
                           spec_of("hdia:32", Occupancy::lengths)}) {
    const Layout l = encode(pattern.view(), spec);
    const AnyLayout layout(spec, l.args());
    const Words words{map_of<32>(l.slots)};
    const std::size_t items = whole_groups(l.slots, 32);
    auto expected = packed_values<double>(dense<double, 2, 2>{}, spec, words, l, items, blocks);
    std::vector<double> values(expected.size(), 0);

    for (const auto& [from, to] : {std::pair<slot_t, slot_t>{0, entries / 3}, {entries / 3, entries}}) {
      const packing<dense<double, 2, 2>, double, Words> p{{}, words, &blocks[from * 4], values.data(), from};
      for (idx position = 0; position < l.positions; ++position) pack_row_part(p, layout, position, from, to);
    }

    for (double& word : expected)
      if (word != word) word = 0;  // slots of no position
    EXPECT_EQ(values, expected) << layout_name(spec) << ", " << seed_text();
  }
}

/// As a device packs AIJ's values.
TEST(PackRowPart, ReadsValuesInTheOrderOfRows) {
  using Words = matrix_words<32, WordOrder::column>;
  using Packing = packing<dense<double, 3, 2>, double, Words>;
  Random random;
  const Pattern pattern = random_pattern(70, 50, 7, test_seed());
  const slot_t entries = pattern.view().entries();
  const auto blocks = random_blocks<double>("dense", {3, 2}, static_cast<count32>(entries), random);
  const auto rows = in_rows(pattern, {3, 2}, blocks);
  for (const char* text : {"sell:8:16", "hdia:32", "csr"}) {
    const LayoutSpec spec = spec_of(text, Occupancy::lengths);
    const Layout l = encode(pattern.view(), spec);
    const AnyLayout layout(spec, l.args());
    const Words words{map_of<32>(l.slots)};
    std::vector<double> by_blocks(whole_groups(l.slots, 32) * 6), by_rows(by_blocks.size());
    const Packing p{{}, words, blocks.data(), by_blocks.data()};
    const Packing q{{}, words, rows.data(), by_rows.data(), 0, pattern.start.data(), pattern.rows};

    for (idx position = 0; position < l.positions && spec.preset != "csr"; ++position) {
      pack_row_part(p, layout, position, 0, entries);
      pack_row_part(q, layout, position, 0, entries);
    }
    for (slot_t e = 0; e < entries && spec.preset == "csr"; ++e) {
      pack_slot(p, e, e);
      pack_slot(q, e, e);
    }

    EXPECT_EQ(by_rows, by_blocks) << text << ", " << seed_text();
  }
}

TEST(PackSlots, RoundsToNarrowerWords) {
  const dense<double, 1, 1> entry;
  const Layout l = encode(pattern_of(1, {{0}}).view(), parse_layout("csr"));
  const matrix_words<1, WordOrder::row> words;

  const auto values = packed_values<float>(entry, parse_layout("csr"), words, l, 1, {0.1});

  EXPECT_EQ(values[0], 0.1f);
}

}  // namespace
}  // namespace compound::test
