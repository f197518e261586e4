#include "ksp/stepwise.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

/// Vectors of PETSc's BiCGSTAB: R, which S is, too, RP, V, T and P; in its S products come before they are
/// preconditioned.
struct Bcgs {
  const Steps& steps;
  Vec x, r, r0, v, t, between, p;
  PetscScalar rho = 0, alpha = 0, omega = 0;
  PetscReal norm = 0;

  /// to = M A from; or A from, where M is part of the pass that follows.
  PetscErrorCode multiply(Vec from, Vec to) const {
    PetscFunctionBegin;
    if (steps.d)
      PetscCall(KSP_MatMult(steps.ksp, steps.A, from, to));
    else
      PetscCall(KSP_PCApplyBAorAB(steps.ksp, from, to, between));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// to += alpha p + omega s, r = s - omega t, rho and the norm.
  PetscErrorCode step(Vec to) {
    PetscFunctionBegin;
    PassSums sums;
    PetscCall(steps.run(VectorPass::bcgs_step, {p, t, r0, to, r}, {alpha, omega}, &sums));
    rho = petsc_scalar(sums[0]);
    norm = steps.ksp->normtype == KSP_NORM_NONE ? 0 : PetscSqrtReal(PetscRealPart(petsc_scalar(sums[1])));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode iterate_bcgs(const Steps& steps, Lanczos&) {
  PetscFunctionBegin;
  KSP ksp = steps.ksp;
  Bcgs l{steps, ksp->vec_sol, ksp->work[0], ksp->work[1], ksp->work[2], ksp->work[3], ksp->work[4], ksp->work[5]};
  PassSums sums;
  PetscCall(VecCopy(l.r, l.r0));
  for (Vec v : {l.v, l.t, l.p}) PetscCall(VecSet(v, 0));
  PetscCall(l.step(l.between));  // for the sums: a residual that is not finite leaves x as it is
  PetscCall(report_norm(ksp, 0, l.norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscScalar beta = 0;
  PetscInt i = 0;
  do {
    PetscCall(steps.run(VectorPass::bcgs_turn, {l.r, l.v, l.p}, {beta, l.omega}));
    PetscCall(l.multiply(l.p, l.v));
    PetscCall(steps.run(VectorPass::bcgs_first, {steps.d, l.v, l.r0}, {}, &sums));
    const PetscScalar along = petsc_scalar(sums[0]), before = l.rho;
    KSPCheckDot(ksp, along);
    if (along == PetscScalar(0)) {
      ksp->reason = KSP_DIVERGED_BREAKDOWN;
      break;
    }
    l.alpha = l.rho / along;
    PetscCall(steps.run(VectorPass::bcgs_half, {l.v, l.r}, {l.alpha}));
    PetscCall(l.multiply(l.r, l.t));
    PetscCall(steps.run(VectorPass::bcgs_second, {steps.d, l.t, l.r}, {}, &sums));
    const PetscScalar of_t = petsc_scalar(sums[1]);
    if (of_t == PetscScalar(0)) {
      ksp->reason = KSP_DIVERGED_BREAKDOWN;
      if (petsc_scalar(sums[2]) != PetscScalar(0)) break;
      PetscCall(VecAXPY(l.x, l.alpha, l.p));
      PetscCall(end_exactly(ksp));
      break;
    }
    l.omega = petsc_scalar(sums[0]) / of_t;
    PetscCall(l.step(l.x));
    KSPCheckNorm(ksp, l.norm);  // before the iteration counts
    PetscCall(report_norm(ksp, i + 1, l.norm));
    if (ksp->reason) break;
    if (before == PetscScalar(0)) {
      ksp->reason = KSP_DIVERGED_BREAKDOWN;
      break;
    }
    beta = (l.rho / before) * (l.alpha / l.omega);
    ++i;
  } while (i < ksp->max_it);
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscCall(KSPUnwindPreconditioner(ksp, l.x, l.t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr VectorPass passes[] = {VectorPass::bcgs_first, VectorPass::bcgs_half, VectorPass::bcgs_second,
                                 VectorPass::bcgs_step, VectorPass::bcgs_turn};
constexpr StepwiseForm form{"three reductions", passes, 6, true, iterate_bcgs};

}  // namespace

const StepwiseForm& form_of_bcgs() { return form; }

}  // namespace compound::plugin
