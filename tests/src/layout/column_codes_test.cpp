#include "layout/column_codes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/layout/columns.hpp"
#include "support/errors.hpp"

namespace compound::test {
namespace {

constexpr int first = 3;

Layout encoded(std::string_view word, const std::vector<idx>& columns) {
  Layout l;
  column_code(word).encode(l, first, {"column", columns});
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

std::vector<idx> decoded(const Layout& l, std::size_t slots) {
  const layout_args args = l.args();
  const any_columns any(args, first);
  std::vector<idx> columns;
  for (std::size_t slot = 0; slot < slots; ++slot) columns.push_back(any.at(static_cast<slot_t>(slot)));
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
  EXPECT_EQ(encoded("8", tile(5, 9)).bytes("column_tile"), 8u);
  EXPECT_EQ(encoded("8", {}).bytes("column_tile"), 0u);
}

TEST(ColumnCodes, GiveBackWhatTheyWereGiven) {
  std::vector<idx> columns;
  for (const idx range : {0, 255, 256, 65535, 65536, any_number - 9})
    for (const idx c : tile(9, range)) columns.push_back(c);
  columns.resize(columns.size() - 5);  // the last tile is not whole
  for (const ColumnCode& code : column_codes())
    EXPECT_EQ(decoded(encoded(code.word, columns), columns.size()), columns) << code.word;
}

TEST(ColumnCodes, LetPaddingWidenNoTile) {
  for (const char* word : {"16", "8"}) {
    std::vector<idx> columns = tile(1 << 29, 200);
    columns[7] = column_code(word).padding;
    const std::size_t bytes = offset_bytes(word, columns);
    EXPECT_EQ(bytes, word[0] == '8' ? 32u : 64u);
    const auto back = decoded(encoded(word, columns), columns.size());
    EXPECT_GE(back[7], 0);
    columns[7] = back[7];
    EXPECT_EQ(back, columns);
    std::vector<idx> nothing(slots_of_tile, column_code(word).padding);
    EXPECT_EQ(offset_bytes(word, nothing), bytes);
  }
}

TEST(ColumnCodes, AreListedWhereOneIsNotKnown) {
  EXPECT_ERROR(column_code("64"), ErrorKind::argument, "columns=64; choose 32, 16, 8");
}

}  // namespace
}  // namespace compound::test
