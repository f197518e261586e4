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
  PetscCall(f(PetscMemTypeDevice(of_x) == on_device && PetscMemTypeDevice(of_y) == on_device, x, y));
  PetscCall(MatDenseRestoreArrayWriteAndMemType(C, &y));
  PetscCall(MatDenseRestoreArrayReadAndMemType(B, &x));
#else
  PetscCall(MatDenseGetArrayRead(B, &x));
  PetscCall(MatDenseGetArrayWrite(C, &y));
  PetscCall(f(!on_device, x, y));
  PetscCall(MatDenseRestoreArrayWrite(C, &y));
  PetscCall(MatDenseRestoreArrayRead(B, &x));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
