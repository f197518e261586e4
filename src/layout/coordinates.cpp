#include "../device/layout/coordinates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "family.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

using arrays = coordinates_arrays;

std::optional<std::string> why_not(const LayoutSpec& spec) {
  if (spec.slice % 32 != 0)
    return "a chunk's threads are whole warps: " + std::to_string(spec.slice) + " must be a multiple of 32";
  if (!std::has_single_bit(static_cast<unsigned>(spec.each)))
    return "entries of a thread, " + std::to_string(spec.each) + ", must be 1, 2, 4 or 8";
  return {};
}

/// Rows that have entries, and a last one beyond all.
std::vector<idx> rows_with_entries(const PatternView& p) {
  std::vector<idx> rows;
  for (idx r = 0; r < p.rows; ++r)
    if (p.length(r) > 0) rows.push_back(r);
  rows.push_back(p.rows);
  return rows;
}

/// Encodes one chunk after the other.
class Chunks {
 public:
  Chunks(const PatternView& pattern, const std::vector<idx>& rows, count32 entries_of_chunk)
      : p_(pattern), rows_(rows), size_(entries_of_chunk), of_rows_(size_), of_columns_(size_) {}

  void encode(count32 first) {
    const count32 last = std::min(first + size_, p_.entries()) - 1;
    const auto of_chunk = p_.column.subspan(first, last - first + 1);
    const auto [least, most] = std::ranges::minmax(of_chunk);
    coordinate_chunk c{static_cast<count32>(offsets.size()), row_, least, 0};
    const bool begins_within_row = first > p_.start[rows_[row_]];
    for (count32 e = first; e <= last; ++e) {
      if (e >= end_of(row_)) ++row_;
      of_rows_[e - first] = static_cast<count32>(row_ - c.row);
      of_columns_[e - first] = static_cast<count32>(p_.column[e] - least);
    }
    const bool last_row_begins_here = row_ != c.row || !begins_within_row;
    const count32 chunks_after = last_row_begins_here ? (end_of(row_) - 1) / size_ - first / size_ : 0;
    const int row_bytes = row_ == c.row ? 0 : bytes_for(row_ - c.row), column_bytes = bytes_for(most - least);
    c.form = row_bytes + 4u * (column_bytes / 2) + 16u * begins_within_row + 32u * chunks_after;
    put(c);
    put(of_rows_, row_bytes);
    put(std::span(of_columns_).first(of_chunk.size()), column_bytes);
    if (last + 1 == end_of(row_)) ++row_;
  }

  std::vector<count32> chunks, offsets;

 private:
  count32 end_of(idx counted_row) const { return p_.start[rows_[counted_row] + 1]; }
  static int bytes_for(idx most) { return most < 1 << 8 ? 1 : most < 1 << 16 ? 2 : 4; }

  void put(const coordinate_chunk& c) {
    chunks.resize(chunks.size() + sizeof(c) / sizeof(count32));
    std::memcpy(chunks.data() + chunks.size() - sizeof(c) / sizeof(count32), &c, sizeof(c));
  }
  void put(std::span<const count32> values, int bytes) {
    const std::size_t words = (values.size() * bytes + 3) / 4, from = offsets.size();
    if (from + words > std::numeric_limits<count32>::max()) throw_beyond_32_bits(from + words, "words of offsets");
    offsets.resize(from + words);
    auto* to = reinterpret_cast<unsigned char*>(offsets.data() + from);
    for (std::size_t k = 0; bytes > 0 && k < values.size(); ++k, to += bytes) std::memcpy(to, &values[k], bytes);
  }

  const PatternView& p_;
  const std::vector<idx>& rows_;
  count32 size_;
  std::vector<count32> of_rows_, of_columns_;  ///< offsets of the chunk; rows' beyond the last entry do not matter
  idx row_ = 0;                                ///< of the next entry, counted without empty rows
};

