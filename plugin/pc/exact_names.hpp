// Preconditioners of PETSc that serve an AIJ matrix of exactly that name alone.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// Registers PCCP and PCTFS anew: PETSc's own, under the parent's name for matrices of ours above AIJ.
PetscErrorCode wrap_preconditioners_by_name();

}  // namespace compound::plugin
