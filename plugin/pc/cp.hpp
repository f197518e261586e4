// PCCP, which serves a seqaij of exactly that name.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// Registers `cp` anew: PETSc's own, under the parent's name for matrices of ours above AIJ.
PetscErrorCode wrap_column_projection();

}  // namespace compound::plugin
