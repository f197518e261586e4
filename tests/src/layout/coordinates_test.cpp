// Compressed coordinates, written from their definition (device/layout/coordinates.hpp) without the decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "layout/family.hpp"
#include "layout/layout.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Row, counted without empty ones, and column of every entry.
struct Entries {
  std::vector<idx> row, column, rows;  ///< rows: their numbers

  explicit Entries(const Pattern& p) : column(p.column) {
    for (idx r = 0; r < p.rows; ++r) {
      if (p.view().length(r) == 0) continue;
      row.insert(row.end(), p.view().length(r), static_cast<idx>(rows.size()));
      rows.push_back(r);
    }
  }
};

template <class T>
std::vector<T> array(const Layout& l, std::string_view name) {
  for (const IntegerArray& a : l.arrays)
    if (a.name() == name) return {a.as<T>().begin(), a.as<T>().end()};
  return {};
}

/// A chunk's four words, taken apart.
struct Chunk {
  count32 at, row, column, row_bytes, column_bytes, begins_within_row, chunks_after;

  explicit Chunk(const count32* word)
      : at(word[0]),
        row(word[1]),
        column(word[2]),
        row_bytes(word[3] % 4),
        column_bytes(1u << word[3] / 4 % 4),
        begins_within_row(word[3] / 16 % 2),
        chunks_after(word[3] / 32) {}
};

/// The k-th of numbers of so many bytes, the lowest first.
count32 number(const unsigned char* bytes, count32 size, std::size_t k) {
  count32 value = 0;
  for (count32 b = 0; b < size; ++b) value |= count32{bytes[k * size + b]} << (8 * b);
  return value;
}

count32 bytes_of_offsets(idx most) { return most <= 255 ? 1 : most <= 65535 ? 2 : 4; }

void expect_encoded(const Pattern& p, const char* layout, std::size_t size, const std::string& where) {
  const Entries entries(p);
  const std::size_t n = entries.row.size();

  const Layout l = encode(p.view(), parse_layout(layout));

  EXPECT_EQ(l.slots, slot_t(n)) << where;
  EXPECT_EQ(l.height, idx(size)) << where;
  const auto chunks = array<count32>(l, "chunk"), offsets = array<count32>(l, "offset");
  auto rows = entries.rows;
  rows.push_back(p.rows);
  EXPECT_EQ(array<idx>(l, "row"), rows.size() <= std::size_t(p.rows) ? rows : std::vector<idx>{}) << where;
  ASSERT_EQ(chunks.size(), (n + size - 1) / size * 4) << where;
  std::size_t words = 0;
  for (std::size_t c = 0; c * size < n; ++c) {
    const Chunk chunk(&chunks[4 * c]);
    const std::size_t first = c * size, end = std::min(n, first + size);
    const idx first_row = entries.row[first], last_row = entries.row[end - 1];
    const auto [least, most] = std::minmax_element(&entries.column[first], &entries.column[end - 1] + 1);
    EXPECT_EQ(chunk.at, words) << where;
    EXPECT_EQ(chunk.row, count32(first_row)) << where;
    EXPECT_EQ(chunk.column, count32(*least)) << where;
    EXPECT_EQ(chunk.row_bytes, first_row == last_row ? 0 : bytes_of_offsets(last_row - first_row)) << where;
    EXPECT_EQ(chunk.column_bytes, bytes_of_offsets(*most - *least)) << where;
    EXPECT_EQ(chunk.begins_within_row, first > 0 && entries.row[first - 1] == first_row) << where;
    std::size_t reach = c;  // the last chunk that has entries of the last row
    while ((reach + 1) * size < n && entries.row[(reach + 1) * size] == last_row) ++reach;
    const bool begins_here = first == 0 || entries.row[first - 1] != last_row;
    EXPECT_EQ(chunk.chunks_after, begins_here ? reach - c : 0) << where;
    const auto* const of_rows = reinterpret_cast<const unsigned char*>(&offsets[chunk.at]);
    const auto* const of_columns = of_rows + size * chunk.row_bytes;
    for (std::size_t e = first; e < end; ++e) {
      EXPECT_EQ(chunk.row + number(of_rows, chunk.row_bytes, e - first), count32(entries.row[e])) << where;
      EXPECT_EQ(chunk.column + number(of_columns, chunk.column_bytes, e - first), count32(entries.column[e])) << where;
    }
    words += size * chunk.row_bytes / 4 + ((end - first) * chunk.column_bytes + 3) / 4;
  }
  EXPECT_EQ(offsets.size(), words) << where;
}

TEST(Coordinates, HaveChunksThatKeepWhatTheyNeed) {
  for (const ZooPattern& z : zoo()) {
    expect_encoded(z.pattern, "ccoo:32:1", 32, std::string(z.name));
    expect_encoded(z.pattern, "ccoo:96:1", 96, std::string(z.name));
    expect_encoded(z.pattern, "ccoo:32:4", 128, std::string(z.name));
  }
}

