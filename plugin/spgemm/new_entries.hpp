// The entries of a new AIJ matrix, all at once.
#pragma once

#include "base/shape.hpp"
#include "pattern/pattern.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// MatSeqAIJSetPreallocationCSR() without insertion entry by entry, where columns ascend: for the products of multigrid
/// that takes longer than the products. `start`: [rows of C + 1]. `in_order`: whether columns ascend, so that C has the
/// values as they are given.
PetscErrorCode set_entries(Mat C, const PetscInt* start, const PetscInt* column, const PetscScalar* values,
                           bool* in_order);

/// C becomes an AIJ of `type` on one process, of full blocks where the pattern, whose columns ascend, has entries. Its
/// values are undefined: they are to be written. An error where PETSc's integers cannot count the scalars.
PetscErrorCode make_of_pattern(Mat C, MatType type, const Pattern& pattern, BlockShape block);

}  // namespace compound::plugin
