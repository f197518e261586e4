// Operations on all values of a matrix, made where the values are.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The operations `zeroentries` and `scale` of seq matrices.
PetscErrorCode seq_zero_entries(Mat A);
PetscErrorCode seq_scale(Mat A, PetscScalar a);

/// Y <- Y + a X and B <- A of seq matrices with one pattern, where the device has the values of the one that is
/// changed. `done` is false where they are on the host.
PetscErrorCode add_on_device(Mat Y, PetscScalar a, Mat X, bool* done);
PetscErrorCode copy_on_device(Mat A, Mat B, bool* done);
/// B <- A, where the device has the values of A alone: B's are there, too, from then on, if it has room for them.
PetscErrorCode copy_to_device(Mat A, Mat B, bool* done);

/// Y <- Y + a X of mpi matrices with one pattern, part by part. `done` is false where X is not of ours.
PetscErrorCode add_parts(Mat Y, PetscScalar a, Mat X, bool* done);

}  // namespace compound::plugin
