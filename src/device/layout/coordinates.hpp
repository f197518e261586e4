// Compressed coordinates in balanced chunks (ccoo): each worker has as many entries, wherever rows begin and end, and
// each chunk keeps its rows and columns in as few bytes as they need. The encoder is src/layout/coordinates.cpp.
//
// Source: Aliaga et al. 2020, section 2. Theirs pads rows to whole threads and gives empty rows a zero; here entries
// of a thread may be of several rows, and rows are counted without the empty ones.
#pragma once

#include "layout_args.hpp"

namespace compound {

struct coordinates_arrays {
  enum : int {
    chunks = common_arrays::first_own,  ///< [chunks] coordinate_chunk
    offsets,                            ///< [words] count32: of each chunk its rows' offsets, then its columns'
    rows  ///< [rows that are not empty + 1] idx, rising, the last beyond them all; null: no row is empty
  };
};

/// What tells how a chunk is kept.
struct alignas(16) coordinate_chunk {
  count32 at = 0;    ///< the word of `offsets` with which its own begin
  idx row = 0;       ///< of its first entry, counted without empty rows
  idx column = 0;    ///< the least of its entries
  count32 form = 0;  ///< bytes of a row's offset: 0, 1, 2; + 4 log2(those of a column's); + 16 begins_within_row
                     ///< + 32 chunks_after

  COMPOUND_FN int row_bytes() const { return int(form & 3); }
  COMPOUND_FN int column_bytes() const { return 1 << (form >> 2 & 3); }
  COMPOUND_FN bool begins_within_row() const { return form >> 4 & 1; }
  /// Chunks after it that its last row reaches into, if that row begins in it; else 0.
  COMPOUND_FN idx chunks_after() const { return idx(form >> 5); }
};

template <int bytes>
struct unsigned_type {
  using type = count32;
};
template <>
struct unsigned_type<1> {
  using type = unsigned char;
};
template <>
struct unsigned_type<2> {
  using type = unsigned short;
};

/// A chunk with its offsets: entry k of it, 0 <= k < entries of a chunk.
struct coordinates_of_chunk : coordinate_chunk {
  const unsigned char *row_offsets, *column_offsets;

  COMPOUND_FN coordinates_of_chunk(const coordinate_chunk& c, const count32* offsets, idx entries)
      : coordinate_chunk(c),
        row_offsets(reinterpret_cast<const unsigned char*>(offsets + c.at)),
        column_offsets(row_offsets + slot_t(entries) * c.row_bytes()) {}

  COMPOUND_FN static count32 offset(const unsigned char* from, int bytes, idx k) {
    if (bytes == 1) return from[k];
    if (bytes == 2) return reinterpret_cast<const unsigned short*>(from)[k];
    return reinterpret_cast<const count32*>(from)[k];
  }
  /// Counted without empty rows.
  COMPOUND_FN idx row_of(idx k) const {
    return row_bytes() == 0 ? row : row + idx(offset(row_offsets, row_bytes(), k));
  }
  COMPOUND_FN idx column_of(idx k) const { return column + idx(offset(column_offsets, column_bytes(), k)); }

  /// Of entries k, k + 1, ... where k is a multiple of n and `count` of the n are there; the others' are anything.
  template <int n>
  COMPOUND_FN void rows_of(idx k, int count, idx* to) const {
    for (int e = 0; e < n; ++e) to[e] = 0;
    if (row_bytes() > 0) read_offsets<n>(row_offsets, row_bytes(), k, count, to);
    for (int e = 0; e < n; ++e) to[e] += row;
  }
  template <int n>
  COMPOUND_FN void columns_of(idx k, int count, idx* to) const {
    read_offsets<n>(column_offsets, column_bytes(), k, count, to);
    for (int e = 0; e < n; ++e) to[e] += column;
  }

