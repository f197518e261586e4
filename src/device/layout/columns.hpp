// Codes of block columns: how a layout keeps the column of each slot. Their encoders are in
// src/layout/column_codes.cpp.
#pragma once

#include "../scalar.hpp"
#include "layout_args.hpp"

namespace compound {

/// The columns themselves: [slots] idx. `columns=32`.
template <Cache cache = Cache::keep>
struct columns32 {
  const idx* column = nullptr;

  /// `which`: the first of the code's arrays.
  COMPOUND_FN columns32(const layout_args& l, int which) : column(l.get<idx>(which)) {}
  COMPOUND_FN idx at(slot_t slot) const { return read<cache>(column + slot); }
};

/// A bit beside a column, in the highest one, which block columns leave free. `codes=blocks1`.
inline constexpr count32 bit_beside_column = count32{1} << 31;

/// The columns themselves, of slots that have a bit there.
template <Cache cache = Cache::keep>
struct columns31 {
  const count32* column = nullptr;

  COMPOUND_FN columns31(const layout_args& l, int which) : column(l.get<count32>(which)) {}
  COMPOUND_FN idx at(slot_t slot) const { return idx(read<cache>(column + slot) & ~bit_beside_column); }
};

/// Slots that share a base of their columns, one after the other.
inline constexpr int slots_of_tile = 32, log2_slots_of_tile = 5;

struct tiled_columns_arrays {
  enum : int {
    tile,   ///< [ceil(slots / 32)] slot_t: below the tile's base, above 4 (its first word in `offset` / 8) + w
    offset  ///< [] count32: for each tile 32 times column - base in 2^w bytes, the first lowest
  };
};

/// Each tile in the width that it needs: 8 bytes of it and 32 to 128 of offsets. `columns=8`; with at least two bytes a
/// column `columns=16`.
///
/// Source: Aliaga et al. 2020 (columns of a chunk as offsets from a base in 8, 16 or 32 bits), for any layout.
template <Cache cache = Cache::keep>
struct tiled_columns {
  const slot_t* tile = nullptr;
  const count32* offset = nullptr;

  COMPOUND_FN tiled_columns(const layout_args& l, int which)
      : tile(l.get<slot_t>(which + tiled_columns_arrays::tile)),
        offset(l.get<count32>(which + tiled_columns_arrays::offset)) {}

  /// Without a branch, so that the loads of many columns go out together: an offset is part of a word of 32 bits.
  COMPOUND_FN idx at(slot_t slot) const {
    const slot_t t = read<cache>(tile + (slot >> log2_slots_of_tile));
    const count32 where = count32(t >> 32), log2_bytes = where % 4;
    const count32 byte = (count32(slot) & (slots_of_tile - 1)) << log2_bytes;
    const count32 word = read<cache>(offset + slot_t(where / 4) * 8 + byte / 4);
    return idx(t) + idx(word >> (8 * (byte % 4)) & (~count32{0} >> (32 - (8 << log2_bytes))));
  }
};

/// Of a code that is known at run time.
struct any_columns {
  const count32* column;
  tiled_columns<> tiled;

  COMPOUND_FN any_columns(const layout_args& l, int which) : column(l.get<count32>(which)), tiled(l, which) {}
  COMPOUND_FN idx at(slot_t slot) const {
    return tiled.offset ? tiled.at(slot) : idx(column[slot] & ~bit_beside_column);
  }
};

}  // namespace compound
