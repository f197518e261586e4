// A B with a dense B on the host: several columns are multiplied at once.
#pragma once

#include "device/operation.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// Sets how a product is made if it is A B, where A is of ours and B dense in the host's memory. Its columns have the
/// bits of MatMult() with each column of B.
PetscErrorCode take_dense_product(Mat product, bool* taken);

/// C = op(A) B, of dense matrices that are there and of the right sizes. Collective.
PetscErrorCode multiply_dense(Mat A, Op op, Mat B, Mat C);

}  // namespace compound::plugin