void check_entries(const PatternView& p) {
  if (p.entries() > count32{std::numeric_limits<idx>::max()})
    throw_beyond_32_bits(p.entries(), "entries, with a sign,");
}

Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  check_entries(p);
  Layout l;
  l.positions = static_cast<idx>(p.entries());
  l.height = slots_of_chunk(spec);
  l.slots = p.entries();
  std::vector<idx> rows = rows_with_entries(p);
  Chunks chunks(p, rows, static_cast<count32>(l.height));
  for (slot_t first = 0; first < l.slots; first += l.height) chunks.encode(static_cast<count32>(first));
  l.arrays[arrays::chunks] = {"chunk", std::move(chunks.chunks)};
  l.arrays[arrays::offsets] = {"offset", std::move(chunks.offsets)};
  if (rows.size() <= std::size_t(p.rows)) l.arrays[arrays::rows] = {"row", std::move(rows)};
  return l;
}

LayoutCount counted(const PatternView& p, const LayoutSpec& spec, PatternLifetime lifetime) {
  return count_of(encoded(p, spec, lifetime));
}

std::string decoder(const LayoutSpec& spec, std::string_view, std::string_view) {
  return "coordinates<" + std::to_string(spec.slice) + ", " + std::to_string(spec.each) + ">";
}

/// Entries [k, end) of a chunk, for a list that has `items` entries already.
struct EntriesOfChunk {
  const coordinates_of_chunk& chunk;
  idx k, end, items;
};

/// Adds their rows to the list, whose last row is `row`, until it is long enough for another one. The entry where it
/// stopped. Rows are counted without empty ones. Here a chunk within a row,
idx add_one_row(const EntriesOfChunk& e, idx& row, RowLists& to) {
  if (e.chunk.row == row) return e.end;
  if (e.items >= items_of_list) return e.k;
  to.first[to.rows] = e.items;
  to.row[to.rows++] = row = e.chunk.row;
  return e.end;
}

/// Bit n says whether offset n differs from the one before it, n < 64. Up to 7 bytes after those are read: columns
/// follow.
template <class Offset>
std::uint64_t changes(const Offset* offsets, idx count) {
  constexpr int bits = 8 * sizeof(Offset), together = 64 / bits;
  // Lanes of `bits`: their highest bits, their lowest, and what moves these side by side to the top.
  constexpr std::uint64_t ones = ~std::uint64_t{0} / std::numeric_limits<Offset>::max(), highest = ones << (bits - 1);
  constexpr std::uint64_t gather = [] {
    std::uint64_t all = 0;
    for (int lane = 1; lane <= together; ++lane) all |= std::uint64_t{1} << lane * (bits - 1);
    return all;
  }();
  std::uint64_t found = 0;
  for (idx n = 0; n < count; n += together) {
    std::uint64_t here, before;
    std::memcpy(&here, offsets + n, sizeof(here));
    std::memcpy(&before, offsets + n - 1, sizeof(before));
    const std::uint64_t differing = here ^ before,
                        flags = (((differing & ~highest) + (highest - ones)) | differing) & highest;
    found |= ((flags >> (bits - 1)) * gather >> (64 - together)) << n;
  }
  return count < 64 ? found & ((std::uint64_t{1} << count) - 1) : found;
}

/// and one of many: 64 offsets at a time, so that where rows begin is guessed once for them.
template <class Offset>
idx add_rows(const EntriesOfChunk& e, idx& row, RowLists& to) {
  const auto* const of_rows = reinterpret_cast<const Offset*>(e.chunk.row_offsets);
  const idx first_row = e.chunk.row, before = e.items - e.k;
  idx* next_row = to.row.data() + to.rows;  // no count in memory, which each row would wait for
  slot_t* next_first = to.first.data() + to.rows;
  const auto begin_row = [&](idx k) {
    *next_first++ = before + k;
    *next_row++ = first_row + of_rows[k];
  };
  if (e.chunk.row + of_rows[e.k] != row) {
    if (e.items >= items_of_list) return e.k;
    begin_row(e.k);
  }
  const idx until = static_cast<idx>(std::min<slot_t>(e.end, e.k + (items_of_list - e.items)));
  idx k = e.k + 1;
  for (; k < until; k += 64)
    for (std::uint64_t rest = changes(of_rows + k, std::min<idx>(64, until - k)); rest != 0; rest &= rest - 1)
      begin_row(k + std::countr_zero(rest));
  k = std::max(e.k + 1, until);
  while (k < e.end && of_rows[k] == of_rows[k - 1]) ++k;
  row = e.chunk.row + of_rows[k - 1];
  to.rows = static_cast<idx>(next_row - to.row.data());
  return k;
}

