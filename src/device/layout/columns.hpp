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

}  // namespace compound
