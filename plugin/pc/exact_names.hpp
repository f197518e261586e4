// Preconditioners of PETSc that serve an AIJ matrix of exactly that name alone.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Registers PCCP, PCTFS and PCGAMG anew: PETSc's own, whose set-up finds the base type where it asks for it (of PCGAMG
/// classical coarsening with direct prolongation alone), for matrices of ours above AIJ. PCML refuses those above BAIJ.
PetscErrorCode wrap_preconditioners_by_name();

}  // namespace compound::plugin
