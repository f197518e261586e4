// Arrays of dense matrices, for work on several columns at once.
#pragma once

#include <petscmat.h>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// f(there, x, y) with the arrays of B and C; `there`: both are in the memory where the work is, a device's or the
/// host's.
template <class F>
PetscErrorCode with_arrays(bool on_device, Mat B, Mat C, const F& f) {
  PetscFunctionBegin;
  const PetscScalar* x;
  PetscScalar* y;
#if PetscDefined(HAVE_CUDA) && PETSC_VERSION_GE(3, 26, 0)
  PetscMemType of_x, of_y;
  PetscCall(MatDenseGetArrayReadAndMemType(B, &x, &of_x));
  PetscCall(MatDenseGetArrayWriteAndMemType(C, &y, &of_y));
  const bool there = PetscMemTypeDevice(of_x) == on_device && PetscMemTypeDevice(of_y) == on_device;
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return f(there, x, y); });
  PetscCall(MatDenseRestoreArrayWriteAndMemType(C, &y));
  PetscCall(MatDenseRestoreArrayReadAndMemType(B, &x));
#else
  PetscCall(MatDenseGetArrayRead(B, &x));
  PetscCall(MatDenseGetArrayWrite(C, &y));
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return f(!on_device, x, y); });
  PetscCall(MatDenseRestoreArrayWrite(C, &y));
  PetscCall(MatDenseRestoreArrayRead(B, &x));
#endif
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// work(x, y) with columns of the dense B, to be read, and C, which are given back whatever becomes of it: PETSc
/// destroys no matrix whose column is in use.
template <class Work>
PetscErrorCode with_column_vectors(Mat B, Mat C, PetscInt number, const Work& work) {
  PetscFunctionBegin;
  Vec x, y;
  PetscCall(MatDenseGetColumnVecRead(B, number, &x));
  PetscErrorCode code = MatDenseGetColumnVec(C, number, &y);
  if (!code) {
    code = guarded(PETSC_COMM_SELF, [&] { return work(x, y); });
    const PetscErrorCode given_back = MatDenseRestoreColumnVec(C, number, &y);
    if (!code) code = given_back;
  }
  const PetscErrorCode given_back = MatDenseRestoreColumnVecRead(B, number, &x);
  PetscCall(code);
  PetscCall(given_back);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
