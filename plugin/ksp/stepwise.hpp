// Krylov methods on any number of processes, with any matrix and preconditioner, vectors on the host or on a device:
// PETSc's methods in fewer passes over vectors and fewer reductions.
//
//     CG        3 passes and 2 reductions an iteration, or 2 and 1, where PETSc's takes 7 and 3
//     BiCGSTAB  5 passes and 3 reductions, where PETSc's takes 8 and 4
//
// Each besides the preconditioner, which is part of a pass where it is Jacobi's and nothing is removed from its result.
#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>
#include <span>
#include <string>

#include "ksp/lanczos.hpp"
#include "ksp/vector_passes.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

enum class StepwiseOn { nothing, host, device };

struct Steps;

/// A method in one of its forms.
struct StepwiseForm {
  const char* reductions;  ///< an iteration, in words
  std::span<const VectorPass> passes;
  PetscInt vectors;           ///< of the KSP's work vectors; the diagonal follows them
  bool first_preconditioned;  ///< the residual that it begins with
  /// Iterations, from the residual in the first of the work vectors; x is up to date at the end.
  PetscErrorCode (*iterate)(const Steps& steps, Lanczos& lanczos);
};
/// CG's forms: with one reduction, with two.
std::span<const StepwiseForm> forms_of_cg();
const StepwiseForm& form_of_bcgs();

/// What a KSP keeps from solve to solve.
struct StepwiseSolver {
  const StepwiseForm* form = nullptr;
  StepwiseOn where = StepwiseOn::nothing;  ///< of the passes
  bool hermitian = true, has_diagonal = false;
  std::unique_ptr<VectorPasses> passes;
  std::string why_not;  ///< there were none for the last solve

  void take(const StepwiseForm& another) {
    if (form != &another) passes.reset();
    form = &another;
  }
};

/// Collective: where the vectors of a solve lie, on all processes, with `keeps` ready for it; nothing where that
/// differs, is a device that is not ours, or one that has no memory or no kernels for the passes.
PetscErrorCode prepare_steps(KSP ksp, bool hermitian, StepwiseSolver& keeps, StepwiseOn* where);

/// After prepare_steps().
PetscErrorCode solve_stepwise(KSP ksp, StepwiseSolver& keeps, Lanczos& lanczos);

/// A Jacobi preconditioner is a diagonal, but where PETSc has a null space or a scaling to apply besides.
PetscErrorCode has_diagonal(KSP ksp, bool* yes);

/// The product of the preconditioner with ones, which are in the second of the KSP's work vectors.
PetscErrorCode take_diagonal(KSP ksp, Vec d);

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
};

/// As PETSc's method counts what it does to a scalar in the place of the pass; `has_first`: its first vector is there.
int flops_of(KSP ksp, VectorPass pass, bool has_first, const PassNumbers& numbers);

/// By the sums of VectorPass::cg_step or cg_sums.
PetscReal norm_of(KSP ksp, const PassSums& sums);

}  // namespace compound::plugin
