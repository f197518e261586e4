// A matrix of blocks in the forms that cuSPARSE reads: 32-bit integers, scalars by rows or in slices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parent_matrix.hpp"

namespace compound::bench {

/// Compressed rows of scalars, or of blocks, without the values.
struct RowPattern {
  std::vector<std::int32_t> start, column;
  std::int64_t rows() const { return static_cast<std::int64_t>(start.size()) - 1; }
};
RowPattern block_pattern(const BlockArrays& blocks);
RowPattern scalar_pattern(const BlockArrays& blocks, BlockShape block);

/// Coordinates, rising by rows.
struct CoordinatePattern {
  std::vector<std::int32_t> row, column;
};
CoordinatePattern coordinate_pattern(const RowPattern& rows);

/// Slices of so many rows, each as long as its longest row; within a slice the first entries of all rows come first.
/// Places without an entry, those of rows beyond the last among them, have column -1.
struct SlicePattern {
  int height = 0;
  std::vector<std::int32_t> start;  ///< of the slices
  std::vector<std::int32_t> column;
};
/// Empty `start`: more places than 32 bits count.
SlicePattern slice_pattern(const RowPattern& rows, int height);

/// Blocks [cols][rows] as [rows][cols].
template <class Scalar>
std::vector<Scalar> blocks_by_row(const Scalar* blocks, std::int64_t entries, BlockShape block) {
  const auto rows = static_cast<std::size_t>(block.rows), cols = static_cast<std::size_t>(block.cols);
  std::vector<Scalar> to(static_cast<std::size_t>(entries) * rows * cols);
  for (std::size_t first = 0; first < to.size(); first += rows * cols)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) to[first + i * cols + j] = blocks[first + j * rows + i];
  return to;
}

/// In the order of scalar_pattern().
template <class Scalar>
std::vector<Scalar> scalar_values(const BlockArrays& pattern, const Scalar* blocks, BlockShape block) {
  const auto rows = static_cast<std::size_t>(block.rows), cols = static_cast<std::size_t>(block.cols);
  std::vector<Scalar> to(static_cast<std::size_t>(pattern.entries()) * rows * cols);
  std::size_t at = 0;
  for (PetscInt r = 0; r < pattern.rows; ++r)
    for (std::size_t i = 0; i < rows; ++i)
      for (PetscInt k = pattern.start[r]; k < pattern.start[r + 1]; ++k)
        for (std::size_t j = 0; j < cols; ++j) to[at++] = blocks[(static_cast<std::size_t>(k) * cols + j) * rows + i];
  return to;
}

/// f(place of the entry among the rows, place in the slices) for every entry.
template <class F>
void each_in_slices(const RowPattern& rows, const SlicePattern& slices, const F& f) {
  const auto height = static_cast<std::size_t>(slices.height);
  for (std::size_t r = 0; r + 1 < rows.start.size(); ++r) {
    std::size_t to = static_cast<std::size_t>(slices.start[r / height]) + r % height;
    for (auto from = static_cast<std::size_t>(rows.start[r]); from < static_cast<std::size_t>(rows.start[r + 1]);
         ++from, to += height)
      f(from, to);
  }
}

/// Values in the order of scalar_pattern() as slices; 0 where there is no entry.
template <class Scalar>
std::vector<Scalar> slice_values(const RowPattern& rows, const SlicePattern& slices, const std::vector<Scalar>& from) {
  std::vector<Scalar> to(slices.column.size(), Scalar(0));
  each_in_slices(rows, slices, [&](std::size_t f, std::size_t t) { to[t] = from[f]; });
  return to;
}

}  // namespace compound::bench
