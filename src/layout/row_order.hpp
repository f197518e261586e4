// What encoders of layouts by positions share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"

namespace compound {

/// Block rows in the order of storage: all or the non-empty ones, sorted by falling length within windows (ties keep
/// their order).
std::vector<idx> row_order(const PatternView& pattern, const LayoutSpec& spec);

/// positions, and row_of where the order is not the pattern's.
Layout layout_of_rows(const PatternView& pattern, const std::vector<idx>& rows);

/// Rows of a slice; one of all rows is padded to whole groups of 32, as in the papers.
idx slice_height(const LayoutSpec& spec, idx positions);
/// As the device text has it: slices of all rows have a height that only the matrix knows.
std::string height_in_text(const LayoutSpec& spec);

/// The first pattern entry of each position.
std::vector<count32> first_entries(const PatternView& pattern, const std::vector<idx>& rows);

/// Of 32 bits, one a slot. Never none: no array means "by lengths".
inline std::size_t words_of_presence(slot_t slots) { return std::max<slot_t>(1, (slots + 31) / 32); }

/// Throws `too_large` saying that a layout has so many `what`.
[[noreturn]] void throw_beyond_32_bits(std::uint64_t number, const char* what);

/// start[]: the widths of slices of `height` positions, summed; `width(from, to)` is that of positions [from, to).
/// Throws `too_large` beyond 32 bits.
template <class Width>
std::vector<count32> slice_starts(std::size_t positions, idx height, const Width& width) {
  std::vector<count32> start{0};
  start.reserve(positions / height + 2);
  std::uint64_t sum = 0;
  for (std::size_t from = 0; from < positions; from += height) {
    sum += width(from, std::min(positions, from + height));
    if (sum > ~count32{0}) throw_beyond_32_bits(sum, "slots a row of a slice");
    start.push_back(static_cast<count32>(sum));
  }
  return start;
}

}  // namespace compound
