// What loops of ours tell PETSc, and what they must know of it.
#pragma once

#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <iterator>

#include "petsc/guard.hpp"

namespace compound::plugin {

inline MPI_Comm comm_of_solver(KSP ksp) { return PetscObjectComm(reinterpret_cast<PetscObject>(ksp)); }

/// Monitors of PETSc's that look at nothing but norms, so that they may hear of them later.
using MonitorFunction = void (*)();
inline const MonitorFunction monitors_of_norms[] = {
#if PETSC_VERSION_LT(3, 26, 0)
    reinterpret_cast<MonitorFunction>(KSPMonitorResidualShort),
#endif
    reinterpret_cast<MonitorFunction>(KSPMonitorResidual), reinterpret_cast<MonitorFunction>(KSPMonitorResidualDrawLG)};

/// Whether vectors may be read between iterations: by a convergence test or a monitor that is not one of these.
inline bool is_watched(KSP ksp) {
  const auto looks = [](auto monitor) {
    return std::ranges::find(monitors_of_norms, reinterpret_cast<MonitorFunction>(monitor)) ==
           std::end(monitors_of_norms);
  };
  return std::any_of(ksp->monitor, ksp->monitor + ksp->numbermonitors, looks) ||
         (ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip);
}

/// Reports a norm as PETSc's methods do: history, monitors, convergence test.
inline PetscErrorCode report_norm(KSP ksp, PetscInt iteration, PetscReal norm) {
  PetscFunctionBegin;
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->its = iteration;
  KSPCheckNorm(ksp, norm);
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  PetscCall((*ksp->converged)(ksp, iteration, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// r = b - A x.
inline PetscErrorCode residual_of_solution(KSP ksp, Mat A, Vec r) {
  PetscFunctionBegin;
  PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
  PetscCall(VecAYPX(r, -1.0, ksp->vec_rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same, or b where x is 0.
inline PetscErrorCode residual_of_guess(KSP ksp, Mat A, Vec r) {
  return ksp->guess_zero ? VecCopy(ksp->vec_rhs, r) : residual_of_solution(ksp, A, r);
}

/// The residual that a method begins with; BiCGSTAB's is `preconditioned`, by means of two more of its work vectors.
inline PetscErrorCode first_residual(KSP ksp, bool preconditioned, Mat A, Vec r) {
  PetscFunctionBegin;
  if (preconditioned)
    PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, ksp->work[1], ksp->work[2], r, ksp->vec_rhs));
  else
    PetscCall(residual_of_guess(ksp, A, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// BiCGSTAB came to a residual of 0 after half an iteration.
inline PetscErrorCode end_exactly(KSP ksp) {
  PetscFunctionBegin;
  ksp->reason = KSP_CONVERGED_RTOL;
  ++ksp->its;
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  ksp->rnorm = 0;
  PetscCall(KSPMonitor(ksp, ksp->its, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Negative curvature is a success if the caller asked for it.
inline KSPConvergedReason indefinite_matrix([[maybe_unused]] KSP ksp) {
#if PETSC_VERSION_GE(3, 20, 0)
  if (ksp->converged_neg_curve) return KSP_CONVERGED_NEG_CURVE;
#endif
  return KSP_DIVERGED_INDEFINITE_MAT;
}

}  // namespace compound::plugin
