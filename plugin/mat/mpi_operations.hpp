// Operations of a matrix of ours on several processes that are not products.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

PetscErrorCode mpi_get_diagonal_block(Mat A, Mat* block);

/// The base type asks its diagonal part.
PetscErrorCode mpi_get_diagonal(Mat A, Vec diagonal);

/// The base type keeps MAT_IGNORE_OFF_PROC_ENTRIES to itself.
PetscErrorCode mpi_set_option(Mat A, MatOption option, PetscBool on);

}  // namespace compound::plugin
