// Colourings of PETSc that know BAIJ by its exact name only.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Puts ours before PETSc's "natural" colouring.
PetscErrorCode wrap_colorings();

}  // namespace compound::plugin