 private:
  template <int n>
  COMPOUND_FN static void read_offsets(const unsigned char* from, int bytes, idx k, int count, idx* to) {
    if (bytes == 1)
      read_together<n, unsigned char>(from, k, count, to);
    else if (bytes == 2)
      read_together<n, unsigned short>(from, k, count, to);
    else
      read_together<n, count32>(from, k, count, to);
  }
  /// As many at once as fill 32 bits, on which a chunk's offsets begin.
  template <int n, class Offset>
  COMPOUND_FN static void read_together(const unsigned char* from, idx k, int count, idx* to) {
    constexpr int in_32_bits = int(sizeof(count32) / sizeof(Offset)), together = n < in_32_bits ? n : in_32_bits;
    using Bits = unsigned_of<together* int(sizeof(Offset))>;
    const auto* const bits = reinterpret_cast<const Bits*>(from) + k / together;
    for (int e = 0; e < n; e += together)
      if (e < count) {
        const Bits read = bits[e / together];
        for (int i = 0; i < together; ++i) to[e + i] = idx(Offset(read >> (8 * int(sizeof(Offset)) * i)));
      }
  }
  template <int bytes>
  using unsigned_of = typename unsigned_type<bytes>::type;
};

/// Slot s is entry s of the pattern, and position s; a row's slots are found from its first (the others begin
/// nothing). Products go by chunks (spmv_slots.hpp) of `Threads` x `Each` slots; empty rows are nowhere.
template <slot_t Threads = dynamic, slot_t Each = dynamic>
struct coordinates {
  static constexpr bool slots_are_entries = true, interleaved = false;
  static constexpr int threads = int(Threads), each = int(Each);
  using arrays = coordinates_arrays;

  idx positions;
  fixed_or<Threads == dynamic ? dynamic : Threads * Each> chunk;  ///< slots
  const coordinate_chunk* chunks;
  const count32* offsets;
  const idx* rows;

  COMPOUND_FN explicit coordinates(const layout_args& l)
      : positions(l.positions),
        chunk(l.height),
        chunks(l.get<coordinate_chunk>(arrays::chunks)),
        offsets(l.get<count32>(arrays::offsets)),
        rows(l.get<idx>(arrays::rows)) {}

  COMPOUND_FN coordinates_of_chunk in_chunk(slot_t c) const { return {chunks[c], offsets, idx(slot_t(chunk))}; }
  /// The block row of one that is counted without empty rows.
  COMPOUND_FN idx block_row(idx counted) const { return rows ? rows[counted] : counted; }

  /// The block row of a whole chunk's last entry.
  COMPOUND_FN idx last_row(slot_t c) const { return block_row(in_chunk(c).row_of(idx(chunk - 1))); }

  COMPOUND_FN static slot_t first(idx position) { return position; }
  COMPOUND_FN idx count(idx position) const {
    const idx of_this = counted_row(position);
    if (position > 0 && counted_row(position - 1) == of_this) return 0;
    idx n = 1;
    while (position + n < positions && counted_row(position + n) == of_this) ++n;
    return n;
  }
  COMPOUND_FN idx width(idx position) const { return count(position); }
  COMPOUND_FN static constexpr slot_t apart() { return 1; }
  COMPOUND_FN static constexpr bool present(slot_t) { return true; }
  struct columns_of_chunks {
    const coordinates& of;
    COMPOUND_FN idx at(slot_t slot) const { return of.in_chunk(slot / of.chunk).column_of(idx(slot % of.chunk)); }
  };
  COMPOUND_FN columns_of_chunks columns_of(idx) const { return {*this}; }
  COMPOUND_FN idx row(idx position) const { return block_row(counted_row(position)); }
  COMPOUND_FN static slot_t entry(slot_t slot, idx, idx) { return slot; }
  COMPOUND_FN idx next(idx position) const { return position + count(position); }

 private:
  COMPOUND_FN idx counted_row(idx position) const { return in_chunk(position / chunk).row_of(idx(position % chunk)); }
};

}  // namespace compound
