// CG on any number of processes, with any matrix and preconditioner, vectors on the host or on a device: PETSc's method
// in three passes over vectors and two reductions an iteration, where PETSc's own takes seven and three.
#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>

#include "edge/petsc_guard.hpp"
#include "ksp/vector_passes.hpp"

namespace compound::plugin {

enum class StepwiseOn { nothing, host, device };

/// Collective: where the vectors of a solve lie, on all processes; nothing where that differs, or is a device that is
/// not ours.
PetscErrorCode where_to_step(KSP ksp, StepwiseOn* where);

/// What a KSP keeps from solve to solve.
struct StepwiseSolver {
  StepwiseOn where = StepwiseOn::nothing;
  bool hermitian = true;
  std::unique_ptr<VectorPasses> passes;
};

PetscErrorCode solve_cg_stepwise(KSP ksp, bool hermitian, StepwiseOn where, StepwiseSolver& keeps);

}  // namespace compound::plugin
