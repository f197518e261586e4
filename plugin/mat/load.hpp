// Reading matrices from files.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// MatLoad(). A damaged binary file is an error on all processes before the base type reads it: BAIJ's own function
/// trusts the lengths of rows and the columns, and writes beyond its arrays. Only regular files are checked; PETSc
/// refuses named pipes. Collective.
PetscErrorCode any_load(Mat A, PetscViewer viewer);

}  // namespace compound::plugin
