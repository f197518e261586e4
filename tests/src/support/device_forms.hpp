// Decoders and word maps of the device text over a host layout, built by hand as a device's launcher would.
#pragma once

#include <vector>

#include "device/layout/slices.hpp"
#include "device/layout/words.hpp"
#include "layout.hpp"

namespace compound::test {

template <class T>
const T* data_or_null(const std::vector<T>& v) {
  return v.empty() ? nullptr : v.data();
}

template <slot_t C, Occupancy occupancy>
slices<C, occupancy> slices_of(const Layout& l) {
  return {l.height,
          l.positions,
          l.start.data(),
          data_or_null(l.length),
          l.column.data(),
          data_or_null(l.presence),
          data_or_null(l.row_of)};
}

using AnySlices = slices<dynamic, Occupancy::any>;
inline AnySlices any_slices_of(const Layout& l) { return slices_of<dynamic, Occupancy::any>(l); }

/// grouped<G> of this many items; `dynamic` stands for what `group` says (`all_items` or a number).
template <slot_t Group>
word_map<Group> map_of(slot_t items, slot_t group = Group) {
  word_map<Group> map;
  if constexpr (Group == dynamic) {
    map.shift = group == all_items ? word_map<dynamic>::one_group : word_map<dynamic>::log2_of(group);
    map.stride = group == all_items ? items : group;
  }
  if constexpr (Group == all_items) map.stride = items;
  return map;
}

/// Items of whole groups.
inline std::size_t whole_groups(slot_t items, slot_t group) {
  return group <= 1 ? items : (items + group - 1) / group * group;
}

}  // namespace compound::test
