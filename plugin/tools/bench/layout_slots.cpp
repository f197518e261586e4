#include "layout_slots.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "layout/family.hpp"

namespace compound::bench {

namespace {

/// Slices [from, to) of rows; a slice of all rows is as high as whole warps.
template <class F>
std::uint64_t over_slices(const PatternView& p, idx slice, const F& width) {
  const std::size_t rows = p.rows;
  const std::size_t height = slice == whole ? std::max<std::size_t>(32, (rows + 31) / 32 * 32) : slice;
  std::uint64_t slots = 0;
  for (std::size_t from = 0; from < rows; from += height) slots += height * width(from, std::min(from + height, rows));
  return slots;
}

std::uint64_t slots_of_slices(const PatternView& p, const LayoutSpec& spec) {
  std::vector<idx> lengths(p.rows);
  for (idx row = 0; row < p.rows; ++row) lengths[row] = p.length(row);
  const std::size_t window = spec.sigma == whole ? lengths.size() : spec.sigma;
  for (std::size_t from = 0; window > 1 && from < lengths.size(); from += window)
    std::sort(lengths.begin() + from, lengths.begin() + std::min(from + window, lengths.size()), std::greater<>());
  return over_slices(p, spec.slice, [&](std::size_t from, std::size_t to) {
    return static_cast<std::uint64_t>(*std::max_element(lengths.begin() + from, lengths.begin() + to));
  });
}

std::uint64_t slots_of_diagonals(const PatternView& p, const LayoutSpec& spec) {
  std::vector<std::int64_t> diagonals;
  const auto each_once = [&] {
    std::ranges::sort(diagonals);
    diagonals.erase(std::unique(diagonals.begin(), diagonals.end()), diagonals.end());
  };
  return over_slices(p, spec.slice, [&](std::size_t from, std::size_t to) {
    constexpr std::size_t few = 100000;
    std::size_t next = few;
    diagonals.clear();
    for (std::size_t row = from; row < to; ++row) {
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
        diagonals.push_back(std::int64_t{p.column[e]} - static_cast<std::int64_t>(row));
      if (diagonals.size() < next) continue;
      each_once();
      next = 2 * diagonals.size() + few;
    }
    each_once();
    return static_cast<std::uint64_t>(diagonals.size());
  });
}

}  // namespace

std::uint64_t slots_of(const PatternView& p, const LayoutSpec& spec) {
  const LayoutFamily* const family = &family_of(spec);
  if (family == &slices_family) return slots_of_slices(p, spec);
  if (family == &diagonal_slices_family) return slots_of_diagonals(p, spec);
  return p.entries();
}

}  // namespace compound::bench
