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

/// Slots that share a base of their columns, one after the other.
inline constexpr int slots_of_tile = 32, log2_slots_of_tile = 5;

struct tiled_columns_arrays {
  enum : int {
    tile,   ///< [ceil(slots / 32)] slot_t: below the tile's base, above 4 (its first byte in `offset` / 32) + w
    offset  ///< for each tile [32] column - base in 2^w bytes
  };
};

/// Each tile in the width that it needs: 8 bytes of it and 32 to 128 of offsets. `columns=16` has `least_bytes` 2,
/// `columns=8` 1.
///
/// Source: Aliaga et al. 2020 (columns of a chunk as offsets from a base in 8, 16 or 32 bits), for any layout.
template <int least_bytes, Cache cache = Cache::keep>
struct tiled_columns {
  const slot_t* tile = nullptr;
  const unsigned char* offset = nullptr;

  COMPOUND_FN tiled_columns(const layout_args& l, int which)
      : tile(l.get<slot_t>(which + tiled_columns_arrays::tile)),
        offset(l.get<unsigned char>(which + tiled_columns_arrays::offset)) {}

  COMPOUND_FN idx at(slot_t slot) const {
    const slot_t t = read<cache>(tile + (slot >> log2_slots_of_tile));
    const idx base = idx(t), within = idx(slot) & (slots_of_tile - 1);
    const count32 where = count32(t >> 32);
    const unsigned char* const first = offset + slot_t(where / 4) * slots_of_tile;
    if constexpr (least_bytes == 1)
      if (where % 4 == 0) return base + idx(read<cache>(first + within));
    if (where % 4 == 1) return base + idx(read<cache>(reinterpret_cast<const unsigned short*>(first) + within));
    return base + read<cache>(reinterpret_cast<const idx*>(first) + within);
  }
};

template <Cache cache = Cache::keep>
using columns16 = tiled_columns<2, cache>;
template <Cache cache = Cache::keep>
using columns8 = tiled_columns<1, cache>;

/// Of a code that is known at run time.
struct any_columns {
  const idx* column;
  columns8<> tiled;

  COMPOUND_FN any_columns(const layout_args& l, int which) : column(l.get<idx>(which)), tiled(l, which) {}
  COMPOUND_FN idx at(slot_t slot) const { return tiled.offset ? tiled.at(slot) : column[slot]; }
};

}  // namespace compound
