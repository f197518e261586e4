// Patterns of generated matrices: a graph, the numbers of its rows, and rows that are made longer.
#pragma once

#include <cstdint>
#include <vector>

#include "grid.hpp"
#include "shuffle.hpp"

namespace compound::bench {

/// So many rows, evenly spread over all, have `factor` times the mean length.
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
