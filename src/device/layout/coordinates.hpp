// Coordinates in chunks of as many entries (coo): each worker has the same work, wherever rows begin and end. The
// encoder is src/layout/coordinates.cpp.
//
// Source: Aliaga et al. 2020 (balanced coordinates), with rows and columns of 32 bits.
#pragma once

#include "columns.hpp"

namespace compound {

struct coordinates_arrays {
  enum : int {
    row = common_arrays::first_own,  ///< [slots] idx, rising
    columns                          ///< those of the column code
  };
};

/// Slot s is entry s of the pattern; a row's slots are found from its first (the others begin nothing). Products go by
/// slots (spmv_slots.hpp), `height` of them a chunk; empty rows are nowhere.
template <class Columns>
struct coordinates {
  static constexpr bool slots_are_entries = true, interleaved = false;
  using arrays = coordinates_arrays;

  idx positions;
  idx chunk;
  const idx* row_of_slot;
  Columns columns;

  COMPOUND_FN explicit coordinates(const layout_args& l)
      : positions(l.positions), chunk(l.height), row_of_slot(l.get<idx>(arrays::row)), columns(l, arrays::columns) {}

  COMPOUND_FN static slot_t first(idx position) { return position; }
  COMPOUND_FN idx count(idx position) const {
    const idx row = row_of_slot[position];
    if (position > 0 && row_of_slot[position - 1] == row) return 0;
    idx n = 1;
    while (position + n < positions && row_of_slot[position + n] == row) ++n;
    return n;
  }
  COMPOUND_FN idx width(idx position) const { return count(position); }
  COMPOUND_FN static constexpr slot_t apart() { return 1; }
  COMPOUND_FN static constexpr bool present(slot_t) { return true; }
  COMPOUND_FN idx column(slot_t slot, idx) const { return columns.at(slot); }
  COMPOUND_FN idx row(idx position) const { return row_of_slot[position]; }
  COMPOUND_FN static slot_t entry(slot_t slot, idx, idx) { return slot; }
  COMPOUND_FN idx next(idx position) const { return position + count(position); }
};

}  // namespace compound
