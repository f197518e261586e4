// Point-block Jacobi for our matrices: inverses of the diagonal blocks as a packed matrix, beside the vectors. It has
// PETSc's own name, pbjacobi, so that programs stay unchanged, and pbjacobicompound; other matrices keep PETSc's own.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

PetscErrorCode register_preconditioners();

}  // namespace compound::plugin
