#include "ksp/stepwise.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

/// Vectors of PETSc's CG: R, Z and P.
struct Cg {
  const Steps& steps;
  Vec x, r, z, p;
  PetscScalar rho = 0;  ///< z^H r
  /// p^H A p. Aligned: PETSc's inner product on a device stores it as CUDA's complex type on a process without rows.
  alignas(sizeof(PetscScalar)) PetscScalar curvature = 0;
  PetscReal norm = 0;

  explicit Cg(const Steps& s) : steps(s), x(s.ksp->vec_sol), r(s.ksp->work[0]), z(s.ksp->work[1]), p(s.ksp->work[2]) {}

  void take(const PassSums& sums) {
    rho = petsc_scalar(sums[0]);
    norm = norm_of(steps.ksp, sums);
  }
};

/// The textbook's: p^H A p and what the residual gives are added up one after the other. W is Z, too.
struct TwoReductions : Cg {
  static constexpr const char* reductions = "two reductions";
  static constexpr PetscInt vectors = 3;
  static constexpr VectorPass passes[] = {VectorPass::cg_step, VectorPass::cg_turn};
  PetscScalar pending = 0;  ///< of x, which lags behind unless it is watched

  using Cg::Cg;
  PetscErrorCode begin() {
    PetscFunctionBegin;
    for (Vec v : {z, p}) PetscCall(VecSet(v, 0));
    PetscCall(step(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// x += alpha p, which is of the iteration before, p = z + beta p; w = A p, where z is; and p^H w.
  PetscErrorCode turn(PetscScalar beta) {
    PetscFunctionBegin;
    PetscCall(steps.run(VectorPass::cg_turn, {z, x, p}, {pending, beta}));
    pending = 0;
    PetscCall(KSP_MatMult(steps.ksp, steps.A, p, z));
    PetscCall(steps.on.hermitian ? VecDot(p, z, &curvature) : VecTDot(p, z, &curvature));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// r -= alpha w, z = M r, rho and the norm.
  PetscErrorCode step(PetscScalar alpha) {
    PetscFunctionBegin;
    PassSums sums;
    pending = alpha;
    if (is_watched(steps.ksp)) PetscCall(end());
    if (!steps.d) {
      PetscCall(VecAXPY(r, -alpha, z));
      PetscCall(KSP_PCApply(steps.ksp, r, z));
    }
    PetscCall(steps.run(VectorPass::cg_step, {steps.d, z, r}, {steps.d ? alpha : PetscScalar(0)},
                        &sums));  // else r has moved
    take(sums);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode end() {
    PetscFunctionBegin;
    if (pending != PetscScalar(0)) PetscCall(VecAXPY(x, pending, p));
    pending = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// Chronopoulos and Gear 1989 (s-step iterative methods for symmetric linear systems, with s = 1): w = A z is the
/// product, s = A p = w + beta s, and p^H A p = w^H z - beta^2 of the one before. Vectors are those of PETSc's with a
/// single reduction: its S is w, its W is s.
struct OneReduction : Cg {
  static constexpr const char* reductions = "one reduction";
  static constexpr PetscInt vectors = 5;
  static constexpr VectorPass passes[] = {VectorPass::cg_advance, VectorPass::cg_sums};
  Vec w, s;
  PetscScalar beta = 0, of_product = 0;  ///< of_product: w^H z

  explicit OneReduction(const Steps& of) : Cg(of), w(of.ksp->work[3]), s(of.ksp->work[4]) {}
  PetscErrorCode begin() {
    PetscFunctionBegin;
    for (Vec v : {z, w, s, p}) PetscCall(VecSet(v, 0));
    PetscCall(step(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode turn(PetscScalar growth) {
    beta = growth;
    curvature = of_product - beta * beta * curvature;
    return PETSC_SUCCESS;
  }
  /// p, s, x and r; z = M r; w = A z; and all that is added up.
  PetscErrorCode step(PetscScalar alpha) {
    PetscFunctionBegin;
    PassSums sums;
    PetscCall(steps.run(VectorPass::cg_advance, {steps.d, z, w, s, p, x, r}, {alpha, beta}));
    if (!steps.d) PetscCall(KSP_PCApply(steps.ksp, r, z));
    PetscCall(KSP_MatMult(steps.ksp, steps.A, z, w));
    PetscCall(steps.run(VectorPass::cg_sums, {r, z, w}, {}, &sums));
    take(sums);
    of_product = petsc_scalar(sums[3]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode end() { return PETSC_SUCCESS; }
};

template <class Form>
PetscErrorCode iterate(const Steps& steps, Lanczos& lanczos) {
  PetscFunctionBegin;
  KSP ksp = steps.ksp;
  Form l(steps);
  PetscScalar before = 1, beta = 0;
  PetscCall(l.begin());
  PetscCall(report_norm(ksp, 0, l.norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  KSPCheckDot(ksp, l.rho);
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
    const PetscScalar last_curvature = l.curvature;
    if (i > 0) beta = l.rho / before;
    PetscCall(l.turn(beta));
    KSPCheckDot(ksp, l.curvature);
    before = l.rho;
    if (l.curvature == PetscScalar(0) ||
        (i > 0 && have_opposite_signs(PetscRealPart(l.curvature), PetscRealPart(last_curvature)))) {
      ksp->reason = indefinite_matrix(ksp);
      break;
    }
    const PetscScalar alpha = l.rho / l.curvature;
    lanczos.note(i, PetscRealPart(PetscScalar(1) / alpha), PetscAbsScalar(beta));
    PetscCall(l.step(alpha));
    PetscCall(report_norm(ksp, i + 1, l.norm));
    if (ksp->reason) break;
    if (PetscIsInfOrNanScalar(l.rho)) PetscCall(l.end());  // this step was right
    KSPCheckDot(ksp, l.rho);
    ++i;
  } while (i < ksp->max_it);
  PetscCall(l.end());
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Form>
constexpr StepwiseForm row{Form::reductions, Form::passes, Form::vectors, false, iterate<Form>};
constexpr StepwiseForm forms[] = {row<OneReduction>, row<TwoReductions>};

}  // namespace

PetscReal norm_of(KSP ksp, const PassSums& sums) {
  switch (ksp->normtype) {
    case KSP_NORM_NONE:
      return 0;
    case KSP_NORM_NATURAL:
      return PetscSqrtReal(PetscAbsScalar(petsc_scalar(sums[0])));
    case KSP_NORM_UNPRECONDITIONED:
      return PetscSqrtReal(PetscRealPart(petsc_scalar(sums[2])));
    default:
      return PetscSqrtReal(PetscRealPart(petsc_scalar(sums[1])));
  }
}

std::span<const StepwiseForm> forms_of_cg() { return forms; }

}  // namespace compound::plugin
