// A matrix with its rows and columns in another order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "block_rows.hpp"
#include "parent_matrix.hpp"

namespace compound::bench {

/// The block rows of a matrix on one rank.
BlockRows rows_of(const BlockArrays& arrays, BlockShape block);

/// PETSc's ordering of the graph of blocks: [block rows], the row that comes at each place; `seconds` that it took.
/// Throws usage_error where there are not as many block columns.
std::vector<PetscInt> ordering_of(const BlockRows& rows, const std::string& ordering, double& seconds);

/// Row and column order[i] become i; values go along.
BlockRows renumbered(const BlockRows& rows, std::span<const PetscInt> order, BlockShape block);

/// The same for a PETSc matrix; the given one is gone then.
Matrix renumbered(Matrix matrix, const std::string& ordering, int block_size, double& seconds);

}  // namespace compound::bench
