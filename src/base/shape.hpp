// Blocks of a matrix, and how a caller's values of them lie.
#pragma once

#include <cstddef>
#include <string>

namespace compound {

/// The blocks of a matrix: rows x cols scalars.
struct BlockShape {
  int rows = 0, cols = 0;
  bool operator==(const BlockShape&) const = default;
};

constexpr std::size_t scalars_in(BlockShape block) { return std::size_t{1} * block.rows * block.cols; }

/// "3", or "3x2".
inline std::string text_of(BlockShape block) {
  const std::string rows = std::to_string(block.rows);
  return block.rows == block.cols ? rows : rows + "x" + std::to_string(block.cols);
}

/// How a caller's values lie, all scalars of the pattern's entries. blocks: [entries][cols][rows], as PETSc's BAIJ has
/// them. rows: block row by block row, of each its scalar rows one after the other through all of its entries, as
/// PETSc's AIJ has them where rows come in full blocks: scalar (i, j) of entry e of block row b, of `length` entries,
/// lies at start[b] * rows * cols + i * length * cols + (e - start[b]) * cols + j (to_blocks() in value_order.hpp).
enum class ValueOrder { blocks, rows };

}  // namespace compound
