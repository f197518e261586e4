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

// Columns of dense matrices are given back whatever becomes of work(): PETSc destroys no matrix whose column is in use.

template <auto Get, auto GiveBack, class Work>
PetscErrorCode with_column(Mat dense, PetscInt number, const Work& work) {
  PetscFunctionBegin;
  Vec column;
  PetscCall(Get(dense, number, &column));
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return work(column); });
  const PetscErrorCode given_back = GiveBack(dense, number, &column);
  PetscCall(code);
  PetscCall(given_back);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// work(column of B), which reads it.
template <class Work>
PetscErrorCode with_column_to_read(Mat B, PetscInt number, const Work& work) {
  return with_column<MatDenseGetColumnVecRead, MatDenseRestoreColumnVecRead>(B, number, work);
}

/// work(column of C)
template <class Work>
PetscErrorCode with_column_vector(Mat C, PetscInt number, const Work& work) {
  return with_column<MatDenseGetColumnVec, MatDenseRestoreColumnVec>(C, number, work);
}

/// work(column of B, column of C), which reads the first.
template <class Work>
PetscErrorCode with_column_vectors(Mat B, Mat C, PetscInt number, const Work& work) {
  return with_column_to_read(B, number,
                             [&](Vec x) { return with_column_vector(C, number, [&](Vec y) { return work(x, y); }); });
}

}  // namespace compound::plugin
