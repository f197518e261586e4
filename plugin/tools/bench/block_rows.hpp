// The block rows of one rank, before they become a PETSc matrix.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <span>
#include <vector>

#include "entry/kinds.hpp"
#include "generated_rows.hpp"
#include "matrix_market.hpp"

namespace compound::bench {

/// Block rows [first, first + rows()) of a matrix; columns are global, ascending within a row.
struct BlockRows {
  std::int64_t first = 0;
  std::int64_t all_rows = 0, all_columns = 0;  ///< of the whole matrix, in blocks
  std::vector<PetscInt> start{0};
  std::vector<PetscInt> column;
  std::vector<PetscScalar> values;  ///< [entries][columns][rows] of a file; empty where a ValueRule gives them

  std::int64_t rows() const { return static_cast<std::int64_t>(start.size()) - 1; }
  std::int64_t entries() const { return start.back(); }
};

/// Without values.
BlockRows generated_rows(const Generated& matrix, std::int64_t first, std::int64_t rows);

/// Sums up entries given twice. Throws std::invalid_argument unless the block size divides rows and columns, or when
/// values are complex and this PETSc's scalars are real.
BlockRows coordinate_rows(const CoordinateMatrix& matrix, int block_size, std::int64_t first, std::int64_t rows);

/// How many blocks of each row are in the columns [first, end), and how many are not.
struct RowLengths {
  std::vector<PetscInt> diagonal, off_diagonal;
};
RowLengths row_lengths(const BlockRows& rows, std::int64_t first, std::int64_t end);

/// Row and column order[i] become i; values go along.
BlockRows renumbered(const BlockRows& rows, std::span<const PetscInt> order, BlockShape block);

/// The same scalars in blocks of another shape: zeros where there are none, rows and columns filled up to whole blocks
/// (Choi, Singh and Vuduc 2010, section 4.5). All rows must be here.
BlockRows regrouped(const BlockRows& rows, BlockShape given, BlockShape to);

}  // namespace compound::bench
