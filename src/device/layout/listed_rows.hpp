// Block rows as lists: what the host decodes a layout into where no form of its own reads it (src/layout/lists.hpp),
// and all that kernels compiled elsewhere (host_text/host_entry.hpp) know of layouts.
#pragma once

#include "layout_args.hpp"

namespace compound {

/// How the host goes through a family of layouts: over lists, or by forms of its kernels that know it.
enum class HostTraversal {
  lists,
  rows,       ///< compressed rows, the words of an entry together
  row_words,  ///< compressed rows, the words of a scalar row together
  slices,     ///< slices by length
  diagonals,  ///< slices by their diagonals
  pieces      ///< lists whose slots follow each other: each is compressed rows, and goes by their forms
};

/// Item n of row r, first[r] <= n < first[r + 1], is an entry in block column column[n] with its words in slot[n].
struct row_lists {
  idx rows = 0;
  const idx* row = nullptr;       ///< [rows] block row of y
  const slot_t* first = nullptr;  ///< [rows + 1]
  const slot_t* slot = nullptr;
  const idx* column = nullptr;
};

/// Which entry of the pattern each slot holds; -1: none, the slot is padding.
struct slot_lists {
  slot_t slots = 0;
  const slot_t* slot = nullptr;
  const slot_t* entry = nullptr;
};

/// A decoder whose slots are items; listed_values<slot_t> of `slot` finds their words.
struct listed_rows : row_lists {
  static constexpr bool slots_are_entries = false, interleaved = false;
  idx positions;

  COMPOUND_FN explicit listed_rows(const row_lists& l) : row_lists(l), positions(l.rows) {}

  COMPOUND_FN slot_t first(idx position) const { return row_lists::first[position]; }
  COMPOUND_FN idx count(idx position) const { return idx(first(position + 1) - first(position)); }
  COMPOUND_FN static constexpr slot_t apart() { return 1; }
  COMPOUND_FN static constexpr bool present(slot_t) { return true; }
  struct columns_of_list {
    const idx* column;
    COMPOUND_FN idx at(slot_t item) const { return column[item]; }
  };
  COMPOUND_FN columns_of_list columns_of(idx) const { return {row_lists::column}; }
  COMPOUND_FN idx row(idx position) const { return row_lists::row[position]; }
};

}  // namespace compound
