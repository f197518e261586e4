// Assembly by coordinates: MatSetPreallocationCOO() and MatSetValuesCOO() of both types.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The functions that PETSc's interface looks up by name.
PetscErrorCode coo_set_preallocation(Mat A, PetscCount n, PetscInt* rows, PetscInt* columns);
PetscErrorCode coo_set_values(Mat A, const PetscScalar* values, InsertMode mode);

/// The same by coordinates of blocks (MatCompoundSetPreallocationCOO(), MatCompoundSetValuesCOO()).
PetscErrorCode coo_set_block_preallocation(Mat A, PetscCount n, const PetscInt* rows, const PetscInt* columns);
PetscErrorCode coo_set_block_values(Mat A, const PetscScalar* values, InsertMode mode);

/// A duplicate takes values for the same coordinates.
PetscErrorCode keep_coo(Mat from, Mat duplicate);

}  // namespace compound::plugin
