// A layout as kernels are given it: its sizes, and its arrays of integers as pointers that its own decoder knows.
//
// A decoder is made of layout_args and tells a worker what to visit. Workers come by positions: block rows in the order
// in which they are stored (coordinates: slots).
//
//   positions                    how many there are
//   first(position)              the first slot; the next ones follow apart() slots apart
//   count(position)              so many slots are visited,
//   width(position)              and so many there are, padding included
//   present(slot)                whether an entry is in a slot that is visited
//   columns_of(position)         its slots' block columns: at(slot); of a position beyond the last none
//   row(position)                the block row of all of them (several positions may share one: columns=patch)
//   entry(slot, position, nth)   the pattern's entry there, the nth present one of its position
//   next(position)               the next one that begins a row
//   slots_are_entries            slot s holds entry s of the pattern: compressed rows and coordinates
//   interleaved                  neighbouring positions' slots lie side by side
#pragma once

#include "../target.hpp"

namespace compound {

/// Arrays that a layout may have. Each decoder has an enumeration of its own from `first_own` on.
inline constexpr int most_layout_arrays = 11;
struct common_arrays {
  enum : int {
    row_of,       ///< [positions] idx; null: position p is block row p
    first_entry,  ///< [positions] count32, the first pattern entry of each; null: slots are entries
    first_own
  };
};

struct layout_args {
  idx positions = 0;
  idx height = 1;  ///< of slices, in positions
  idx patch = 0;   ///< positions of a patch, where columns are by patches
  idx widest = 0;  ///< block columns of a patch, at most
  slot_t slots = 0;
  slot_t partials = 0;  ///< block columns of all patches
  const void* array[most_layout_arrays] = {};

  template <class T>
  COMPOUND_FN const T* get(int which) const {
    return static_cast<const T*>(array[which]);
  }
};

/// Whether rows are stored in their order, in one that a list gives, or either (known at run time).
enum class RowOrder { kept, listed, any };

template <RowOrder order>
struct row_positions {
  idx positions = 0;
  const idx* row_of = nullptr;

  COMPOUND_FN explicit row_positions(const layout_args& l)
      : positions(l.positions), row_of(l.get<idx>(common_arrays::row_of)) {}

  COMPOUND_FN idx row(idx position) const {
    if constexpr (order == RowOrder::kept)
      return position;
    else if constexpr (order == RowOrder::listed)
      return row_of[position];
    else
      return row_of ? row_of[position] : position;
  }
  COMPOUND_FN static idx next(idx position) { return position + 1; }
};

}  // namespace compound
