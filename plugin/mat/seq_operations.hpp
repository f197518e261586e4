// Operations of a matrix of ours on one process, or of a part, that are not products.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

PetscErrorCode seq_duplicate(Mat A, MatDuplicateOption option, Mat* B);

/// MatCreateMPIMatConcatenateSeqMat(): the base type reads A's array.
PetscErrorCode seq_concatenate(MPI_Comm comm, Mat A, PetscInt columns, MatReuse reuse, Mat* whole);

/// The base type has made new arrays, and put its own operations.
PetscErrorCode seq_arrays_are_new(Mat A);

PetscErrorCode seq_values_changed(Mat A);

}  // namespace compound::plugin
