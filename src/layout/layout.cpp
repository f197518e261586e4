#include "layout.hpp"

#include <limits>
#include <string>

#include "base/error.hpp"
#include "family.hpp"

namespace compound {

layout_args Layout::args() const {
  layout_args l;
  l.positions = positions;
  l.height = height;
  l.patch = patch;
  l.widest = widest;
  l.slots = slots;
  l.partials = partials;
  for (int a = 0; a < most_layout_arrays; ++a)
    if (!arrays[a].bytes().empty()) l.array[a] = arrays[a].bytes().data();
  return l;
}

std::size_t Layout::bytes() const {
  std::size_t sum = 0;
  for (const IntegerArray& a : arrays)
    if (!a.is_borrowed()) sum += a.bytes().size();
  return sum;
}

std::size_t Layout::bytes(std::string_view array) const {
  for (const IntegerArray& a : arrays)
    if (a.name() == array) return a.bytes().size();
  return 0;
}

LayoutCount count_of(const Layout& layout) {
  LayoutCount count{.slots = layout.slots};
  for (std::size_t which = 0; which < layout.arrays.size(); ++which) {
    const IntegerArray& array = layout.arrays[which];
    const std::size_t integers = array.bytes().size() / sizeof(idx);
    which == common_arrays::first_entry ? count.add_for_packing(integers) : count.add(integers, array.is_borrowed());
  }
  return count;
}

LayoutCount count(const PatternView& pattern, const LayoutSpec& spec, PatternLifetime lifetime) {
  if (spec.columns != LayoutSpec{}.columns) return count_of(encode(pattern, spec, lifetime));
  return family_of(spec).count(pattern, spec, lifetime);
}

Layout encode(const PatternView& pattern, const LayoutSpec& spec, PatternLifetime lifetime) {
  return family_of(spec).encode(pattern, spec, lifetime);
}

bool has_outline(const LayoutSpec& spec) {
  return family_of(spec).outline && spec.columns == LayoutSpec{}.columns && spec.occupancy != Occupancy::presence;
}

std::optional<Layout> outline(const PatternView& pattern, const LayoutSpec& spec) {
  if (!has_outline(spec)) return {};
  return family_of(spec).outline(pattern, spec);
}

std::vector<count32> slots_of_entries(const PatternView& pattern, const LayoutSpec& spec, const Layout& layout) {
  if (layout.slots > std::numeric_limits<count32>::max())
    throw error(ErrorKind::too_large, "a layout of " + std::to_string(layout.slots) + " slots is beyond 32 bits");
  std::vector<count32> slot_of(pattern.entries());
  for_each_slot_lists(family_of(spec), layout.args(), [&](const slot_lists& lists) {
    for (slot_t n = 0; n < lists.slots; ++n)
      if (lists.entry[n] >= 0) slot_of[lists.entry[n]] = static_cast<count32>(lists.slot[n]);
  });
  return slot_of;
}

}  // namespace compound
