// Which process has which rows in a product of two matrices. A process multiplies its rows of A with those rows of
// B that their columns name: its own, and rows of other processes, which are sent to it. Columns of the result are
// numbered on each process: its own first, then those of others ("compact"). Rows of P^T A P that others have are sent
// to their owners, which add what comes in the order of ranks.
#pragma once

#include <algorithm>

#include "spgemm/block_product.hpp"
#include "spgemm/row_traffic.hpp"
#include "spmv/packing.hpp"
#include "storage/sparse_product.hpp"

namespace compound::plugin {

/// A part in blocks.
struct OperandPart {
  BlockArrays arrays;
  LargeVector<PetscInt> start, column;
  Pattern copied;

  PatternView pattern() { return pattern_of(arrays, copied); }
  FullBlocks blocks() { return {pattern(), arrays.block, arrays.values}; }
};

struct MpiOperand {
  BlockShape block;
  OperandPart diagonal, off;
  std::vector<PetscInt> ghosts;  ///< the global block column of each of off's
};

/// The result's rows of this process, in blocks.
struct ResultRows {
  std::vector<PetscInt> diagonal_start{0}, diagonal_column;  ///< local columns
  std::vector<PetscInt> off_start{0}, off_column;            ///< global ones
  bool operator==(const ResultRows&) const = default;

  PetscInt rows() const { return static_cast<PetscInt>(diagonal_start.size()) - 1; }
  /// k where a column is the k-th of the row's diagonal part, ~k where of the other.
  PetscInt place(PetscInt row, PetscInt column, PetscInt first, PetscInt columns) const {
    const bool is_own = column >= first && column < first + columns;
    const auto& start = is_own ? diagonal_start : off_start;
    const auto from = (is_own ? diagonal_column : off_column).begin();
    const auto begin = from + start[static_cast<std::size_t>(row)],
               end = from + start[static_cast<std::size_t>(row) + 1];
    const PetscInt k = static_cast<PetscInt>(std::lower_bound(begin, end, is_own ? column - first : column) - begin);
    return is_own ? k : ~k;
  }
};

/// All that depends on the patterns.
struct MpiProduct {
  explicit MpiProduct(bool galerkin) : is_galerkin(galerkin) {}

  const bool is_galerkin;
  MpiOperand A, B;
  PetscInt first = 0;            ///< global block column that is this process's first
  idx columns = 0;               ///< how many it has
  std::vector<PetscInt> ghosts;  ///< global block columns of others
  Pattern own_rows, other_rows;  ///< of B; the latter in the order of A.ghosts
  RowTraffic rows_of_B, rows_of_result;
  Pattern local;  ///< of the product: rows of A, or compact columns of B
  ResultRows result;
  std::vector<PetscInt> own_place, came_place;  ///< in the result of entries of `local`, and of those that come

  PetscInt global(idx column) const {
    return column < columns ? first + column : ghosts[static_cast<std::size_t>(column - columns)];
  }
  idx compact(PetscInt column) const {
    if (column >= first && column < first + columns) return static_cast<idx>(column - first);
    return columns + static_cast<idx>(std::ranges::lower_bound(ghosts, column) - ghosts.begin());
  }
  BlockShape block() const { return {is_galerkin ? B.block.cols : A.block.rows, B.block.cols}; }
  /// A process's entries: scalars of a block of B.
  PetscInt64 scalars_of_B() const { return static_cast<PetscInt64>(scalars_in(B.block)); }
};

/// Both operands; `fit`: whether this process has full blocks, of the sizes that the matrices tell, that fit each
/// other.
PetscErrorCode take_operands(Mat C, MpiProduct* p, bool* fit);

/// The rest, from the operands. Collective.
PetscErrorCode find_pattern(Mat C, MpiProduct* p);

}  // namespace compound::plugin
