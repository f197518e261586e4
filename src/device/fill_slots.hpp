// What a layout has for each slot, from what a pattern has for each entry.
#pragma once

#include "layout/layout_args.hpp"

namespace compound {

/// Arrays that are null are not written.
struct slots_args {
  layout_args layout;
  bool interleaved = false;          ///< the layout's
  const idx* column = nullptr;       ///< [entries]
  idx* to_column = nullptr;          ///< [slots]; 0 for padding
  const count32* number = nullptr;   ///< [entries]
  const count32* through = nullptr;  ///< what is meant by a number, where it is not the number itself
  count32* to_number = nullptr;      ///< [slots]; for padding what 0 means
  count32* to_slot = nullptr;        ///< [entries]

  /// One a position; where its slots follow each other, a warp. Slices are whole.
  COMPOUND_FN slot_t workers() const {
    return interleaved ? (slot_t(layout.positions) + layout.height - 1) / layout.height * layout.height
                       : slot_t(layout.positions) * 32;
  }
};

/// Layout: of columns as they are, without presence bits.
template <class Layout>
COMPOUND_FN void fill_slots(const slots_args& a, slot_t worker) {
  constexpr idx lanes = Layout::interleaved ? 1 : 32;
  const Layout l(a.layout);
  const idx position = idx(worker / lanes);
  const idx count = position < l.positions ? l.count(position) : 0, width = l.width(position);
  slot_t slot = l.first(position) + worker % lanes * l.apart();
  for (idx k = idx(worker % lanes); k < width; k += lanes, slot += lanes * l.apart()) {
    const bool has_entry = k < count;
    const slot_t entry = has_entry ? l.entry(slot, position, k) : 0;
    if (a.to_column) a.to_column[slot] = has_entry ? a.column[entry] : 0;
    if (a.to_number) {
      const count32 number = has_entry ? a.number[entry] : 0;
      a.to_number[slot] = a.through ? a.through[number] : number;
    }
    if (a.to_slot && has_entry) a.to_slot[entry] = count32(slot);
  }
}

}  // namespace compound
