// CG with vectors on the host, on any number of processes, with any matrix and preconditioner: PETSc's method in three
// passes over vectors and two reductions an iteration, where PETSc's own takes seven and three.
#pragma once

#include <petsc/private/kspimpl.h>

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// Whether the vectors of a solve lie on the host.
PetscErrorCode is_for_host(KSP ksp, bool* yes);

PetscErrorCode solve_cg_on_host(KSP ksp, bool hermitian);

}  // namespace compound::plugin
