// What PETSc does for matrices of AIJ's exact name alone, done for ours under that name.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The function composed as MatProductSetFromOptions_anytype_C: products of operands of different types, which PETSc
/// finds by their names.
PetscErrorCode product_as_aij(Mat product);

/// The pattern of the transpose, of the base type: A B^T with a left operand of that type makes it such one, which
/// would empty one of ours.
PetscErrorCode transpose_symbolic_as_aij(Mat A, Mat* B);

/// MatSeqAIJKron().
PetscErrorCode kron_as_aij(Mat A, Mat B, MatReuse reuse, Mat* C);

}  // namespace compound::plugin
