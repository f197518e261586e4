// The block rows of one rank, before they become a PETSc matrix.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "entry_kinds.hpp"
#include "grid.hpp"
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

BlockRows grid_rows(const Grid& grid, const Shuffle& shuffle, std::int64_t first, std::int64_t rows);

/// Sums up entries given twice. Throws std::invalid_argument unless the block size divides rows and columns, or when
/// values are complex and this PETSc's scalars are real.
BlockRows coordinate_rows(const CoordinateMatrix& matrix, int block_size, std::int64_t first, std::int64_t rows);

/// Values of a generated matrix: blocks of random words that depend on block row, block column and seed alone, with a
/// dominant diagonal where the kind holds multiples of the identity.
class ValueRule {
 public:
  /// `entry`: the kind of entry that blocks are; its name as in plans. Throws std::invalid_argument.
  ValueRule(std::string_view entry, BlockShape block, std::uint64_t seed);

  /// Every block the identity, which is an entry of all kinds.
  static ValueRule identity(BlockShape block);

  /// The values of all entries.
  std::vector<PetscScalar> values(const BlockRows& rows) const;

  /// Writes the block, column-major. `row_length`: entries of its block row.
  void write(std::int64_t row, std::int64_t column, std::int64_t row_length, PetscScalar* block) const;

 private:
  using Write = void (*)(std::uint64_t state, BlockShape shape, PetscScalar* block);
  ValueRule(BlockShape block, Write how) : block_(block), seed_(0), write_(how), dominant_(false) {}

  BlockShape block_;
  std::uint64_t seed_;
  Write write_ = nullptr;
  bool dominant_;
};

}  // namespace compound::bench
