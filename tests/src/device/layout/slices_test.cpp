#include "device/layout/slices.hpp"

#include <gtest/gtest.h>

#include "support/device_forms.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Columns of each block row as a kernel visits them.
template <class Decoder>
Pattern decoded(const Decoder& s, idx rows, idx cols) {
  std::vector<std::vector<idx>> lists(rows);
  for (idx position = 0; position < s.positions; ++position)
    for (idx k = 0; k < s.count(position); ++k)
      if (const slot_t slot = s.first(position) + k * s.apart(); s.present(slot))
        lists[s.row(position)].push_back(s.columns_of(position).at(slot));
  if (s.positions > 0) s.columns_of(s.positions);  // as workers without a row ask
  return pattern_of(cols, lists);
}

template <class Decoder>
void expect_round_trip(std::string_view layout, bool presence, bool row_list, std::string_view columns = "32") {
  LayoutSpec spec = parse_layout(layout);
  spec.columns = columns;
  spec.occupancy = presence ? Occupancy::presence : Occupancy::lengths;
  spec.row_list = row_list;
  for (const auto& z : zoo()) {
    const Layout l = encode(z.pattern.view(), spec);

    const Pattern back = decoded(Decoder(l.args()), z.pattern.rows, z.pattern.cols);

    EXPECT_EQ(back.start, z.pattern.start) << z.name << ", " << layout;
    EXPECT_EQ(back.column, z.pattern.column) << z.name << ", " << layout;
  }
}

TEST(Slices, GiveThePatternBackInCompressedRows) {
  expect_round_trip<Rows>("csr", false, false);
  expect_round_trip<Rows>("csr", false, true);
  expect_round_trip<compressed_rows<RowOrder::kept, columns32<>>>("csr", false, false);
}

TEST(Slices, GiveThePatternBackByRowLengths) {
  expect_round_trip<Slices<2, Occupancy::lengths>>("sell:2", false, false);
  expect_round_trip<Slices<32, Occupancy::lengths>>("sell:32", false, true);
  expect_round_trip<Slices<32, Occupancy::lengths>>("sell:32:64", false, false);
  expect_round_trip<Slices<33, Occupancy::lengths>>("sell:33", false, false);
  expect_round_trip<Slices<dynamic, Occupancy::lengths>>("ellr", false, false);
  expect_round_trip<Slices<dynamic, Occupancy::any>>("sell:256:all", false, true);
}

TEST(Slices, GiveThePatternBackByPresenceBits) {
  expect_round_trip<Slices<2, Occupancy::presence>>("sell:2", true, false);
  expect_round_trip<Slices<32, Occupancy::presence>>("sell:32:all", true, true);
  expect_round_trip<Slices<33, Occupancy::presence>>("sell:33", true, false);
  expect_round_trip<Slices<dynamic, Occupancy::presence>>("ellr", true, false);
  expect_round_trip<Slices<dynamic, Occupancy::any>>("sell:8:16", true, false);
}

TEST(Slices, GiveThePatternBackFromTilesOfColumns) {
  using Any = slices<dynamic, Occupancy::any, RowOrder::any, any_columns>;
  for (const bool presence : {false, true}) {
    expect_round_trip<slices<32, Occupancy::any, RowOrder::any, tiled_columns<>>>("sell:32", presence, false, "8");
    expect_round_trip<slices<2, Occupancy::any, RowOrder::any, tiled_columns<>>>("sell:2:8", presence, false, "16");
    for (const char* columns : {"32", "16", "8"}) {
      expect_round_trip<Any>("sell:33", presence, true, columns);
      expect_round_trip<Any>("ellr", presence, false, columns);
      expect_round_trip<Any>("bellpack:8", presence, false, columns);
      expect_round_trip<compressed_rows<RowOrder::any, any_columns>>("csr", false, presence, columns);
    }
  }
}

TEST(Slices, VisitThePaddingOfARowOnlyWithPresenceBits) {
  LayoutSpec spec = parse_layout("sell:2");
  const Pattern p = pattern_of(4, {{0, 2}, {}, {3, 1, 0}});
  const Layout by_length = encode(p.view(), spec);
  spec.occupancy = Occupancy::presence;
  const Layout by_presence = encode(p.view(), spec);

  EXPECT_EQ(((Slices<2, Occupancy::lengths>(by_length.args())).count(1)), 0);
  EXPECT_EQ(((Slices<2, Occupancy::presence>(by_presence.args())).count(1)), 2);
  EXPECT_EQ(((Slices<2, Occupancy::lengths>(by_length.args())).width(1)), 2);
}

TEST(Slices, CountSlotsBeyondThirtyTwoBits) {
  // 2^31 units of 256 slots: the last position's slots lie beyond 2^38.
  const count32 start[] = {0, 1u << 31, (1u << 31) + 2};
  layout_args l;
  l.height = 256;
  l.positions = 512;
  l.array[slices_arrays::start] = start;
  const Slices<256, Occupancy::presence> s(l);

  EXPECT_EQ(s.first(511), (slot_t{1} << 39) + 255);
  EXPECT_EQ(s.width(511), 2);
}

/// More slots than one thread encodes, in rows of different lengths.
TEST(LargeSlices, HaveEachEntryInItsSlotAndPaddingElsewhere) {
  constexpr idx rows = 250'001;
  Pattern p{rows, rows, {0}, {}};
  for (idx r = 0; r < rows; ++r) {
    for (idx k = 0; k < 5 + r % 7; ++k) p.column.push_back((r + 3 * k) % rows);
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  for (const Occupancy occupancy : {Occupancy::lengths, Occupancy::presence})
    for (const char* text : {"sell:32", "sell:8:64"}) {
      LayoutSpec spec = parse_layout(text);
      spec.occupancy = occupancy;
      const Layout l = encode(p.view(), spec);
      const Slices<dynamic, Occupancy::any> layout(l.args());
      std::size_t entries = 0, wrong = 0;
      for (idx position = 0; position < l.positions; ++position) {
        const idx row = layout.row(position);
        idx nth = 0;
        for (idx k = 0; k < layout.width(position); ++k) {
          const slot_t slot = layout.first(position) + k * layout.apart();
          const bool holds = k < layout.count(position) && layout.present(slot);
          const idx column = layout.columns_of(position).at(slot);
          wrong += column != (holds ? p.column[p.start[row] + nth] : 0);
          nth += holds;
        }
        wrong += nth != p.view().length(row);
        entries += static_cast<std::size_t>(nth);
      }

      EXPECT_EQ(wrong, 0u) << layout_name(spec);
      EXPECT_EQ(entries, p.column.size()) << layout_name(spec);
    }
}

}  // namespace
}  // namespace compound::test