template <class Offset>
void add_to(idx base, const unsigned char* offsets, idx n, idx* to) {
  const auto* const from = reinterpret_cast<const Offset*>(offsets);
  for (idx k = 0; k < n; ++k) to[k] = base + static_cast<idx>(from[k]);
}

/// The columns of `n` entries of a chunk from entry k on.
void columns_of(const coordinates_of_chunk& c, idx k, idx n, idx* to) {
  const int bytes = c.column_bytes();
  constexpr auto by_bytes = std::array{add_to<unsigned char>, add_to<unsigned short>, add_to<count32>};
  by_bytes[bytes / 2](c.column, c.column_offsets + slot_t(k) * bytes, n, to);
}

/// Lists rows from the one on that begins with slot `from` (lists.hpp), chunk by chunk instead of slot by slot.
idx list_rows_of_chunks(const layout_args& l, idx from, RowLists& to) {
  const coordinates<> layout(l);
  constexpr auto by_bytes = std::array{add_one_row, add_rows<unsigned char>, add_rows<unsigned short>};
  idx row = -1, slot = from;
  to.rows = 0;
  to.row.resize(items_of_list);  // of a list's rows each has an entry
  to.first.resize(items_of_list + 1);
  to.reserve(1);
  to.slot[0] = from;
  for (bool goes_on = true; goes_on && slot < l.positions;) {
    const coordinates_of_chunk chunk = layout.in_chunk(slot / l.height);
    const idx k = slot % l.height, end = std::min(l.positions - (slot - k), l.height), items = slot - from;
    const idx stop = by_bytes[chunk.row_bytes()]({chunk, k, end, items}, row, to), n = stop - k;
    goes_on = stop == end;
    to.reserve(items + n);
    columns_of(chunk, k, n, to.column.data() + items);
    if (!to.first_slot_only) std::iota(to.slot.data() + items, to.slot.data() + items + n, slot_t{slot});
    slot += n;
  }
  to.first[to.rows] = slot - from;
  for (idx r = 0; layout.rows && r < to.rows; ++r) to.row[r] = layout.rows[to.row[r]];
  return slot;
}

/// Slots are entries: any number of them may be listed, wherever rows begin.
idx list_slots_in_order(const layout_args& l, idx from, SlotLists& to) {
  const idx n = static_cast<idx>(std::min<slot_t>(l.positions - from, items_of_list));
  to.slot.resize(n);
  std::iota(to.slot.begin(), to.slot.end(), slot_t{from});
  to.entry = to.slot;
  return from + n;
}

constexpr Traversal traversals[] = {Traversal::slots};

}  // namespace

constinit const LayoutFamily coordinates_family{
    .number = "threads of a chunk",
    .why_not = why_not,
    .encode = encoded,
    .count = counted,
    .decoder = decoder,
    .any_decoder = "coordinates<>",
    .host_form = HostTraversal::pieces,
    .list_rows = list_rows_of_chunks,
    .list_slots = list_slots_in_order,
    .traversals = traversals,
    .slots_are_entries = true,
    .interleaved = false,
    .visited_rows = arrays::rows,
    .has_presence = false,
    .has_row_list = false,
    .word_group = [](const LayoutSpec&) { return idx{32}; },
    .threads = [](const LayoutSpec& spec) { return int{spec.slice}; },
};

}  // namespace compound
