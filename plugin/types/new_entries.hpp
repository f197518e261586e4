// The entries of a new matrix of single scalars, all at once.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// MatSeqAIJSetPreallocationCSR() without insertion entry by entry, where columns ascend: for the products of multigrid
/// that takes longer than the products. `start`: [rows of C + 1], `values` may be null: zeros.
PetscErrorCode set_entries(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values);

}  // namespace compound::plugin
