// Solvers whose iterations run on the device by themselves, where matrix, vectors and preconditioner let them: a KSP of
// PETSc's, of which some operations go by way of ours. Anything else is PETSc's own loop, and KSPView() says why.
#pragma once

#include <petsc/private/kspimpl.h>

#include <utility>

#include "ksp/fused.hpp"
#include "ksp/stepwise.hpp"
#include "petsc/owned.hpp"

namespace compound::plugin {

struct Solver {
  _KSPOps base;                                        ///< operations of the base solver, PETSc's own
  std::string asked;                                   ///< what was asked of PETSc's method that only its own loop does
  const char *radius = nullptr, *objective = nullptr;  ///< the same of CG's, each on its own; null: was not
  FusedSolver fused;
  StepwiseSolver stepwise;
  PetscInt at_once = 1;  ///< right-hand sides, in the last KSPMatSolve()
};

inline PetscObject object(KSP ksp) { return reinterpret_cast<PetscObject>(ksp); }

PetscErrorCode solver_of(KSP ksp, Solver** solver);

/// Puts our loop before one that PETSc's method has put, which it is asked for by `why`.
PetscErrorCode keep_loop(KSP ksp, Solver& solver, const char* why);

/// Type of `PetscOptionsObject`, which differs between releases.
template <class Items>
Items items_of(PetscErrorCode (*)(KSP, Items));
using OptionItems = decltype(items_of(std::declval<_KSPOps>().setfromoptions));

/// cgcompound's own: KSPCGType, what only KSPCG's loop does, and reductions an iteration.
PetscErrorCode attach_cg(KSP ksp, Solver& solver);
PetscErrorCode read_cg_options(KSP ksp, Solver& solver, OptionItems items);

/// KSPMatSolve() of cgcompound (mat_solve.cpp). What cannot be done at once goes column by column.
PetscErrorCode solve_columns(KSP ksp, Mat B, Mat X);

/// For PetscCompoundInitialize().
PetscErrorCode register_solvers();

}  // namespace compound::plugin
