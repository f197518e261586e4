#include "generated_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace compound::bench {

namespace {

/// Row number `row` is the middle of one of `count` equal ranges of `rows`.
bool is_spread(std::int64_t row, std::int64_t count, std::int64_t rows) {
  if (count == 0) return false;
  const auto middle = [&](std::int64_t range) { return (2 * range + 1) * rows / (2 * count); };
  const std::int64_t range = row * count / rows;
  return middle(range) == row || (range + 1 < count && middle(range + 1) == row);
}

/// Adds columns until there are `length`; both ascending.
void widen(std::vector<std::int64_t>& columns, std::int64_t length, std::int64_t all) {
  const auto has = static_cast<std::int64_t>(columns.size());
  if (length <= has) return;
  std::vector<std::int64_t> more;
  for (std::int64_t n = 0; n < length; ++n)
    if (const std::int64_t column = n * all / length; !std::ranges::binary_search(columns, column))
      more.push_back(column);
  more.resize(static_cast<std::size_t>(length - has));
  columns.insert(columns.end(), more.begin(), more.end());
  std::ranges::sort(columns);
}

}  // namespace

std::int64_t LongRows::length(const Grid& grid) const {
  const double mean = static_cast<double>(grid.entries()) / static_cast<double>(grid.rows());
  return std::llround(std::min(factor * mean, static_cast<double>(grid.rows())));
}

void Generated::columns(std::int64_t row, std::vector<std::int64_t>& to) const {
  grid.neighbours(shuffle.node_of(row), to);
  for (std::int64_t& n : to) n = shuffle.number_of(n);
  std::ranges::sort(to);
  if (is_spread(row, longer.count, rows())) widen(to, longer.length(grid), rows());
}

double entries_of(const Grid& grid, const LongRows& longer) {
  return static_cast<double>(grid.entries()) + static_cast<double>(longer.count * longer.length(grid));
}

Shuffle::Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed) {
  if (window <= 1) return;
  if (rows > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("-shuffle: more than 2^32 block rows");
  node_.resize(static_cast<std::size_t>(rows));
  number_.resize(static_cast<std::size_t>(rows));
  std::iota(node_.begin(), node_.end(), 0u);
  std::uint64_t state = mixed(seed);
  for (std::int64_t first = 0; first < rows; first += window) {
    const std::int64_t size = std::min(window, rows - first);
    for (std::int64_t i = size - 1; i > 0; --i) {  // std::shuffle is not the same in every library
      state = mixed(state);
      const auto j = static_cast<std::int64_t>(state % static_cast<std::uint64_t>(i + 1));
      std::swap(node_[static_cast<std::size_t>(first + i)], node_[static_cast<std::size_t>(first + j)]);
    }
  }
  for (std::size_t i = 0; i < node_.size(); ++i) number_[node_[i]] = static_cast<std::uint32_t>(i);
}

}  // namespace compound::bench
