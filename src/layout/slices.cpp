#include "../device/layout/slices.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "column_codes.hpp"
#include "family.hpp"
#include "patches.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

using arrays = slices_arrays;

std::optional<std::string> why_not(const LayoutSpec& s) {
  if (s.slice > 1 && s.sigma > 1 && s.sigma % s.slice != 0)
    return "the sorting window " + std::to_string(s.sigma) + " must be a multiple of the slice height " +
           std::to_string(s.slice);
  return {};
}

/// A layout as far as the lengths of rows make it: sizes and starts of slices, and the entries of each position.
struct Outline {
  Layout layout;
  std::vector<count32> first;
  std::vector<idx> length;
  std::vector<count32> start;
};

/// f(pattern entry, its slot), slice by slice in the order of the slots. Slots that are padding have the
/// entry `none`. By several threads: slices share no slot.
constexpr count32 none = ~count32{0};
template <class F>
void for_each_slot(const Outline& o, const F& f) {
  constexpr std::size_t slots_of_thread = std::size_t{1} << 20;
  const Layout& l = o.layout;
  const std::vector<count32>& start = o.start;
  const std::size_t threads = threads_for(static_cast<std::size_t>(l.slots), slots_of_thread);
  for_ranges(start.size() - 1, threads, [&](std::size_t first_slice, std::size_t end_slice, std::size_t) {
    for (std::size_t slice = first_slice; slice < end_slice; ++slice) {
      const slot_t from = static_cast<slot_t>(slice) * l.height, first = slot_t{start[slice]} * l.height;
      const idx width = static_cast<idx>(start[slice + 1] - start[slice]);
      const idx here = static_cast<idx>(std::min<slot_t>(l.height, slot_t(l.positions) - from));
      for (idx k = 0; k < width; ++k)
        for (idx lane = 0; lane < l.height; ++lane) {
          const bool has_entry = lane < here && k < o.length[from + lane];
          f(has_entry ? o.first[from + lane] + k : none, first + slot_t{k} * l.height + lane);
        }
    }
  });
}

/// Positions of ordinary layouts are rows, of those with patches segments of rows.
Outline positions_of(const PatternView& p, const LayoutSpec& spec) {
  if (spec.columns == columns_by_patches) {
    Segments s = segments_of_patches(p, spec.sigma);
    return {layout_of_rows(p, s.row), std::move(s.first), std::move(s.length), {}};
  }
  const std::vector<idx> rows = row_order(p, spec);
  Outline o{layout_of_rows(p, rows), first_entries(p, rows), {}, {}};
  o.length.reserve(rows.size());
  for (const idx row : rows) o.length.push_back(p.length(row));
  return o;
}

Outline outline_of(const PatternView& p, const LayoutSpec& spec) {
  Outline o = positions_of(p, spec);
  o.layout.height = slice_height(spec, o.layout.positions);
  o.start = slice_starts(o.length.size(), o.layout.height, [&](std::size_t from, std::size_t to) {
    return *std::max_element(o.length.begin() + from, o.length.begin() + to);
  });
  o.layout.slots = slot_t{o.start.back()} * o.layout.height;
  return o;
}

Layout finished(Outline&& o, bool has_lengths) {
  if (has_lengths) o.layout.arrays[arrays::length] = {"length", std::move(o.length)};
  o.layout.arrays[common_arrays::first_entry] = {"first_entry", std::move(o.first)};
  o.layout.arrays[arrays::start] = {"start", std::move(o.start)};
  return std::move(o.layout);
}

Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  Outline o = outline_of(p, spec);
  LargeVector<idx> column(static_cast<std::size_t>(o.layout.slots));
  const idx padding = column_code(spec.columns).padding;
  for_each_slot(o, [&](count32 entry, slot_t slot) { column[slot] = entry == none ? padding : p.column[entry]; });
  const bool by_presence = spec.occupancy == Occupancy::presence;
  if (by_presence) {
    std::vector<count32> presence(words_of_presence(o.layout.slots), 0);
    for_each_slot(o, [&](count32 entry, slot_t slot) {
      if (entry != none) std::atomic_ref(presence[slot / 32]).fetch_or(count32{1} << (slot % 32));
    });
    o.layout.arrays[arrays::presence] = {"presence", std::move(presence)};
  }
  Layout l = finished(std::move(o), !by_presence);
  column_code(spec.columns)
      .encode(l, arrays::columns, spec, l.arrays[arrays::start].as<count32>(), {"column", std::move(column)});
  return l;
}

Layout without_columns(const PatternView& p, const LayoutSpec& spec) { return finished(outline_of(p, spec), true); }

LayoutCount counted(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  const Outline o = outline_of(p, spec);
  LayoutCount count{.slots = o.layout.slots};
  count.add(o.layout.bytes() / sizeof(idx));  // the order of rows
  count.add(o.start.size());
  count.add(spec.occupancy == Occupancy::presence ? words_of_presence(count.slots) : o.length.size());
  count.add(count.slots);  // columns
  count.add_for_packing(o.first.size());
  return count;
}

std::string decoder(const LayoutSpec& spec, std::string_view order, std::string_view columns) {
  return "slices<" + height_in_text(spec) +
         (spec.occupancy == Occupancy::presence ? ", Occupancy::presence, " : ", Occupancy::lengths, ") +
         std::string(order) + ", " + std::string(columns) + ">";
}

using Any = slices<dynamic, Occupancy::any, RowOrder::any, any_columns>;
constexpr Traversal traversals[] = {Traversal::rows, Traversal::components};

}  // namespace

constinit const LayoutFamily slices_family{
    .number = "slice height",
    .why_not = why_not,
    .encode = encoded,
    .count = counted,
    .decoder = decoder,
    .any_decoder = "slices<dynamic, Occupancy::any, RowOrder::any, any_columns>",
    .host_form = HostTraversal::slices,
    .list_rows = list_rows<Any>,
    .list_slots = list_slots<Any>,
    .traversals = traversals,
    .slots_are_entries = false,
    .interleaved = true,
    .columns = arrays::columns,
    .has_presence = true,
    .has_row_list = true,
    .word_group = words_of_slices,
    .outline = without_columns,
};

}  // namespace compound
