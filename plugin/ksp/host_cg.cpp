#include "ksp/host_cg.hpp"

#include <algorithm>
#include <cmath>

#include "copies/placement.hpp"
#include "ksp/host_passes.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

const Scalar* scalars(const PetscScalar* v) { return reinterpret_cast<const Scalar*>(v); }
Scalar* scalars(PetscScalar* v) { return reinterpret_cast<Scalar*>(v); }
Scalar scalar(PetscScalar v) { return *scalars(&v); }

/// Vectors of PETSc's CG: R, Z (which W is, too) and P, and the diagonal of the preconditioner where it is one.
struct Loop {
  KSP ksp;
  bool hermitian;
  Mat A;
  Vec x, r, z, p, d;  ///< d: null where the preconditioner is applied by PETSc
  PetscInt n;
  PetscScalar rho = 0, alpha = 0;
  PetscReal norm = 0;

  /// Sums over all processes, of `count` numbers at once.
  template <std::size_t count>
  PetscErrorCode reduce(const std::array<Scalar, count>& mine, PetscScalar* all) const {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(mine.data(), all, count, MPIU_SCALAR, MPIU_SUM,
                               PetscObjectComm(reinterpret_cast<PetscObject>(ksp))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode take_norm(PetscScalar of_z, PetscScalar of_r) {
    PetscFunctionBegin;
    switch (ksp->normtype) {
      case KSP_NORM_UNPRECONDITIONED:
        norm = PetscSqrtReal(PetscRealPart(of_r));
        break;
      case KSP_NORM_NATURAL:
        norm = PetscSqrtReal(PetscAbsScalar(rho));
        break;
      case KSP_NORM_PRECONDITIONED:
        norm = PetscSqrtReal(PetscRealPart(of_z));
        break;
      default:
        norm = 0;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// r -= alpha w, z = M r, rho and the norm.
  PetscErrorCode step(PetscScalar by) {
    PetscFunctionBegin;
    PetscScalar all[3], *of_r, *of_z;
    const PetscScalar* of_d;
    if (d) {
      PetscCall(VecGetArray(r, &of_r));
      PetscCall(VecGetArray(z, &of_z));
      PetscCall(VecGetArrayRead(d, &of_d));
      const auto pass = hermitian ? passes::step_with_diagonal<true> : passes::step_with_diagonal<false>;
      const auto mine = pass(static_cast<std::size_t>(n), scalar(by), scalars(of_d), scalars(of_z), scalars(of_r));
      PetscCall(VecRestoreArrayRead(d, &of_d));
      PetscCall(VecRestoreArray(z, &of_z));
      PetscCall(VecRestoreArray(r, &of_r));
      PetscCall(PetscLogFlops(9.0 * static_cast<double>(n)));
      PetscCall(reduce(mine, all));
      rho = all[0];
      PetscCall(take_norm(all[1], all[2]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const PetscScalar* of_w;
    PetscCall(VecGetArray(r, &of_r));
    PetscCall(VecGetArrayRead(z, &of_w));
    const auto of_step = passes::step(static_cast<std::size_t>(n), scalar(by), scalars(of_w), scalars(of_r));
    PetscCall(VecRestoreArrayRead(z, &of_w));
    PetscCall(VecRestoreArray(r, &of_r));
    PetscCall(KSP_PCApply(ksp, r, z));
    const PetscScalar *read_r, *read_z;
    PetscCall(VecGetArrayRead(r, &read_r));
    PetscCall(VecGetArrayRead(z, &read_z));
    const auto pass = hermitian ? passes::dot_and_norm<true> : passes::dot_and_norm<false>;
    const auto mine = pass(static_cast<std::size_t>(n), scalars(read_r), scalars(read_z));
    PetscCall(VecRestoreArrayRead(z, &read_z));
    PetscCall(VecRestoreArrayRead(r, &read_r));
    PetscCall(PetscLogFlops(8.0 * static_cast<double>(n)));
    PetscCall(reduce(std::array{mine[0], mine[1], of_step[0]}, all));
    rho = all[0];
    PetscCall(take_norm(all[1], all[2]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x += alpha p, which is of the iteration before, p = z + beta p; w = A p, where z is; and p^H w.
  PetscErrorCode turn_and_multiply(PetscScalar of_x, PetscScalar beta, PetscScalar* curvature) {
    PetscFunctionBegin;
    PetscScalar *write_x, *write_p;
    const PetscScalar *read_z, *read_p;
    PetscCall(VecGetArrayRead(z, &read_z));
    PetscCall(VecGetArray(x, &write_x));
    PetscCall(VecGetArray(p, &write_p));
    passes::turn(static_cast<std::size_t>(n), scalar(of_x), scalar(beta), scalars(read_z), scalars(write_x),
                 scalars(write_p));
    PetscCall(VecRestoreArray(p, &write_p));
    PetscCall(VecRestoreArray(x, &write_x));
    PetscCall(VecRestoreArrayRead(z, &read_z));
    PetscCall(KSP_MatMult(ksp, A, p, z));
    PetscCall(VecGetArrayRead(p, &read_p));
    PetscCall(VecGetArrayRead(z, &read_z));
    const auto pass = hermitian ? passes::dot<true> : passes::dot<false>;
    const auto mine = pass(static_cast<std::size_t>(n), scalars(read_p), scalars(read_z));
    PetscCall(VecRestoreArrayRead(z, &read_z));
    PetscCall(VecRestoreArrayRead(p, &read_p));
    PetscCall(PetscLogFlops(6.0 * static_cast<double>(n)));
    PetscCall(reduce(mine, curvature));
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

}  // namespace

PetscErrorCode is_for_host(KSP ksp, bool* yes) {
  PetscFunctionBegin;
  *yes = true;
  for (Vec v : {ksp->vec_sol, ksp->vec_rhs, ksp->work[0]}) {
    bool there;
    PetscCall(is_on_device(v, &there));
    *yes = *yes && !there;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_cg_on_host(KSP ksp, bool hermitian) {
  PetscFunctionBegin;
  Loop l{ksp, hermitian, nullptr, ksp->vec_sol, ksp->work[0], ksp->work[1], ksp->work[2], nullptr, 0};
  PetscCall(PCGetOperators(ksp->pc, &l.A, nullptr));
  PetscCall(VecGetLocalSize(l.r, &l.n));
  PetscCall(diagonal_of(ksp, l.A, &l.d));
  if (ksp->guess_zero) {
    PetscCall(VecCopy(ksp->vec_rhs, l.r));
  } else {
    PetscCall(KSP_MatMult(ksp, l.A, l.x, l.r));
    PetscCall(VecAYPX(l.r, -1.0, ksp->vec_rhs));
  }
  const PetscErrorCode code = iterate(l);
  PetscCall(VecDestroy(&l.d));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
