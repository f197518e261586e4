// The sliced family: csr, ellr, sell are rows of one table (src/layout_spec.cpp); the encoder is src/layout.cpp.
#pragma once

#include "../scalar.hpp"

namespace compound {

/// How padding slots are told from entries: by the rows' lengths, by one bit a slot, or either (known at run time).
enum class Occupancy { lengths, presence, any };

/// slot(p, k) = start[p / C] * C + k * C + p % C for the k-th slot of position p; C = 1 is compressed rows.
///
/// `start` counts in units of C slots, so that 32 bits reach 2^32 C slots. Arrays: start [slices + 1]; length
/// [positions], null for C = 1; column [slots]; presence [ceil(slots / 32)] or null; row_of [positions] or null
/// (position p is block row p). A padding slot has column 0 and words 0, and is skipped; vector code alone
/// (host/simd/slice_rows.hpp) reads it, and multiplies its words by 0 in place of x(0), which it may or may not read.
template <slot_t C, Occupancy occupancy, Cache cache = Cache::keep>
struct slices {
  fixed_or<C> height;
  idx positions = 0;
  const count32* start = nullptr;
  const idx* length = nullptr;
  const idx* column = nullptr;
  const count32* presence = nullptr;
  const idx* row_of = nullptr;

  COMPOUND_FN idx row(idx position) const { return row_of ? row_of[position] : position; }

  /// Slot of k = 0; the next ones follow `height` apart.
  COMPOUND_FN slot_t first(idx position) const {
    const slot_t h = height;
    if (h == 1) return start[position];
    return slot_t(start[position / h]) * h + position % h;
  }

  /// Slots to visit: the row's entries, or with presence bits the slice's width.
  COMPOUND_FN idx count(idx position) const {
    const slot_t h = height;
    if (h == 1) return idx(start[position + 1] - start[position]);
    if (by_presence()) return width(position);
    return length[position];
  }

  /// Slots of a position, padding included.
  COMPOUND_FN idx width(idx position) const {
    const slot_t slice = position / slot_t(height);
    return idx(start[slice + 1] - start[slice]);
  }

  COMPOUND_FN idx column_at(slot_t slot) const { return read<cache>(column + slot); }

  COMPOUND_FN bool present(slot_t slot) const { return !by_presence() || (presence[slot / 32] >> (slot % 32) & 1u); }

 private:
  COMPOUND_FN bool by_presence() const {
    return occupancy == Occupancy::presence || (occupancy == Occupancy::any && presence != nullptr);
  }
};

}  // namespace compound
