#include "row_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "base/error.hpp"

namespace compound {

namespace {

bool is_identity(const std::vector<idx>& rows, idx all_rows) {
  if (rows.size() != static_cast<std::size_t>(all_rows)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != static_cast<idx>(i)) return false;
  return true;
}

/// Longer rows first, rows of one length in their order. By counting, where lengths are few beside rows: large matrices
/// are looked at several times before they are packed.
void sort_by_length(const PatternView& p, std::span<idx> rows) {
  idx longest = 0;
  for (const idx row : rows) longest = std::max(longest, p.length(row));
  if (static_cast<std::size_t>(longest) > rows.size()) {
    std::ranges::stable_sort(rows, std::greater(), [&](idx row) { return p.length(row); });
    return;
  }
  std::vector<idx> next(static_cast<std::size_t>(longest) + 2, 0);  // of the rows of each length
  for (const idx row : rows) ++next[static_cast<std::size_t>(longest - p.length(row)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<idx> given(rows.begin(), rows.end());
  for (const idx row : given)
    rows[static_cast<std::size_t>(next[static_cast<std::size_t>(longest - p.length(row))]++)] = row;
}

}  // namespace

std::vector<idx> row_order(const PatternView& p, const LayoutSpec& spec) {
  std::vector<idx> rows(p.rows);
  std::iota(rows.begin(), rows.end(), 0);
  if (spec.row_list) std::erase_if(rows, [&](idx r) { return p.length(r) == 0; });
  const std::size_t window = spec.sigma == whole ? std::max<std::size_t>(rows.size(), 1) : spec.sigma;
  if (window > 1)
    for (std::size_t from = 0; from < rows.size(); from += window)
      sort_by_length(p, std::span(rows).subspan(from, std::min(window, rows.size() - from)));
  return rows;
}

Layout layout_of_rows(const PatternView& p, const std::vector<idx>& rows) {
  Layout l;
  l.positions = static_cast<idx>(rows.size());
  if (!is_identity(rows, p.rows)) l.arrays[common_arrays::row_of] = {"row_of", rows};
  return l;
}

idx slice_height(const LayoutSpec& spec, idx positions) {
  return spec.slice != whole ? spec.slice : std::max(32, (positions + 31) / 32 * 32);
}

std::string height_in_text(const LayoutSpec& spec) {
  return spec.slice == whole ? "dynamic" : std::to_string(spec.slice);
}

std::vector<count32> first_entries(const PatternView& p, const std::vector<idx>& rows) {
  std::vector<count32> first;
  first.reserve(rows.size());
  for (const idx row : rows) first.push_back(p.start[row]);
  return first;
}

void throw_beyond_32_bits(std::uint64_t number, const char* what) {
  throw error(ErrorKind::too_large, "a layout of " + std::to_string(number) + " " + what + " is beyond 32 bits");
}

}  // namespace compound
