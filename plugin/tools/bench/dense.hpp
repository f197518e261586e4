// Dense matrices that others are multiplied by, or solved for.
#pragma once

#include "parent_matrix.hpp"

namespace compound::bench {

/// As tall as A, or A^T, is wide, with vectors of A's kind as columns.
Matrix dense_for(Mat A, bool transposed, PetscInt columns);

}  // namespace compound::bench