/// Rows of one entry: so many in a chunk, with columns so far apart.
Pattern diagonal_of(idx rows, idx apart) {
  std::vector<std::vector<idx>> columns;
  for (idx r = 0; r < rows; ++r) columns.push_back({r % 2 * apart + 7});
  return pattern_of(apart + 8, columns);
}

TEST(Coordinates, HaveOffsetsOfEachSize) {
  for (const idx apart : {1, 255, 256, 65535, 65536, 1'000'000})
    for (const char* const layout : {"ccoo:256:1", "ccoo:64:4"})
      expect_encoded(diagonal_of(700, apart), layout, 256, std::to_string(apart));
  expect_encoded(diagonal_of(1300, 1), "ccoo:256:2", 512, "rows in 16 bits");
}

TEST(Coordinates, SayHowFarARowReachesThatBeginsWithAChunk) {
  for (const idx length : {33, 64, 65, 200}) {
    std::vector<idx> rest(length);
    for (idx k = 0; k < length; ++k) rest[k] = k;
    const std::vector<idx> chunk(rest.begin(), rest.begin() + 32);
    expect_encoded(pattern_of(200, {chunk, rest, {1, 2}}), "ccoo:32:1", 32, std::to_string(length));
  }
}

TEST(Coordinates, StepOverEmptyRows) {
  std::vector<std::vector<idx>> columns(3000);
  for (idx r = 10; r < 3000; r += 1000) columns[r] = {1, 2, 3};
  const Pattern p = pattern_of(4, columns);

  expect_encoded(p, "ccoo:32:1", 32, "three rows of 3000");
  EXPECT_EQ(encode(p.view(), parse_layout("ccoo:32:1")).bytes(), 4 * sizeof(count32) + 32 + 12 + 4 * sizeof(idx));
}

TEST(Coordinates, TakeFewerBytesThanRowsWhereColumnsAreNear) {
  std::vector<std::vector<idx>> columns;
  for (idx r = 0; r < 4096; ++r) columns.push_back({r, r + 1, r + 2, r + 64, r + 65, r + 66});
  const Pattern p = pattern_of(4096 + 67, columns);
  const std::size_t n = p.column.size();
  const auto bytes = [&](const char* layout) { return encode(p.view(), parse_layout(layout)).bytes(); };

  EXPECT_EQ(bytes("csr"), 4 * (n + 4097));
  EXPECT_EQ(bytes("ccoo:256:1"), 2 * n + n / 256 * 16) << "a byte a row, a byte a column";
  EXPECT_LT(bytes("ccoo:64:4"), bytes("csr") / 2);
}

/// The host lists rows and slots by functions of the family's own.
void expect_listed(const Pattern& p, const char* layout, const std::string& where) {
  const Entries entries(p);
  const LayoutSpec spec = parse_layout(layout);
  const Layout l = encode(p.view(), spec);
  std::vector<idx> listed_rows, columns;
  std::vector<slot_t> slots;

  for_each_row_lists(family_of(spec), l.args(), [&](const row_lists& lists) {
    for (idx r = 0; r < lists.rows; ++r) {
      listed_rows.push_back(lists.row[r]);
      EXPECT_EQ(lists.first[r + 1] - lists.first[r], p.view().length(lists.row[r])) << where;
    }
    slots.insert(slots.end(), lists.slot, lists.slot + lists.first[lists.rows]);
    columns.insert(columns.end(), lists.column, lists.column + lists.first[lists.rows]);
  });

  EXPECT_EQ(listed_rows, entries.rows) << where;
  EXPECT_EQ(columns, entries.column) << where;
  ASSERT_EQ(slots.size(), columns.size()) << where;
  for (std::size_t s = 0; s < slots.size(); ++s) EXPECT_EQ(slots[s], slot_t(s)) << where;
  slot_t next = 0;
  for_each_piece(family_of(spec), l.args(), [&](const row_lists& piece) {
    EXPECT_EQ(piece.slot[0], next) << where;
    next += piece.first[piece.rows];
  });
  EXPECT_EQ(next, l.slots) << where;
  const auto of_entries = slots_of_entries(p.view(), spec, l);
  for (std::size_t e = 0; e < of_entries.size(); ++e) EXPECT_EQ(of_entries[e], e) << where;
}

/// Wherever lists, chunks, and the offsets that are compared together begin and end; in long chunks of short rows those
/// are of 16 bits.
TEST(Coordinates, AreListedRowByRow) {
  std::vector<std::vector<idx>> columns;
  for (const idx longest : {1, 2, 3, 9, 70, 600, 1})
    for (idx r = 0; r < 1500; r += longest) columns.emplace_back(r * 7919 % longest + 1, r % 300);
  const Pattern uneven = pattern_of(300, columns), short_rows = diagonal_of(3000, 300);
  for (const char* const layout : {"ccoo:32:1", "ccoo:96:1", "ccoo:64:4", "ccoo:256:2", "ccoo:64:8", "ccoo:1024:4"}) {
    expect_listed(uneven, layout, "uneven rows");
    expect_listed(short_rows, layout, "short rows");
    for (const ZooPattern& z : zoo()) expect_listed(z.pattern, layout, std::string(z.name));
  }
}

}  // namespace
}  // namespace compound::test
