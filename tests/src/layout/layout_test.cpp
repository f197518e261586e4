#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "device/layout/diagonal_slices.hpp"
#include "layout/row_order.hpp"
#include "support/errors.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

// What is checked here is written from the definitions in device/layout/slices.hpp, without its decoder.

struct LayoutCase {
  const char* name;
  LayoutSpec spec;
};

LayoutSpec spec_of(std::string_view text, Occupancy occupancy = Occupancy::lengths, bool row_list = false) {
  LayoutSpec spec = parse_layout(text);
  spec.occupancy = occupancy;
  spec.row_list = row_list;
  return spec;
}

const LayoutCase cases[] = {
    {"csr", spec_of("csr")},
    {"csr_rowlist", spec_of("csr", Occupancy::lengths, true)},
    {"ellr", spec_of("ellr")},
    {"ellr_presence", spec_of("ellr", Occupancy::presence)},
    {"ellr_rowlist", spec_of("ellr", Occupancy::lengths, true)},
    {"sell2", spec_of("sell:2")},
    {"sell8", spec_of("sell:8")},
    {"sell33", spec_of("sell:33")},
    {"sell256", spec_of("sell:256")},
    {"sell8_sigma64", spec_of("sell:8:64")},
    {"sell32_all", spec_of("sell:32:all")},
    {"sell32_presence", spec_of("sell:32", Occupancy::presence)},
    {"sell8_presence_sigma_rowlist", spec_of("sell:8:16", Occupancy::presence, true)},
    {"sell32_rowlist", spec_of("sell:32", Occupancy::lengths, true)},
};

/// The arrays of compressed rows and slices, as numbers.
struct Stored {
  idx height, positions;
  slot_t slot_count;
  std::vector<count32> start, presence, first_entry;
  std::vector<idx> length, column, row_of;

  explicit Stored(const Layout& l)
      : height(l.height),
        positions(l.positions),
        slot_count(l.slots),
        start(numbers<count32>(l, "start")),
        presence(numbers<count32>(l, "presence")),
        first_entry(numbers<count32>(l, "first_entry")),
        length(numbers<idx>(l, "length")),
        column(numbers<idx>(l, "column")),
        row_of(numbers<idx>(l, "row_of")) {}

  slot_t slots() const { return slot_count; }
  bool in_entry_order() const { return first_entry.empty(); }

 private:
  template <class T>
  static std::vector<T> numbers(const Layout& l, std::string_view name) {
    for (const IntegerArray& a : l.arrays)
      if (a.name() == name) return {a.as<T>().begin(), a.as<T>().end()};
    return {};
  }
};

/// Block row at a position.
idx row_at(const Stored& l, idx position) { return l.row_of.empty() ? position : l.row_of[position]; }

/// slot(p, k) = start[p / C] * C + k * C + p % C.
slot_t slot_at(const Stored& l, idx position, idx k) {
  const slot_t c = l.height;
  return slot_t{l.start[position / c]} * c + slot_t{k} * c + position % c;
}

/// The slot of every entry of the pattern, in pattern order.
std::vector<slot_t> slots_of_entries(const Pattern& p, const Stored& l) {
  std::vector<slot_t> slots(p.column.size(), -1);
  for (idx position = 0; position < l.positions; ++position)
    for (idx k = 0; k < p.view().length(row_at(l, position)); ++k)
      slots[p.start[row_at(l, position)] + k] = slot_at(l, position, k);
  return slots;
}

class EncodedZoo : public testing::TestWithParam<std::tuple<ZooPattern, LayoutCase>> {
 protected:
  const Pattern& pattern() const { return std::get<0>(GetParam()).pattern; }
  const LayoutSpec& spec() const { return std::get<1>(GetParam()).spec; }
  Stored encoded() const { return Stored(encode(pattern().view(), spec())); }
};

