// Assembly by coordinates: MatSetPreallocationCOO() and MatSetValuesCOO() of both types.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// The functions that PETSc's interface looks up by name.
PetscErrorCode compose_coo(Mat A);
PetscErrorCode remove_coo(Mat A);

/// A duplicate takes values for the same coordinates.
PetscErrorCode keep_coo(Mat from, Mat duplicate);

}  // namespace compound::plugin
