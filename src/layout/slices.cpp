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

/// f(pattern entry, its slot), slice by slice in the order of the slots. Slots that are padding have the
/// entry `none`. By several threads: slices share no slot.
constexpr count32 none = ~count32{0};
template <class F>
void for_each_slot(const PatternView& p, const Layout& l, const std::vector<count32>& start,
                   const std::vector<idx>& rows, const F& f) {
  constexpr std::size_t slots_of_thread = std::size_t{1} << 20;
  const auto positions = static_cast<slot_t>(rows.size());
  const std::size_t threads = threads_for(static_cast<std::size_t>(l.slots), slots_of_thread);
  for_ranges(start.size() - 1, threads, [&](std::size_t first_slice, std::size_t end_slice, std::size_t) {
    for (std::size_t slice = first_slice; slice < end_slice; ++slice) {
      const slot_t from = static_cast<slot_t>(slice) * l.height, first = slot_t{start[slice]} * l.height;
      const idx width = static_cast<idx>(start[slice + 1] - start[slice]);
      const idx here = static_cast<idx>(std::min<slot_t>(l.height, positions - from));
      for (idx k = 0; k < width; ++k)
        for (idx lane = 0; lane < l.height; ++lane) {
          const idx row = lane < here ? rows[from + lane] : 0;
          const bool has_entry = lane < here && k < p.length(row);
          f(has_entry ? p.start[row] + k : none, first + slot_t{k} * l.height + lane);
        }
    }
  });
}

/// A layout as far as the lengths of rows make it: sizes and starts of slices.
struct Outline {
  std::vector<idx> rows;
  Layout layout;
  std::vector<count32> start;
};

Outline outline_of(const PatternView& p, const LayoutSpec& spec) {
  const bool has_patches = spec.columns == columns_by_patches;
  Outline o{has_patches ? patch_order(p, spec.sigma) : row_order(p, spec), {}, {}};
  o.layout = layout_of_rows(p, o.rows);
  o.layout.height = slice_height(spec, o.layout.positions);
  o.start = slice_starts(o.rows.size(), o.layout.height, [&](std::size_t from, std::size_t to) {
    idx width = 0;
    for (std::size_t i = from; i < to; ++i) width = std::max(width, p.length(o.rows[i]));
    return width;
  });
  o.layout.slots = slot_t{o.start.back()} * o.layout.height;
  return o;
}

void add_lengths(const PatternView& p, const std::vector<idx>& rows, Layout& l) {
  std::vector<idx> length;
  length.reserve(rows.size());
  for (const idx row : rows) length.push_back(p.length(row));
  l.arrays[arrays::length] = {"length", std::move(length)};
}

Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  Outline o = outline_of(p, spec);
  Layout& l = o.layout;
  LargeVector<idx> column(static_cast<std::size_t>(l.slots));
  const idx padding = column_code(spec.columns).padding;
  for_each_slot(p, l, o.start, o.rows,
                [&](count32 entry, slot_t slot) { column[slot] = entry == none ? padding : p.column[entry]; });
  if (spec.occupancy == Occupancy::presence) {
    std::vector<count32> presence(words_of_presence(l.slots), 0);
    for_each_slot(p, l, o.start, o.rows, [&](count32 entry, slot_t slot) {
      if (entry != none) std::atomic_ref(presence[slot / 32]).fetch_or(count32{1} << (slot % 32));
    });
    l.arrays[arrays::presence] = {"presence", std::move(presence)};
  } else {
    add_lengths(p, o.rows, l);
  }
  l.arrays[common_arrays::first_entry] = first_entries(p, o.rows);
  l.arrays[arrays::start] = {"start", std::move(o.start)};
  column_code(spec.columns)
      .encode(l, arrays::columns, spec, l.arrays[arrays::start].as<count32>(), {"column", std::move(column)});
  return std::move(o.layout);
}

Layout without_columns(const PatternView& p, const LayoutSpec& spec) {
  Outline o = outline_of(p, spec);
  add_lengths(p, o.rows, o.layout);
  o.layout.arrays[common_arrays::first_entry] = first_entries(p, o.rows);
  o.layout.arrays[arrays::start] = {"start", std::move(o.start)};
  return std::move(o.layout);
}

LayoutCount counted(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  const Outline o = outline_of(p, spec);
  LayoutCount count{.slots = o.layout.slots};
  count.add(o.layout.bytes() / sizeof(idx));  // the order of rows
  count.add(o.start.size());
  count.add(spec.occupancy == Occupancy::presence ? words_of_presence(count.slots) : o.rows.size());
  count.add(count.slots);  // columns
  count.add_for_packing(o.rows.size());
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
