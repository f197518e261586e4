// Factorizations of other packages that would not recognise our types.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// MUMPS's LU tests for the exact name "seqbaij" and reads a descendant as an mpibaij: a crash. Its handler is
/// registered anew inside a wrapper that lends our matrices the base type's name. Does nothing in a PETSc without
/// MUMPS.
PetscErrorCode wrap_solver_packages();

}  // namespace compound::plugin
