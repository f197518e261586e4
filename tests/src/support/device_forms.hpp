// Decoders and word maps of the device text over a host layout, as a device's launcher would make them.
#pragma once

#include <variant>

#include "device/layout/compressed_rows.hpp"
#include "device/layout/coordinates.hpp"
#include "device/layout/diagonal_slices.hpp"
#include "device/layout/slices.hpp"
#include "device/layout/words.hpp"
#include "layout/family.hpp"

namespace compound::test {

template <slot_t C, Occupancy occupancy>
using Slices = slices<C, occupancy, RowOrder::any, columns32<>>;
using Rows = compressed_rows<RowOrder::any, columns32<>>;

/// A decoder of any family, known at run time.
class AnyLayout {
  using Decoder =
      std::variant<Rows, Slices<dynamic, Occupancy::any>, diagonal_slices<dynamic, RowOrder::any>, coordinates<>>;
  template <class F>
  auto ask(const F& f) const {
    return std::visit(f, decoder_);
  }

 public:
  static constexpr bool slots_are_entries = false, interleaved = false;
  idx positions;
  const count32* first_entry;

  AnyLayout(const LayoutSpec& spec, const layout_args& l)
      : positions(l.positions), first_entry(l.get<count32>(common_arrays::first_entry)), decoder_(made(spec, l)) {}

  slot_t first(idx position) const {
    return ask([&](const auto& d) { return d.first(position); });
  }
  idx count(idx position) const {
    return ask([&](const auto& d) { return d.count(position); });
  }
  idx width(idx position) const {
    return ask([&](const auto& d) { return d.width(position); });
  }
  slot_t apart() const {
    return ask([&](const auto& d) { return slot_t{d.apart()}; });
  }
  bool present(slot_t slot) const {
    return ask([&](const auto& d) { return d.present(slot); });
  }
  struct Columns {
    const AnyLayout& of;
    idx position;
    idx at(slot_t slot) const {
      return of.ask([&](const auto& d) { return d.columns_of(position).at(slot); });
    }
  };
  Columns columns_of(idx position) const { return {*this, position}; }
  idx row(idx position) const {
    return ask([&](const auto& d) { return d.row(position); });
  }
  slot_t entry(slot_t slot, idx position, idx nth) const {
    return ask([&](const auto& d) { return d.entry(slot, position, nth); });
  }
  idx next(idx position) const {
    return ask([&](const auto& d) { return d.next(position); });
  }

 private:
  static Decoder made(const LayoutSpec& spec, const layout_args& l) {
    const LayoutFamily* const family = &family_of(spec);
    if (family == &compressed_rows_family) return Rows(l);
    if (family == &slices_family) return Slices<dynamic, Occupancy::any>(l);
    if (family == &diagonal_slices_family) return diagonal_slices<dynamic, RowOrder::any>(l);
    return coordinates<>(l);
  }
  Decoder decoder_;
};

/// grouped<G> of this many items; `dynamic` stands for what `group` says (`all_items` or a number).
template <slot_t Group, slot_t Padding = usual_padding<Group>>
word_map<Group, Padding> map_of(slot_t items, slot_t group = Group) {
  word_map<Group, Padding> map;
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

/// Packs all slots of a layout.
template <class Packing>
void pack_all_slots(const Packing& p, const LayoutSpec& spec, const layout_args& l) {
  for_each_slot_lists(family_of(spec), l, [&](const slot_lists& lists) { pack_slots(p, lists); });
}

}  // namespace compound::test
