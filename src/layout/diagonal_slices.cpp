#include "../device/layout/diagonal_slices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "family.hpp"
#include "row_order.hpp"

namespace compound {

namespace {

using arrays = diagonal_slices_arrays;

/// A diagonal of a slice: column - row, and how often the row has given that column before.
using Diagonal = std::pair<idx, idx>;

/// The diagonals of one row's entries, in the order of the entries.
void list_diagonals(const PatternView& p, idx row, std::vector<Diagonal>& to) {
  to.clear();
  for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) to.push_back({p.column[e] - row, 0});
  if (std::ranges::is_sorted(to, std::less_equal<>{}, &Diagonal::first)) return;  // each column once
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return to[i].first; });
  for (std::size_t n = 1; n < order.size(); ++n) {
    const Diagonal& before = to[order[n - 1]];
    if (before.first == to[order[n]].first) to[order[n]].second = before.second + 1;
  }
}

struct Slices {
  std::vector<count32> start{0};
  std::vector<Diagonal> diagonals;  ///< of each slice in rising order
  bool in_order = true;             ///< each row's entries come in the order of its diagonals
};

Slices slices_of(const PatternView& p, const std::vector<idx>& rows, idx height) {
  Slices s;
  std::vector<Diagonal> of_row, of_slice;
  s.start = slice_starts(rows.size(), height, [&](std::size_t from, std::size_t to) {
    of_slice.clear();
    for (std::size_t i = from; i < to; ++i) {
      list_diagonals(p, rows[i], of_row);
      s.in_order = s.in_order && std::ranges::is_sorted(of_row);
      of_slice.insert(of_slice.end(), of_row.begin(), of_row.end());
    }
    std::ranges::sort(of_slice);
    of_slice.erase(std::unique(of_slice.begin(), of_slice.end()), of_slice.end());
    s.diagonals.insert(s.diagonals.end(), of_slice.begin(), of_slice.end());
    return of_slice.size();
  });
  return s;
}

/// f(pattern entry, its slot), row by row.
template <class F>
void for_each_slot(const PatternView& p, const Slices& s, idx height, const std::vector<idx>& rows, const F& f) {
  std::vector<Diagonal> of_row;
  for (std::size_t position = 0; position < rows.size(); ++position) {
    const std::size_t slice = position / height;
    const auto first = s.diagonals.begin() + s.start[slice], last = s.diagonals.begin() + s.start[slice + 1];
    list_diagonals(p, rows[position], of_row);
    for (std::size_t i = 0; i < of_row.size(); ++i) {
      const slot_t diagonal = std::lower_bound(first, last, of_row[i]) - s.diagonals.begin();
      f(p.start[rows[position]] + static_cast<count32>(i), diagonal * height + slot_t(position % height));
    }
  }
}

Layout encoded(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  const std::vector<idx> rows = row_order(p, spec);
  Layout l = layout_of_rows(p, rows);
  l.height = slice_height(spec, l.positions);
  Slices s = slices_of(p, rows, l.height);
  l.slots = slot_t{s.start.back()} * l.height;
  std::vector<count32> presence(words_of_presence(l.slots), 0);
  for_each_slot(p, s, l.height, rows, [&](count32, slot_t slot) { presence[slot / 32] |= count32{1} << (slot % 32); });
  if (!s.in_order) {
    std::vector<count32> entry_of(l.slots, 0);
    for_each_slot(p, s, l.height, rows, [&](count32 entry, slot_t slot) { entry_of[slot] = entry; });
    l.arrays[arrays::entry_of] = {"entry_of", std::move(entry_of)};
  }
  std::vector<idx> offset;
  offset.reserve(s.diagonals.size());
  for (const Diagonal& d : s.diagonals) offset.push_back(d.first);
  l.arrays[common_arrays::first_entry] = {"first_entry", first_entries(p, rows)};
  l.arrays[arrays::start] = {"start", std::move(s.start)};
  l.arrays[arrays::offset] = {"offset", std::move(offset)};
  l.arrays[arrays::presence] = {"presence", std::move(presence)};
  return l;
}

LayoutCount counted(const PatternView& p, const LayoutSpec& spec, PatternLifetime) {
  const std::vector<idx> rows = row_order(p, spec);
  const Layout l = layout_of_rows(p, rows);
  const idx height = slice_height(spec, l.positions);
  const Slices s = slices_of(p, rows, height);
  LayoutCount count{.slots = slot_t{s.start.back()} * height};
  count.add(l.bytes() / sizeof(idx));  // the order of rows
  count.add(s.start.size());
  count.add(s.diagonals.size());
  count.add(words_of_presence(count.slots));
  count.add_for_packing(rows.size() + (s.in_order ? 0 : std::size_t(count.slots)));
  return count;
}

std::string decoder(const LayoutSpec& spec, std::string_view order, std::string_view) {
  return "diagonal_slices<" + height_in_text(spec) + ", " + std::string(order) + ">";
}

using Any = diagonal_slices<dynamic, RowOrder::any>;
constexpr Traversal traversals[] = {Traversal::rows, Traversal::components};

}  // namespace

constinit const LayoutFamily diagonal_slices_family{
    .number = "slice height",
    .why_not = [](const LayoutSpec&) { return std::optional<std::string>(); },
    .encode = encoded,
    .count = counted,
    .decoder = decoder,
    .any_decoder = "diagonal_slices<dynamic, RowOrder::any>",
    .host_form = HostTraversal::diagonals,
    .list_rows = list_rows<Any>,
    .list_slots = list_slots<Any>,
    .traversals = traversals,
    .slots_are_entries = false,
    .interleaved = true,
    .has_presence = false,
    .has_row_list = true,
    .word_group = words_of_slices,
};

}  // namespace compound
