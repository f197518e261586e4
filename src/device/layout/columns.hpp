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
  /// Those of a position's slots, in a layout of slices of such a height.
  COMPOUND_FN const columns32& of(idx /*position*/, slot_t /*height*/) const { return *this; }
  COMPOUND_FN idx at(slot_t slot) const { return read<cache>(column + slot); }
};

/// A bit beside a column, in the highest one, which block columns leave free. `codes=blocks1`.
inline constexpr count32 bit_beside_column = count32{1} << 31;

/// The columns themselves, of slots that have a bit there.
template <Cache cache = Cache::keep>
struct columns31 {
  const count32* column = nullptr;

  COMPOUND_FN columns31(const layout_args& l, int which) : column(l.get<count32>(which)) {}
  COMPOUND_FN const columns31& of(idx /*position*/, slot_t /*height*/) const { return *this; }
  COMPOUND_FN idx at(slot_t slot) const { return idx(read<cache>(column + slot) & ~bit_beside_column); }
};

/// Slots that share a base of their columns, one after the other.
inline constexpr int slots_of_tile = 32, log2_slots_of_tile = 5;

/// Positions whose slots share a width of their offsets: a slice, or as many as make 8 rows.
COMPOUND_FN constexpr slot_t positions_of_group(slot_t height) {
  constexpr slot_t least = 8;
  return height >= least ? height : (least + height - 1) / height * height;
}

struct tiled_columns_arrays {
  enum : int {
    base,   ///< [ceil(slots / 32)] idx: of each tile
    group,  ///< [groups] slot_t: 4 * (byte of `offset` that slot 0 would have if all were of this group) + w
    offset  ///< [] count32: for each group column - base of its slots in 2^w bytes each, the first lowest
  };
};

/// The columns of a group of positions.
template <Cache cache>
struct columns_of_group {
  const idx* base = nullptr;
  const count32* offset = nullptr;
  slot_t group = 0;

  COMPOUND_FN count32 log2_bytes() const { return count32(group) % 4; }
  COMPOUND_FN slot_t byte_of(slot_t slot) const { return (group >> 2) + (slot << log2_bytes()); }
  /// Without a branch, so that the loads of many columns go out together: an offset is part of a word of 32 bits.
  COMPOUND_FN idx at(slot_t slot) const {
    const slot_t byte = byte_of(slot);
    const count32 word = read<cache>(offset + (byte >> 2));
    const count32 kept = word >> (8 * (count32(byte) % 4)) & (~count32{0} >> (32 - (8 << log2_bytes())));
    return read<cache>(base + (slot >> log2_slots_of_tile)) + idx(kept);
  }
};

/// Each group in the width that it needs: 4 bytes of a tile, 8 of a group, and 1, 2 or 4 of a slot. `columns=8`; with
/// at least two bytes a column `columns=16`. Where an offset lies is known without its tile, so both are read at once.
///
/// Source: Aliaga et al. 2020 (columns of a chunk as offsets from a base in 8, 16 or 32 bits), for any layout.
template <Cache cache = Cache::keep>
struct tiled_columns {
  const idx* base = nullptr;
  const slot_t* group = nullptr;
  const count32* offset = nullptr;

  COMPOUND_FN tiled_columns(const layout_args& l, int which)
      : base(l.get<idx>(which + tiled_columns_arrays::base)),
        group(l.get<slot_t>(which + tiled_columns_arrays::group)),
        offset(l.get<count32>(which + tiled_columns_arrays::offset)) {}

  COMPOUND_FN columns_of_group<cache> of(idx position, slot_t height) const {
    return {base, offset, group[position / idx(positions_of_group(height))]};
  }
};

/// A slot's word: the place of its column in the patch, and above that the turn of its mirrored product. A position's:
/// the place of its row, and the turn of its sum.
inline constexpr int bits_of_place = 16, no_turn = 0xffff;
COMPOUND_FN constexpr int place_in_patch(count32 word) { return int(word & 0xffffu); }
COMPOUND_FN constexpr int turn_in_patch(count32 word) { return int(word >> bits_of_place); }

struct patch_arrays {
  enum : int {
    word,           ///< [slots] count32
    row_word,       ///< [positions] count32
    column_start,   ///< [patches + 1] count32
    column,         ///< [partials] idx: of a patch in ascending order, those of its rows among them
    partial_start,  ///< [rows + 1] count32
    partial         ///< [partials] count32: where the partial sums of a row lie, patch after patch
  };
};

/// A patch: its places are those of its columns.
template <Cache cache>
struct columns_of_patch {
  const count32* words = nullptr;
  const idx* columns = nullptr;
  int places = 0;
  slot_t first_partial = 0;

  COMPOUND_FN idx column(int place) const { return columns[place]; }
  COMPOUND_FN count32 word(slot_t slot) const { return read<cache>(words + slot); }
  COMPOUND_FN idx at(slot_t slot) const { return column(place_in_patch(word(slot))); }
};

/// By patches of so many positions (spmv_patches.hpp): places among a patch's columns. `columns=patch`.
template <Cache cache = Cache::keep>
struct patch_columns {
  const count32 *words = nullptr, *row_words = nullptr, *column_start = nullptr;
  const idx* columns = nullptr;
  const count32 *partial_start = nullptr, *partial = nullptr;
  idx of_patches = 0;

  COMPOUND_FN patch_columns(const layout_args& l, int which)
      : words(l.get<count32>(which + patch_arrays::word)),
        row_words(l.get<count32>(which + patch_arrays::row_word)),
        column_start(l.get<count32>(which + patch_arrays::column_start)),
        columns(l.get<idx>(which + patch_arrays::column)),
        partial_start(l.get<count32>(which + patch_arrays::partial_start)),
        partial(l.get<count32>(which + patch_arrays::partial)),
        of_patches(l.patch) {}

  COMPOUND_FN columns_of_patch<cache> of_patch(idx patch) const {
    const count32 first = column_start[patch];
    return {words, columns + first, int(column_start[patch + 1] - first), first};
  }
  COMPOUND_FN columns_of_patch<cache> of(idx position, slot_t /*height*/) const {
    return of_patch(position / of_patches);
  }
};

/// Of a code that is known at run time.
struct any_columns {
  const count32* column;
  tiled_columns<> tiled;
  patch_columns<> patches;

  COMPOUND_FN any_columns(const layout_args& l, int which)
      : column(l.get<count32>(which)), tiled(l, which), patches(l, which) {}

  struct of_position {
    const count32* column;  ///< null where they are tiled, or by patches
    columns_of_group<Cache::keep> tiled;
    columns_of_patch<Cache::keep> patch;
    COMPOUND_FN idx at(slot_t slot) const {
      if (column) return idx(column[slot] & ~bit_beside_column);
      return patch.words ? patch.at(slot) : tiled.at(slot);
    }
  };
  COMPOUND_FN of_position of(idx position, slot_t height) const {
    if (patches.of_patches > 0) return {nullptr, {}, patches.of(position, height)};
    if (tiled.offset) return {nullptr, tiled.of(position, height), {}};
    return {column, {}, {}};
  }
};

}  // namespace compound
