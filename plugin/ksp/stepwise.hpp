// Krylov methods on any number of processes, with any matrix and preconditioner, vectors on the host or on a device:
// PETSc's methods in fewer passes over vectors and fewer reductions.
//
//     CG        3 passes and 2 reductions an iteration, where PETSc's takes 7 and 3
//     BiCGSTAB  5 passes and 3 reductions, where PETSc's takes 8 and 4
//
// Each besides the preconditioner, which is part of a pass where it is Jacobi's and nothing is removed from its result.
#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>
#include <string>

#include "edge/petsc_guard.hpp"
#include "ksp/lanczos.hpp"
#include "ksp/vector_passes.hpp"

namespace compound::plugin {

enum class StepwiseOn { nothing, host, device };

/// What a KSP keeps from solve to solve.
struct StepwiseSolver {
  StepwiseOn where = StepwiseOn::nothing;  ///< of the passes
  bool hermitian = true;
  std::unique_ptr<VectorPasses> passes;
  std::string why_not;  ///< there were none for the last solve
};

/// Collective: where the vectors of a solve lie, on all processes, with `keeps` ready for it; nothing where that
/// differs, is a device that is not ours, or one that has no memory or no kernels for the passes.
PetscErrorCode prepare_steps(KSP ksp, KrylovMethod method, bool hermitian, StepwiseSolver& keeps, StepwiseOn* where);

/// After prepare_steps().
PetscErrorCode solve_stepwise(KSP ksp, KrylovMethod method, StepwiseSolver& keeps, Lanczos& lanczos);

/// One solve, as methods see it.
struct Steps {
  KSP ksp;
  const StepwiseSolver& on;
  Mat A = nullptr;
  Vec d = nullptr;       ///< the diagonal that preconditions, or null: PETSc does
  PetscInt scalars = 0;  ///< of this process

  /// With sums over all processes of what the pass adds up; only passes with sums need `sums`.
  PetscErrorCode run(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers = {},
                     PassSums* sums = nullptr) const;

 private:
  int flops_of(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers) const;
};

/// A method's iterations, from the residual in the first of its work vectors; x is up to date at the end.
PetscErrorCode iterate_cg(const Steps& steps, Lanczos& lanczos);
PetscErrorCode iterate_bcgs(const Steps& steps, Lanczos& lanczos);

}  // namespace compound::plugin
