// The encoder of the sliced family: from a pattern to the integers of a layout. Its decoder is
// device/layout/slices.hpp.
#pragma once

#include <vector>

#include "layout_spec.hpp"
#include "pattern.hpp"

namespace compound {

/// The integers of one pattern in one layout; empty arrays mean what null means in device/layout/slices.hpp.
struct Layout {
  idx height = 1;                    ///< slice height C
  idx positions = 0;                 ///< stored block rows
  std::vector<count32> start;        ///< [slices + 1], in units of C slots
  std::vector<idx> length;           ///< [positions], C > 1 and occupancy by lengths
  std::vector<idx> column;           ///< [slots]
  std::vector<count32> presence;     ///< [ceil(slots / 32)], at least 1, occupancy by presence bits
  std::vector<idx> row_of;           ///< [positions], rows reordered or listed
  std::vector<count32> first_entry;  ///< [positions], where slots are not in the order of the pattern's entries

  slot_t slots() const { return start.empty() ? 0 : slot_t{start.back()} * height; }
  bool in_entry_order() const { return first_entry.empty(); }
};

/// Throws std::bad_alloc where padding outgrows memory (ellr with one very long row: use sell).
Layout encode(const PatternView& pattern, const LayoutSpec& spec);

/// Where each entry of the pattern lies in its layout: [entries]. Throws `too_large` beyond 2^32 slots.
std::vector<count32> slots_of_entries(const PatternView& pattern, const Layout& layout);

/// Height that `spec` means for this many positions. One slice of all rows is padded to 32 rows, as in the papers.
idx slice_height(const LayoutSpec& spec, idx positions);

/// Bytes of a layout by part (2020 paper, Table 9, counts start, column and words).
struct LayoutBytes {
  std::size_t start = 0, length = 0, column = 0, presence = 0, row_order = 0, words = 0;
  std::size_t total() const { return start + length + column + presence + row_order + words; }
};
LayoutBytes bytes_of(const Layout& layout, int words_per_entry, std::size_t bytes_per_word);

}  // namespace compound