INSTANTIATE_TEST_SUITE_P(All, EncodedZoo, testing::Combine(testing::ValuesIn(zoo()), testing::ValuesIn(cases)),
                         [](const auto& instance) {
                           std::string name =
                               std::string(std::get<0>(instance.param).name) + "__" + std::get<1>(instance.param).name;
                           std::erase(name, ',');
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST_P(EncodedZoo, GivesEveryEntryASlotOfItsOwn) {
  const Stored l = encoded();

  const auto slots = slots_of_entries(pattern(), l);

  const std::set<slot_t> distinct(slots.begin(), slots.end());
  EXPECT_EQ(distinct.size(), pattern().column.size());
  EXPECT_TRUE(distinct.empty() || (*distinct.begin() >= 0 && *distinct.rbegin() < l.slots()));
}

TEST_P(EncodedZoo, PutsEachEntrysColumnInItsSlot) {
  const Stored l = encoded();

  std::vector<idx> columns;
  for (const slot_t slot : slots_of_entries(pattern(), l)) columns.push_back(l.column[slot]);

  EXPECT_EQ(l.column.size(), static_cast<std::size_t>(l.slots()));
  EXPECT_EQ(columns, pattern().column);
}

TEST_P(EncodedZoo, PadsEachSliceToItsLongestRowAndNoFurther) {
  const Stored l = encoded();
  std::vector<count32> start{0};
  for (idx first = 0; first < l.positions; first += l.height) {
    idx longest = 0;
    for (idx p = first; p < std::min(l.positions, first + l.height); ++p)
      longest = std::max(longest, pattern().view().length(row_at(l, p)));
    start.push_back(start.back() + static_cast<count32>(longest));
  }

  EXPECT_EQ(l.start, start);
  EXPECT_EQ(l.slots(), slot_t{start.back()} * l.height);
}

TEST_P(EncodedZoo, HoldsEveryRowOnceOrOnlyTheNonEmptyOnes) {
  const Stored l = encoded();
  std::vector<idx> expected;
  for (idx r = 0; r < pattern().rows; ++r)
    if (!spec().row_list || pattern().view().length(r) > 0) expected.push_back(r);

  std::vector<idx> rows;
  for (idx p = 0; p < l.positions; ++p) rows.push_back(row_at(l, p));
  std::sort(rows.begin(), rows.end());

  EXPECT_EQ(rows, expected);
}

TEST_P(EncodedZoo, SortsStablyByFallingLengthInsideWindowsOnly) {
  const Stored l = encoded();
  const PatternView p = pattern().view();
  std::vector<idx> expected;
  for (idx r = 0; r < p.rows; ++r)
    if (!spec().row_list || p.length(r) > 0) expected.push_back(r);
  const idx all = static_cast<idx>(expected.size()), window = spec().sigma == whole ? std::max(all, 1) : spec().sigma;
  for (idx from = 0; from < all; from += window)  // longer rows first, and among equals the earlier row
    std::sort(expected.begin() + from, expected.begin() + std::min(all, from + window),
              [&](idx a, idx b) { return p.length(a) != p.length(b) ? p.length(a) > p.length(b) : a < b; });

  std::vector<idx> rows;
  for (idx position = 0; position < l.positions; ++position) rows.push_back(row_at(l, position));

  EXPECT_EQ(rows, expected);
}

TEST_P(EncodedZoo, KnowsEachRowsLengthWhereRowsArePadded) {
  const Stored l = encoded();
  std::vector<idx> lengths;
  if (l.height > 1 && spec().occupancy == Occupancy::lengths)
    for (idx p = 0; p < l.positions; ++p) lengths.push_back(pattern().view().length(row_at(l, p)));

  EXPECT_EQ(l.length, lengths);
}

TEST_P(EncodedZoo, MarksExactlyTheEntriesSlotsAsPresent) {
  const Stored l = encoded();
  const auto slots = slots_of_entries(pattern(), l);

  std::vector<slot_t> marked;
  for (slot_t s = 0; s < slot_t(l.presence.size()) * 32; ++s)
    if (l.presence[s / 32] >> (s % 32) & 1u) marked.push_back(s);

  const std::set<slot_t> expected(slots.begin(), slots.end());
  const bool has_bits = spec().occupancy == Occupancy::presence;
  EXPECT_EQ(marked, has_bits ? std::vector<slot_t>(expected.begin(), expected.end()) : std::vector<slot_t>());
  EXPECT_EQ(l.presence.empty(), !has_bits);
}

TEST_P(EncodedZoo, KnowsTheFirstEntryOfEachPosition) {
  const Stored l = encoded();

  std::vector<count32> first;
  for (idx p = 0; p < l.positions; ++p) first.push_back(pattern().start[row_at(l, p)]);

  const auto stored =
      l.in_entry_order() ? std::vector<count32>(l.start.begin(), l.start.begin() + l.positions) : l.first_entry;
  EXPECT_EQ(stored, first);
}

TEST_P(EncodedZoo, HasItsEntriesWhereSlotsOfEntriesSays) {
  const Stored l = encoded();

  const auto told = slots_of_entries(pattern().view(), spec(), encode(pattern().view(), spec()));

  const auto slots = slots_of_entries(pattern(), l);
  EXPECT_EQ(std::vector<slot_t>(told.begin(), told.end()), slots);
}

TEST(SlotsOfEntries, RefusesLayoutsBeyondThirtyTwoBits) {
  Layout l;
  l.slots = slot_t{1} << 32;
  const Pattern nothing = pattern_of(0, {});

  EXPECT_ERROR(slots_of_entries(nothing.view(), parse_layout("sell:32"), l), ErrorKind::too_large, "4294967296 slots");
}

TEST(Encode, StoresTheDrawnExampleInSlicesOfTwo) {
  // Rows a: {0, 2}, b: {}, c: {3, 1, 0}; slices (a, b) of width 2 and (c, -) of width 3.
  const Stored l(encode(pattern_of(4, {{0, 2}, {}, {3, 1, 0}}).view(), parse_layout("sell:2")));

  EXPECT_EQ(l.start, (std::vector<count32>{0, 2, 5}));
  EXPECT_EQ(l.length, (std::vector<idx>{2, 0, 3}));
  EXPECT_EQ(l.slots(), 10);
  EXPECT_EQ(l.column[0], 0);
  EXPECT_EQ(l.column[2], 2);
  EXPECT_EQ(l.column[4], 3);
  EXPECT_EQ(l.column[6], 1);
  EXPECT_EQ(l.column[8], 0);
  EXPECT_TRUE(l.row_of.empty());
}

TEST(Encode, GivesCompressedRowsAsTheyAre) {
  const Pattern p = random_pattern(40, 30, 5, 11);

  const Stored l(encode(p.view(), parse_layout("csr")));

  EXPECT_EQ(l.start, p.start);
  EXPECT_EQ(l.column, p.column);
  EXPECT_TRUE(l.in_entry_order());
  EXPECT_TRUE(l.row_of.empty());
}

TEST(Encode, KeepsTheOrderWhereSortingChangesNothing) {
  const Stored l(encode(pattern_of(3, {{0, 1, 2}, {1, 2}, {0, 1}, {2}}).view(), parse_layout("sell:2:all")));

  EXPECT_TRUE(l.row_of.empty());
}

idx height_of(std::string_view layout, idx rows) {
  return encode(even_pattern(rows, static_cast<count32>(rows)).view(), parse_layout(layout)).height;
}

TEST(SliceHeight, OfAllRowsIsPaddedToThirtyTwo) {
  EXPECT_EQ(height_of("ellr", 1), 32);
  EXPECT_EQ(height_of("ellr", 32), 32);
  EXPECT_EQ(height_of("ellr", 33), 64);
  EXPECT_EQ(height_of("ellr", 1016), 1024);
  EXPECT_EQ(encode(pattern_of(0, {}).view(), parse_layout("ellr")).height, 32);
}

TEST(SliceHeight, IsTheSpecsOwnOtherwise) { EXPECT_EQ(height_of("sell:33", 5), 33); }

TEST(Encode, LiesOnThePatternsArraysWhereTheyStay) {
  const Pattern p = random_pattern(40, 30, 5, 11);
  struct Case {
    const char* layout;
    bool row_list;
    std::vector<std::string_view> borrowed;
  };
  for (const Case& c : {Case{"csr", false, {"start", "column"}}, Case{"csr", true, {"column"}},
                        Case{"ccoo:32", false, {}}, Case{"sell:8", false, {}}, Case{"hdia:32", false, {}}}) {
    const LayoutSpec spec = spec_of(c.layout, Occupancy::lengths, c.row_list);
    std::vector<std::string_view> borrowed;

    const Layout l = encode(p.view(), spec, PatternLifetime::outlives);

    for (const IntegerArray& a : l.arrays)
      if (a.is_borrowed()) borrowed.push_back(a.name());
    EXPECT_EQ(borrowed, c.borrowed) << c.layout;
    EXPECT_EQ(l.bytes() == 0, std::string_view(c.layout) == "csr" && !c.row_list) << c.layout;
  }
}

// Diagonals.

class DiagonalZoo : public testing::TestWithParam<ZooPattern> {};
INSTANTIATE_TEST_SUITE_P(All, DiagonalZoo, testing::ValuesIn(zoo()), [](const auto& instance) {
  std::string name(instance.param.name);
  std::erase(name, ',');
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

/// slot = (start[p / C] + k) * C + p % C is there where row p has an entry on diagonal k of its slice, offset[...];
/// each diagonal of a slice is one of its entries'. Written from device/layout/diagonal_slices.hpp, without its
/// decoder.
TEST_P(DiagonalZoo, HaveASlotForEachEntryOnItsDiagonal) {
  const Pattern& p = GetParam().pattern;
  const LayoutSpec spec = parse_layout("hdia:32");
  const Layout l = encode(p.view(), spec);
  const layout_args a = l.args();
  const auto* const start = a.get<count32>(diagonal_slices_arrays::start);
  const auto* const offset = a.get<idx>(diagonal_slices_arrays::offset);
  const auto* const presence = a.get<count32>(diagonal_slices_arrays::presence);

  const auto slots = slots_of_entries(p.view(), spec, l);

  std::set<slot_t> used;
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
      const slot_t slot = slots[e], diagonal = slot / 32;
      EXPECT_TRUE(used.insert(slot).second);
      EXPECT_EQ(slot % 32, row % 32);
      EXPECT_GE(diagonal, slot_t{start[row / 32]});
      EXPECT_LT(diagonal, slot_t{start[row / 32 + 1]});
      EXPECT_EQ(row + offset[diagonal], p.column[e]);
      EXPECT_TRUE(presence[slot / 32] >> (slot % 32) & 1u);
    }
  slot_t present = 0;
  std::set<slot_t> diagonals;
  for (slot_t s = 0; s < l.slots; ++s) present += presence[s / 32] >> (s % 32) & 1u;
  for (const slot_t s : used) diagonals.insert(s / 32);
  EXPECT_EQ(present, slot_t(used.size()));
  EXPECT_EQ(slot_t(diagonals.size()) * 32, l.slots) << "no diagonal without an entry";
}

TEST(Slices, StartAtNumbersOf32Bits) {
  const auto starts = [](count32 first, count32 second) {
    return slice_starts(64, 32, [&](std::size_t from, std::size_t) { return from == 0 ? first : second; });
  };
  constexpr count32 half = count32{1} << 31;

  EXPECT_EQ(starts(half, half - 1), (std::vector<count32>{0, half, ~count32{0}}));
  EXPECT_ERROR(starts(half, half), ErrorKind::too_large, "4294967296 slots a row of a slice");
}

TEST(Diagonals, OfATridiagonalMatrixAreThree) {
  std::vector<std::vector<idx>> rows;
  for (idx r = 0; r < 64; ++r) rows.push_back(r == 0 ? std::vector<idx>{0, 1} : std::vector<idx>{r - 1, r, r + 1});
  const Layout l = encode(pattern_of(65, rows).view(), parse_layout("hdia:32"));

  EXPECT_EQ(l.slots, 2 * 3 * 32);
  EXPECT_EQ(l.bytes("offset"), 2u * 3 * sizeof(idx));
  EXPECT_EQ(l.bytes("column"), 0u);
}

}  // namespace
}  // namespace compound::test
