// Vector type inherited by results of products and submatrices: multigrid's levels, the parts of a block system.
#pragma once

#include <initializer_list>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// MatSetVecType() to that of the first of these matrices (null: none) whose vectors are not PETSc's standard ones.
PetscErrorCode take_vec_type(Mat A, std::initializer_list<Mat> from);

/// For a product above AIJ whose symbolic phase is chosen: its result is of our type where the left operand is, and
/// then makes vectors of the operands' type.
PetscErrorCode follow_operands(Mat product);

/// For products of PETSc's, which read their operands' arrays each time they are made again, and ask for nothing.
PetscErrorCode keep_values_of_operands(Mat product);

}  // namespace compound::plugin
