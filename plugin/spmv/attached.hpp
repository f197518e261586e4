// Matrices of ours of any kind, seq or mpi, for what lies below the types themselves. Made in mat/attach.cpp.
#pragma once

#include "spmv/state.hpp"

namespace compound::plugin {

/// The state of any matrix of ours.
void make_state(Mat A);
inline PetscErrorCode any_state(Mat A, State** state) {
  PetscFunctionBegin;
  if (!A->spptr) make_state(A);
  PetscCall(state_of(A, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The settings of a matrix of ours; an error that names the types for any other.
PetscErrorCode settings_of(Mat A, Settings** settings);

/// Turns a matrix of a base type into ours in place; sets nothing but `settings` if it is ours.
PetscErrorCode adopt(Mat A, const Settings& settings, bool off_diagonal = false);

/// What -mat_view ::ascii_info tells of the plan on standard output, if -mat_compound_view asks for it, once, when the
/// matrix has been packed (view/view.cpp). Collective.
PetscErrorCode view_once(Mat A, Settings& settings);

}  // namespace compound::plugin
