// A B with a dense B on the host: several columns are multiplied at once.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Sets how a product is made if it is A B, where A is of ours and B dense in the host's memory. Its columns have the
/// bits of MatMult() with each column of B.
PetscErrorCode take_dense_product(Mat product, bool* taken);

}  // namespace compound::plugin
