#include "layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "error.hpp"

namespace compound {

namespace {

/// Block rows in storage order: all or the non-empty ones, sorted by falling length within windows (ties keep order).
std::vector<idx> row_order(const PatternView& p, const LayoutSpec& spec) {
  std::vector<idx> rows(p.rows);
  std::iota(rows.begin(), rows.end(), 0);
  if (spec.row_list) std::erase_if(rows, [&](idx r) { return p.length(r) == 0; });
  const std::size_t window = spec.sigma == whole ? std::max<std::size_t>(rows.size(), 1) : spec.sigma;
  if (window > 1)
    for (std::size_t from = 0; from < rows.size(); from += window)
      std::stable_sort(rows.begin() + from, rows.begin() + std::min(from + window, rows.size()),
                       [&](idx a, idx b) { return p.length(a) > p.length(b); });
  return rows;
}

bool is_identity(const std::vector<idx>& rows, idx all_rows) {
  if (rows.size() != static_cast<std::size_t>(all_rows)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<idx>(i)) return false;
  return true;
}

/// start[]: for each slice its longest row, summed.
std::vector<count32> slice_starts(const PatternView& p, const std::vector<idx>& rows, idx height) {
  std::vector<count32> start{0};
  start.reserve(rows.size() / height + 2);
  std::uint64_t sum = 0;
  for (std::size_t from = 0; from < rows.size(); from += height) {
    idx width = 0;
    for (std::size_t i = from; i < std::min(rows.size(), from + height); ++i)
      width = std::max(width, p.length(rows[i]));
    sum += width;
    if (sum > std::numeric_limits<count32>::max())
      throw error(ErrorKind::too_large, "a layout of " + std::to_string(sum) + " slots a slice row is beyond 32 bits");
    start.push_back(static_cast<count32>(sum));
  }
  return start;
}

/// f(pattern entry, its slot), slice by slice in the order of the slots.
template <class F>
void for_each_slot(const PatternView& p, const Layout& l, const std::vector<idx>& rows, const F& f) {
  const auto positions = static_cast<slot_t>(rows.size());
  for (slot_t from = 0, slice = 0; from < positions; from += l.height, ++slice) {
    const slot_t first = slot_t{l.start[slice]} * l.height;
    const idx width = static_cast<idx>(l.start[slice + 1] - l.start[slice]);
    const idx here = static_cast<idx>(std::min<slot_t>(l.height, positions - from));
    for (idx k = 0; k < width; ++k)
      for (idx lane = 0; lane < here; ++lane) {
        const idx row = rows[from + lane];
        const count32 entry = p.start[row] + k;
        if (entry < p.start[row + 1]) f(entry, first + slot_t{k} * l.height + lane);
      }
  }
}

}  // namespace

idx slice_height(const LayoutSpec& spec, idx positions) {
  return spec.slice != whole ? spec.slice : std::max(32, (positions + 31) / 32 * 32);
}

Layout encode(const PatternView& p, const LayoutSpec& spec) {
  const std::vector<idx> rows = row_order(p, spec);
  Layout l;
  l.positions = static_cast<idx>(rows.size());
  l.height = slice_height(spec, l.positions);
  l.start = slice_starts(p, rows, l.height);
  if (!is_identity(rows, p.rows)) l.row_of = rows;
  if (l.height == 1 && !spec.row_list) {
    l.column.assign(p.column.begin(), p.column.end());
    return l;
  }
  l.column.assign(l.slots(), 0);
  for_each_slot(p, l, rows, [&](count32 entry, slot_t slot) { l.column[slot] = p.column[entry]; });
  if (l.height == 1) return l;
  l.first_entry.reserve(rows.size());
  for (const idx row : rows) l.first_entry.push_back(p.start[row]);
  if (spec.occupancy == Occupancy::presence) {
    l.presence.assign(std::max<slot_t>(1, (l.slots() + 31) / 32), 0);  // never empty: that would mean "by lengths"
    for_each_slot(p, l, rows, [&](count32, slot_t slot) { l.presence[slot / 32] |= count32{1} << (slot % 32); });
  } else {
    l.length.reserve(rows.size());
    for (const idx row : rows) l.length.push_back(p.length(row));
  }
  return l;
}

std::vector<count32> slots_of_entries(const PatternView& p, const Layout& l) {
  if (l.slots() > std::numeric_limits<count32>::max())
    throw error(ErrorKind::too_large, "a layout of " + std::to_string(l.slots()) + " slots is beyond 32 bits");
  std::vector<count32> slot_of(p.entries());
  for (idx position = 0; position < l.positions; ++position) {
    const idx row = l.row_of.empty() ? position : l.row_of[position];
    slot_t slot = slot_t{l.start[position / l.height]} * l.height + position % l.height;
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e, slot += l.height) slot_of[e] = static_cast<count32>(slot);
  }
  return slot_of;
}

LayoutBytes bytes_of(const Layout& l, int words_per_entry, std::size_t bytes_per_word) {
  return {.start = l.start.size() * sizeof(count32),
          .length = l.length.size() * sizeof(idx),
          .column = l.column.size() * sizeof(idx),
          .presence = l.presence.size() * sizeof(count32),
          .row_order = (l.row_of.size() + l.first_entry.size()) * 4,
          .words = l.slots() * words_per_entry * bytes_per_word};
}

}  // namespace compound
