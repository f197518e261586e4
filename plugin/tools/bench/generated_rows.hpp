// Patterns of generated matrices: a graph, the numbers of its rows, and rows that are made longer.
#pragma once

#include <cstdint>
#include <vector>

#include "grid.hpp"

namespace compound::bench {

/// splitmix64: a good 64-bit hash of its argument, and a random stream when the argument counts.
constexpr std::uint64_t mixed(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// A symmetric permutation that is random within windows of rows; the same on every machine and number of ranks.
class Shuffle {
 public:
  /// window <= 1: nothing moves. window >= rows: anything may go anywhere.
  Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed);
  /// The row that node `row` is numbered as, and back.
  std::int64_t number_of(std::int64_t row) const { return identity() ? row : number_[static_cast<std::size_t>(row)]; }
  std::int64_t node_of(std::int64_t row) const { return identity() ? row : node_[static_cast<std::size_t>(row)]; }
  bool identity() const { return number_.empty(); }

 private:
  std::vector<std::uint32_t> number_, node_;
};

/// For the papers' experiments: so many rows, evenly spread over all, have `factor` times the mean length.
struct LongRows {
  std::int64_t count = 0;
  double factor = 1;
  /// Entries of each such row of a grid; not more than it has columns.
  std::int64_t length(const Grid& grid) const;
};

struct Generated {
  Grid grid;
  Shuffle shuffle;
  LongRows longer;

  std::int64_t rows() const { return grid.rows(); }
  /// Columns of a block row, ascending. Those of long rows beyond their neighbours are evenly spread.
  void columns(std::int64_t row, std::vector<std::int64_t>& to) const;
  /// As Grid::relation(), for rows as they are numbered.
  std::int64_t relation(std::int64_t row, std::int64_t column) const {
    return grid.relation(shuffle.node_of(row), shuffle.node_of(column));
  }
  Step step(std::int64_t row, std::int64_t column) const {
    return grid.step(shuffle.node_of(row), shuffle.node_of(column));
  }
};

/// From above.
double entries_of(const Grid& grid, const LongRows& longer);

}  // namespace compound::bench
