// Slices of C rows by their diagonals (hdia): a slot for each row and diagonal of the slice, and no column a slot. The
// encoder is src/layout/diagonal_slices.cpp.
//
// Source: Barbieri et al. 2015, section 3.3 (hacked DIA).
#pragma once

#include "layout_args.hpp"

namespace compound {

struct diagonal_slices_arrays {
  enum : int {
    start = common_arrays::first_own,  ///< [slices + 1] count32: a slice's first diagonal
    offset,                            ///< [diagonals] idx: column - row, rising within a slice
    presence,                          ///< [ceil(slots / 32)] count32
    entry_of                           ///< [slots] count32, or null: entries are in the order of a row's diagonals
  };
};

/// slot(p, k) = (start[p / C] + k) * C + p % C for the k-th diagonal of the slice of position p. A diagonal is there
/// once more for rows that give a column twice.
template <slot_t C, RowOrder order>
struct diagonal_slices : row_positions<order> {
  static constexpr bool slots_are_entries = false, interleaved = true;
  using arrays = diagonal_slices_arrays;

  fixed_or<C> height;
  const count32* start;
  const idx* offset;
  const count32* presence;
  const count32* entry_of;
  const count32* first_entry;

  COMPOUND_FN explicit diagonal_slices(const layout_args& l)
      : row_positions<order>(l),
        height(l.height),
        start(l.get<count32>(arrays::start)),
        offset(l.get<idx>(arrays::offset)),
        presence(l.get<count32>(arrays::presence)),
        entry_of(l.get<count32>(arrays::entry_of)),
        first_entry(l.get<count32>(common_arrays::first_entry)) {}

  COMPOUND_FN slot_t first(idx position) const {
    const slot_t h = height;
    return slot_t(start[position / h]) * h + position % h;
  }
  COMPOUND_FN idx count(idx position) const {
    const slot_t slice = position / slot_t(height);
    return idx(start[slice + 1] - start[slice]);
  }
  COMPOUND_FN idx width(idx position) const { return count(position); }
  COMPOUND_FN constexpr slot_t apart() const { return height; }
  COMPOUND_FN bool present(slot_t slot) const { return presence[slot / 32] >> (slot % 32) & 1u; }
  struct columns_of_row {
    const diagonal_slices& of;
    idx position;
    COMPOUND_FN idx at(slot_t slot) const { return of.row(position) + of.offset[slot / of.height]; }
  };
  COMPOUND_FN columns_of_row columns_of(idx position) const { return {*this, position}; }
  COMPOUND_FN slot_t entry(slot_t slot, idx position, idx nth) const {
    return entry_of ? slot_t(entry_of[slot]) : slot_t(first_entry[position]) + nth;
  }
};

}  // namespace compound
