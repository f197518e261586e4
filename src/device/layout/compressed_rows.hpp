// Compressed rows (csr): a row's entries follow each other. The encoder is src/layout/compressed_rows.cpp.
#pragma once

#include "columns.hpp"

namespace compound {

struct compressed_rows_arrays {
  enum : int {
    start = common_arrays::first_own,  ///< [positions + 1] count32
    columns                            ///< those of the column code
  };
};

template <RowOrder order, class Columns>
struct compressed_rows : row_positions<order> {
  static constexpr bool slots_are_entries = true, interleaved = false;
  using arrays = compressed_rows_arrays;

  const count32* start;
  Columns columns;

  COMPOUND_FN explicit compressed_rows(const layout_args& l)
      : row_positions<order>(l), start(l.get<count32>(arrays::start)), columns(l, arrays::columns) {}

  COMPOUND_FN slot_t first(idx position) const { return start[position]; }
  COMPOUND_FN idx count(idx position) const { return idx(start[position + 1] - start[position]); }
  COMPOUND_FN idx width(idx position) const { return count(position); }
  COMPOUND_FN static constexpr slot_t apart() { return 1; }
  COMPOUND_FN static constexpr bool present(slot_t) { return true; }
  COMPOUND_FN auto columns_of(idx position) const { return columns.of(position < this->positions ? position : 0, 1); }
  COMPOUND_FN static slot_t entry(slot_t slot, idx, idx) { return slot; }
};

}  // namespace compound
