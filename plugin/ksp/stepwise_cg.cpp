#include "ksp/stepwise.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

/// Vectors of PETSc's CG: R, Z (which W is, too) and P.
struct Cg {
  const Steps& steps;
  Vec x, r, z, p;
  PetscScalar rho = 0;
  PetscReal norm = 0;

  /// r -= alpha w, z = M r, rho and the norm.
  PetscErrorCode step(PetscScalar alpha) {
    PetscFunctionBegin;
    KSP ksp = steps.ksp;
    PassSums sums;
    if (!steps.d) {
      PetscCall(VecAXPY(r, -alpha, z));
      PetscCall(KSP_PCApply(ksp, r, z));
    }
    PetscCall(steps.run(VectorPass::cg_step, {steps.d, z, r}, {alpha}, &sums));
    rho = petsc_scalar(sums[0]);
    norm = ksp->normtype == KSP_NORM_NONE               ? 0
           : ksp->normtype == KSP_NORM_NATURAL          ? PetscSqrtReal(PetscAbsScalar(rho))
           : ksp->normtype == KSP_NORM_UNPRECONDITIONED ? PetscSqrtReal(PetscRealPart(petsc_scalar(sums[2])))
                                                        : PetscSqrtReal(PetscRealPart(petsc_scalar(sums[1])));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x += alpha p, which is of the iteration before, p = z + beta p; w = A p, where z is; and p^H w.
  PetscErrorCode turn_and_multiply(PetscScalar alpha, PetscScalar beta, PetscScalar* curvature) {
    PetscFunctionBegin;
    PetscCall(steps.run(VectorPass::cg_turn, {z, x, p}, {alpha, beta}));
    PetscCall(KSP_MatMult(steps.ksp, steps.A, p, z));
    PetscCall(steps.on.hermitian ? VecDot(p, z, curvature) : VecTDot(p, z, curvature));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace

PetscErrorCode iterate_cg(const Steps& steps, Lanczos& lanczos) {
  PetscFunctionBegin;
  KSP ksp = steps.ksp;
  Cg l{.steps = steps, .x = ksp->vec_sol, .r = ksp->work[0], .z = ksp->work[1], .p = ksp->work[2]};
  PetscScalar before = 1, beta = 0, curvature = 0, last_curvature = 0;
  PetscCall(VecSet(l.z, 0));
  PetscCall(VecSet(l.p, 0));
  PetscCall(l.step(0));
  PetscCall(hear_norm(ksp, 0, l.norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  KSPCheckDot(ksp, l.rho);
  PetscScalar pending = 0;  // of x, which lags behind unless somebody looks
  PetscInt i = 0;
  do {
    ksp->its = i + 1;
    if (l.rho == PetscScalar(0)) {
      ksp->reason = KSP_CONVERGED_ATOL;
      break;
    }
    if (!PetscDefined(USE_COMPLEX) && i > 0 && PetscRealPart(l.rho) * PetscRealPart(before) < 0) {
      ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
      break;
    }
    last_curvature = curvature;
    if (i > 0) beta = l.rho / before;
    PetscCall(l.turn_and_multiply(pending, beta, &curvature));
    pending = 0;
    KSPCheckDot(ksp, curvature);
    before = l.rho;
    if (curvature == PetscScalar(0) || (i > 0 && PetscRealPart(curvature) * PetscRealPart(last_curvature) < 0)) {
      ksp->reason = indefinite_matrix(ksp);
      break;
    }
    pending = l.rho / curvature;
    lanczos.note(i, PetscRealPart(PetscScalar(1) / pending), PetscAbsScalar(beta));
    if (is_watched(ksp)) {
      PetscCall(VecAXPY(l.x, pending, l.p));
      PetscCall(l.step(pending));
      pending = 0;
    } else {
      PetscCall(l.step(pending));
    }
    PetscCall(hear_norm(ksp, i + 1, l.norm));
    if (ksp->reason) break;
    KSPCheckDot(ksp, l.rho);
    ++i;
  } while (i < ksp->max_it);
  if (pending != PetscScalar(0)) PetscCall(VecAXPY(l.x, pending, l.p));
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
