// Slices of C rows (ellr, sell): the k-th slots of a slice's rows follow each other. The encoder is
// src/layout/slices.cpp.
#pragma once

#include "columns.hpp"

namespace compound {

/// How padding slots are told from entries: by the rows' lengths, by one bit a slot, or either (known at run time).
enum class Occupancy { lengths, presence, any };

struct slices_arrays {
  enum : int {
    start = common_arrays::first_own,  ///< [slices + 1] count32, in units of C slots: 32 bits reach 2^32 C of them
    length,                            ///< [positions] idx; null with presence bits
    presence,                          ///< [ceil(slots / 32)] count32, or null
    columns                            ///< those of the column code
  };
};

/// slot(p, k) = start[p / C] * C + k * C + p % C for the k-th slot of position p.
///
/// A padding slot has column 0 and words 0, and is skipped; vector code alone (host/simd/slice_rows.hpp) reads it, and
/// multiplies its words by 0 in place of x(0), which it may or may not read.
template <slot_t C, Occupancy occupancy, RowOrder order, class Columns>
struct slices : row_positions<order> {
  static constexpr bool slots_are_entries = false, interleaved = true;
  using arrays = slices_arrays;

  fixed_or<C> height;
  const count32* start;
  const idx* length;
  const count32* presence;
  const count32* first_entry;
  Columns columns;

  COMPOUND_FN explicit slices(const layout_args& l)
      : row_positions<order>(l),
        height(l.height),
        start(l.get<count32>(arrays::start)),
        length(l.get<idx>(arrays::length)),
        presence(l.get<count32>(arrays::presence)),
        first_entry(l.get<count32>(common_arrays::first_entry)),
        columns(l, arrays::columns) {}

  COMPOUND_FN slot_t first(idx position) const {
    const slot_t h = height;
    return slot_t(start[position / h]) * h + position % h;
  }
  COMPOUND_FN idx count(idx position) const { return by_presence() ? width(position) : length[position]; }
  COMPOUND_FN idx width(idx position) const {
    const slot_t slice = position / slot_t(height);
    return idx(start[slice + 1] - start[slice]);
  }
  COMPOUND_FN constexpr slot_t apart() const { return height; }
  COMPOUND_FN bool present(slot_t slot) const { return !by_presence() || (presence[slot / 32] >> (slot % 32) & 1u); }
  COMPOUND_FN auto columns_of(idx position) const {
    return columns.of(position < this->positions ? position : 0, height);
  }
  COMPOUND_FN slot_t entry(slot_t, idx position, idx nth) const { return slot_t(first_entry[position]) + nth; }

 private:
  COMPOUND_FN bool by_presence() const {
    return occupancy == Occupancy::presence || (occupancy == Occupancy::any && presence != nullptr);
  }
};

}  // namespace compound
