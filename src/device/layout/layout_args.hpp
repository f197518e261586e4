// The integers of a layout as plain pointers, for any form of kernel.
#pragma once

#include "slices.hpp"

namespace compound {

/// As LayoutArrays has them.
struct layout_args {
  idx height = 1, positions = 0;
  slot_t slots = 0;
  const count32* start = nullptr;
  const idx* length = nullptr;
  const idx* column = nullptr;
  const count32* presence = nullptr;
  const idx* row_of = nullptr;
};

template <class Slices>
COMPOUND_FN Slices slices_from(const layout_args& l) {
  Slices s;
  s.height = l.height;
  s.positions = l.positions;
  s.start = l.start;
  s.length = l.length;
  s.column = l.column;
  s.presence = l.presence;
  s.row_of = l.row_of;
  return s;
}

}  // namespace compound
