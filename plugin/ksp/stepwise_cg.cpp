#include "ksp/stepwise_cg.hpp"

#include <algorithm>

#include "copies/placement.hpp"
#include "ksp/vector_passes.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

/// Vectors of PETSc's CG: R, Z (which W is, too) and P, and the diagonal of the preconditioner where it is one.
struct Loop {
  KSP ksp;
  passes::Inner inner;
  VectorPasses& passes;
  bool on_device;
  Mat A;
  Vec x, r, z, p, d;  ///< d: null where the preconditioner is applied by PETSc
  double n;           ///< scalars of this process
  PetscScalar rho = 0;
  PetscReal norm = 0;

  PetscErrorCode log_flops(double flops) const {
    return on_device && PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops);
  }

  /// Over all processes; rho and the norm.
  PetscErrorCode take(const passes::StepSums& mine) {
    PetscFunctionBegin;
    PetscScalar all[3];
    PetscCallMPI(
        MPI_Allreduce(&mine, all, 3, MPIU_SCALAR, MPIU_SUM, PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
    rho = all[0];
    norm = ksp->normtype == KSP_NORM_NONE               ? 0
           : ksp->normtype == KSP_NORM_NATURAL          ? PetscSqrtReal(PetscAbsScalar(rho))
           : ksp->normtype == KSP_NORM_UNPRECONDITIONED ? PetscSqrtReal(PetscRealPart(all[2]))
                                                        : PetscSqrtReal(PetscRealPart(all[1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// r -= alpha w, z = M r, rho and the norm.
  PetscErrorCode step(PetscScalar alpha) {
    PetscFunctionBegin;
    passes::StepSums mine;
    if (!d) {
      PetscCall(VecAXPY(r, -alpha, z));
      PetscCall(KSP_PCApply(ksp, r, z));
    }
    PetscCall(passes.step(alpha, d, z, r, &mine));
    PetscCall(log_flops((d ? 9.0 : 6.0) * n));
    PetscCall(take(mine));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x += alpha p, which is of the iteration before, p = z + beta p; w = A p, where z is; and p^H w.
  PetscErrorCode turn_and_multiply(PetscScalar alpha, PetscScalar beta, PetscScalar* curvature) {
    PetscFunctionBegin;
    PetscCall(passes.turn(alpha, beta, z, x, p));
    PetscCall(log_flops(4.0 * n));
    PetscCall(KSP_MatMult(ksp, A, p, z));
    PetscCall(inner == passes::Inner::hermitian ? VecDot(p, z, curvature) : VecTDot(p, z, curvature));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// A Jacobi preconditioner is a diagonal: its product with ones. Null spaces are PETSc's to remove.
PetscErrorCode diagonal_of(KSP ksp, Mat A, Vec* d) {
  PetscFunctionBegin;
  PetscBool jacobi;
  MatNullSpace null_space;
  *d = nullptr;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), PCJACOBI, &jacobi));
  PetscCall(MatGetNullSpace(A, &null_space));
  if (!jacobi || null_space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ksp->work[0], d));
  PetscCall(VecSet(ksp->work[1], 1.0));
  PetscCall(PCApply(ksp->pc, ksp->work[1], *d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// From r, with its norm heard; x is up to date at the end.
PetscErrorCode iterate(Loop& l) {
  PetscFunctionBegin;
  KSP ksp = l.ksp;
  PetscScalar before = 1, curvature = 0, last_curvature = 0;
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
    PetscCall(l.turn_and_multiply(pending, i == 0 ? PetscScalar(0) : l.rho / before, &curvature));
    pending = 0;
    KSPCheckDot(ksp, curvature);
    before = l.rho;
    if (curvature == PetscScalar(0) || (i > 0 && PetscRealPart(curvature) * PetscRealPart(last_curvature) < 0)) {
      ksp->reason = indefinite_matrix(ksp);
      break;
    }
    pending = l.rho / curvature;
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

PetscErrorCode where_is(Vec v, StepwiseOn* where) {
  PetscFunctionBegin;
  const PetscScalar* array;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &memory));
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  *where = StepwiseOn::nothing;
  if (PetscMemTypeHost(memory))
    *where = StepwiseOn::host;
  else if (PetscMemTypeCUDA(memory) && device_backend())
    *where = StepwiseOn::device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode where_to_step(KSP ksp, StepwiseOn* where) {
  PetscFunctionBegin;
  PetscInt least = static_cast<PetscInt>(StepwiseOn::device), most = 0;
  for (Vec v : {ksp->vec_sol, ksp->vec_rhs, ksp->work[0]}) {
    StepwiseOn of_vector = StepwiseOn::nothing;
    PetscCall(where_is(v, &of_vector));
    least = std::min(least, static_cast<PetscInt>(of_vector));
    most = std::max(most, static_cast<PetscInt>(of_vector));
  }
  // All processes go the same way: another one has other reductions.
  PetscInt mine[] = {least, -most}, all[2];
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT, MPI_MIN, PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
  *where = all[0] == -all[1] ? static_cast<StepwiseOn>(all[0]) : StepwiseOn::nothing;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_cg_stepwise(KSP ksp, bool hermitian, StepwiseOn where, StepwiseSolver& keeps) {
  PetscFunctionBegin;
  const auto inner = hermitian ? passes::Inner::hermitian : passes::Inner::bilinear;
  const bool on_device = where == StepwiseOn::device;
  PetscInt n;
  if (on_device) PetscCall(begin_device_work(*device_backend()));
  PetscCall(guarded(PETSC_COMM_SELF, [&] {
    if (keeps.passes && keeps.where == where && keeps.hermitian == hermitian) return;
    keeps.passes = on_device ? passes_on_device(*device_backend(), inner) : passes_on_host(inner);
    keeps.where = where;
    keeps.hermitian = hermitian;
  }));
  PetscCall(VecGetLocalSize(ksp->work[0], &n));
  Loop l{.ksp = ksp,
         .inner = inner,
         .passes = *keeps.passes,
         .on_device = on_device,
         .A = nullptr,
         .x = ksp->vec_sol,
         .r = ksp->work[0],
         .z = ksp->work[1],
         .p = ksp->work[2],
         .d = nullptr,
         .n = static_cast<double>(n)};
  PetscCall(PCGetOperators(ksp->pc, &l.A, nullptr));
  PetscCall(diagonal_of(ksp, l.A, &l.d));
  PetscCall(residual_of_guess(ksp, l.A, l.r));
  const PetscErrorCode code = iterate(l);
  PetscCall(VecDestroy(&l.d));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
