#include "layout/column_codes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/layout/columns.hpp"
#include "support/errors.hpp"

namespace compound::test {
namespace {

constexpr int first_array = 3;

/// Slices of `height` that have so many slots a row, all filled; the last may be short.
struct Slices {
  idx height = slots_of_tile;
  std::vector<idx> widths = {1};

  std::vector<count32> start() const {
    std::vector<count32> all{0};
    for (const idx width : widths) all.push_back(all.back() + static_cast<count32>(width));
    return all;
  }
};

Layout encoded(std::string_view word, const std::vector<idx>& columns, const Slices& slices = {}) {
  Layout l;
  l.height = slices.height;
  column_code(word).encode(l, first_array, {}, slices.start(), {"column", columns});
  return l;
}

std::size_t offset_bytes(std::string_view word, const std::vector<idx>& columns) {
  return encoded(word, columns).bytes("column_offset");
}

/// A tile of columns base, base + range, and some between.
std::vector<idx> tile(idx base, idx range) {
  std::vector<idx> columns(slots_of_tile, base);
  for (int n = 0; n < slots_of_tile; ++n) columns[n] += static_cast<idx>(std::int64_t{range} * n / (slots_of_tile - 1));
  std::ranges::reverse(columns);
  return columns;
}

/// By the first position of each slice.
std::vector<idx> decoded(const Layout& l, const Slices& slices) {
  const layout_args args = l.args();
  const any_columns any(args, first_array);
  const auto start = slices.start();
  std::vector<idx> columns;
  for (std::size_t slice = 0; slice + 1 < start.size(); ++slice)
    for (slot_t slot = slot_t{start[slice]} * l.height; slot < slot_t{start[slice + 1]} * l.height; ++slot)
      columns.push_back(any.of(static_cast<idx>(slice) * l.height, l.height).at(slot));
  return columns;
}

TEST(ColumnCodes, TakeTheWidthThatATileNeeds) {
  for (const idx base : {0, 77, 1 << 30}) {
    EXPECT_EQ(offset_bytes("8", tile(base, 255)), 32u) << base;
    EXPECT_EQ(offset_bytes("8", tile(base, 256)), 64u) << base;
    EXPECT_EQ(offset_bytes("8", tile(base, 65535)), 64u) << base;
    EXPECT_EQ(offset_bytes("8", tile(base, 65536)), 128u) << base;
    EXPECT_EQ(offset_bytes("16", tile(base, 255)), 64u) << base;
    EXPECT_EQ(offset_bytes("16", tile(base, 65536)), 128u) << base;
  }
  EXPECT_EQ(encoded("8", tile(5, 9)).bytes("column_base"), 4u);
  EXPECT_EQ(encoded("8", tile(5, 9)).bytes("column_group"), 8u);
  EXPECT_EQ(encoded("8", {}, {32, {}}).bytes("column_base"), 0u);
}

TEST(ColumnCodes, TakeTheWidthOfTheWidestTileForASlice) {
  std::vector<idx> columns = tile(7, 9);
  for (const idx c : tile(1000, 300)) columns.push_back(c);
  for (const idx c : tile(0, 20)) columns.push_back(c);
  const Layout one = encoded("8", columns, {32, {3}}), two = encoded("8", columns, {32, {2, 1}});

  EXPECT_EQ(one.bytes("column_offset"), 3u * 64);
  EXPECT_EQ(two.bytes("column_offset"), 2u * 64 + 32);
  EXPECT_EQ(two.bytes("column_group"), 2u * 8);
}

/// Compressed rows and low slices: 8 rows have a width in common.
TEST(ColumnCodes, TakeLowSlicesTogether) {
  const std::vector<idx> columns = tile(100, 200);
  for (const auto& [height, groups] : {std::pair<idx, std::size_t>{1, 4}, {2, 4}, {3, 4}, {8, 4}, {16, 2}, {32, 1}}) {
    const Slices slices{height, std::vector<idx>((32 + height - 1) / height, 1)};
    std::vector<idx> whole = columns;
    whole.resize(slices.widths.size() * height, 100);
    const Layout l = encoded("8", whole, slices);
    EXPECT_EQ(l.bytes("column_group"), groups * 8) << height;
    EXPECT_EQ(decoded(l, slices), whole) << height;
  }
}

/// Without patches, which know more of a matrix than its columns (device/spmv_patches_test.cpp).
std::vector<ColumnCode> codes_of_columns_alone() {
  std::vector<ColumnCode> codes;
  for (const ColumnCode& code : column_codes())
    if (code.word != columns_by_patches) codes.push_back(code);
  return codes;
}

TEST(ColumnCodes, GiveBackWhatTheyWereGiven) {
  std::vector<idx> columns;
  for (const idx range : {0, 255, 256, 65535, 65536, any_number - 9})
    for (const idx c : tile(9, range)) columns.push_back(c);
  for (const Slices& slices : {Slices{32, {1, 1, 1, 1, 1, 1}}, {32, {0, 2, 0, 3, 1}}, {64, {1, 2}}, {192, {1}}})
    for (const ColumnCode& code : codes_of_columns_alone())
      EXPECT_EQ(decoded(encoded(code.word, columns, slices), slices), columns) << code.word;
  columns.resize(columns.size() - 5);  // the last tile is not whole
  const Slices rows{1, {80, 3, 0, 0, 1, 60, 0, 7, 0, 20, 16}};
  ASSERT_EQ(rows.start().back(), columns.size());
  for (const ColumnCode& code : codes_of_columns_alone())
    EXPECT_EQ(decoded(encoded(code.word, columns, rows), rows), columns) << code.word;
}

TEST(ColumnCodes, LetPaddingWidenNoTile) {
  for (const char* word : {"16", "8"}) {
    std::vector<idx> columns = tile(1 << 29, 200);
    columns[7] = column_code(word).padding;
    const std::size_t bytes = offset_bytes(word, columns);
    EXPECT_EQ(bytes, word[0] == '8' ? 32u : 64u);
    const auto back = decoded(encoded(word, columns), {});
    EXPECT_GE(back[7], 0);
    columns[7] = back[7];
    EXPECT_EQ(back, columns);
    std::vector<idx> nothing(slots_of_tile, column_code(word).padding);
    EXPECT_EQ(offset_bytes(word, nothing), bytes);
  }
}

TEST(ColumnCodes, AreListedWhereOneIsNotKnown) {
  EXPECT_ERROR(column_code("64"), ErrorKind::argument, "columns=64; choose 32, 16, 8, patch");
}

}  // namespace
}  // namespace compound::test
