// From a layout to lists of its rows and slots, by its decoder: what the host's kernels read where no form of their own
// knows the layout.
#pragma once

#include <algorithm>
#include <vector>

#include "../device/layout/listed_rows.hpp"

namespace compound {

/// Some block rows of a layout. Meant to be used again: the arrays grow to a list's size once and are longer than it.
struct RowLists {
  bool first_slot_only = false;  ///< enough where slots are known to follow each other
  idx rows = 0;
  std::vector<idx> row, column;
  std::vector<slot_t> first, slot;

  row_lists view() const { return {rows, row.data(), first.data(), slot.data(), column.data()}; }
  /// Room for one more row and so many items in all.
  void reserve(std::size_t items) {
    if (row.size() <= std::size_t(rows)) {
      row.resize(2 * rows + 64);
      first.resize(row.size() + 1);
    }
    if (slot.size() < items) {
      slot.resize(2 * items);
      column.resize(2 * items);
    }
  }
};

struct SlotLists {
  std::vector<slot_t> slot, entry;

  slot_lists view() const { return {static_cast<slot_t>(slot.size()), slot.data(), entry.data()}; }
};

/// Items after which a list is used before it goes on: few enough for a core's first cache.
inline constexpr slot_t items_of_list = 512;

/// Lists the rows from position `from` on, at least one; the position to go on with.
template <class Decoder>
idx list_rows(const layout_args& l, idx from, RowLists& to) {
  const Decoder layout(l);
  to.rows = 0;
  slot_t n = 0;
  idx position = from;
  for (; position < l.positions && n < items_of_list; position = layout.next(position)) {
    const idx count = layout.count(position);
    to.reserve(std::size_t(n) + count);
    slot_t* const slots = to.slot.data();
    idx* const columns = to.column.data();
    const auto columns_here = layout.columns_of(position);
    slot_t slot = layout.first(position);
    to.row[to.rows] = layout.row(position);
    to.first[to.rows++] = n;
    for (idx k = 0; k < count; ++k, slot += layout.apart())
      if (layout.present(slot)) {
        slots[n] = slot;
        columns[n++] = columns_here.at(slot);
      }
    to.first[to.rows] = n;
  }
  return position;
}

/// Lists the slots of the rows from position `from` on, at least one, and the entry of each; -1 for padding. Rows whose
/// slots lie side by side are taken together, so that memory is written line by line.
template <class Decoder>
idx list_slots(const layout_args& l, idx from, SlotLists& to) {
  constexpr idx beside = Decoder::interleaved ? 8 : 1;
  const Decoder layout(l);
  to.slot.clear();
  to.entry.clear();
  idx position = from;
  while (position < l.positions && slot_t(to.slot.size()) < items_of_list) {
    const idx lanes = std::min(beside, l.positions - position);
    idx width[beside], count[beside], nth[beside] = {}, widest = 0;
    slot_t slot[beside];
    for (idx lane = 0; lane < lanes; ++lane) {
      slot[lane] = layout.first(position + lane);
      count[lane] = layout.count(position + lane);
      width[lane] = layout.width(position + lane);
      widest = std::max(widest, width[lane]);
    }
    for (idx k = 0; k < widest; ++k)
      for (idx lane = 0; lane < lanes; ++lane) {
        if (k >= width[lane]) continue;
        const bool holds = k < count[lane] && layout.present(slot[lane]);
        to.slot.push_back(slot[lane]);
        to.entry.push_back(holds ? layout.entry(slot[lane], position + lane, nth[lane]++) : -1);
        slot[lane] += layout.apart();
      }
    position = lanes > 1 ? position + lanes : layout.next(position);
  }
  return position;
}

}  // namespace compound
