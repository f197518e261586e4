#include "ksp/host_cg.hpp"

#include <array>

#include "copies/placement.hpp"
#include "ksp/host_passes.hpp"
#include "ksp/watched.hpp"

namespace compound::plugin {

namespace {

const Scalar* scalars(const PetscScalar* v) { return reinterpret_cast<const Scalar*>(v); }
Scalar* scalars(PetscScalar* v) { return reinterpret_cast<Scalar*>(v); }
Scalar scalar(PetscScalar v) { return *scalars(&v); }

/// Arrays of vectors, which are not one another, for a pass.
class Arrays {
 public:
  explicit Arrays(PetscErrorCode* code) : code_(code) {}
  Arrays(const Arrays&) = delete;
  ~Arrays() {
    while (count_ > 0) {
      auto& [v, array, written] = taken_[--count_];
      const PetscScalar* const read = array;
      note(written ? VecRestoreArray(v, &array) : VecRestoreArrayRead(v, const_cast<const PetscScalar**>(&read)));
    }
  }
  const Scalar* read(Vec v) {
    const PetscScalar* array = nullptr;
    note(VecGetArrayRead(v, &array));
    taken_[count_++] = {v, const_cast<PetscScalar*>(array), false};
    return scalars(array);
  }
  Scalar* write(Vec v) {
    PetscScalar* array = nullptr;
    note(VecGetArray(v, &array));
    taken_[count_++] = {v, array, true};
    return scalars(array);
  }

 private:
  struct Taken {
    Vec v;
    PetscScalar* array;
    bool written;
  };
  void note(PetscErrorCode code) {
    if (!*code_) *code_ = code;
  }
  PetscErrorCode* code_;
  std::array<Taken, 3> taken_;
  int count_ = 0;
};

/// Vectors of PETSc's CG: R, Z (which W is, too) and P, and the diagonal of the preconditioner where it is one.
struct Loop {
  KSP ksp;
  passes::Inner inner;
  Mat A;
  Vec x, r, z, p, d;  ///< d: null where the preconditioner is applied by PETSc
  std::size_t n;
  PetscScalar rho = 0;
  PetscReal norm = 0;

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
    PetscErrorCode code = PETSC_SUCCESS;
    passes::StepSums mine;
    if (d) {
      Arrays a(&code);
      mine = passes::step_with_diagonal(n, scalar(alpha), a.read(d), a.write(z), a.write(r), inner);
    } else {
      PetscCall(VecAXPY(r, -alpha, z));
      PetscCall(KSP_PCApply(ksp, r, z));
      Arrays a(&code);
      mine = passes::sums(n, a.read(z), a.read(r), inner);
    }
    PetscCall(code);
    PetscCall(PetscLogFlops((d ? 9.0 : 6.0) * static_cast<double>(n)));
    PetscCall(take(mine));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x += alpha p, which is of the iteration before, p = z + beta p; w = A p, where z is; and p^H w.
  PetscErrorCode turn_and_multiply(PetscScalar alpha, PetscScalar beta, PetscScalar* curvature) {
    PetscFunctionBegin;
    PetscErrorCode code = PETSC_SUCCESS;
    {
      Arrays a(&code);
      passes::turn(n, scalar(alpha), scalar(beta), a.read(z), a.write(x), a.write(p));
    }
    PetscCall(code);
    PetscCall(PetscLogFlops(4.0 * static_cast<double>(n)));
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
  Loop l{ksp,
         hermitian ? passes::Inner::hermitian : passes::Inner::bilinear,
         nullptr,
         ksp->vec_sol,
         ksp->work[0],
         ksp->work[1],
         ksp->work[2],
         nullptr,
         0};
  PetscInt n;
  PetscCall(PCGetOperators(ksp->pc, &l.A, nullptr));
  PetscCall(VecGetLocalSize(l.r, &n));
  l.n = static_cast<std::size_t>(n);
  PetscCall(diagonal_of(ksp, l.A, &l.d));
  PetscCall(residual_of_guess(ksp, l.A, l.r));
  const PetscErrorCode code = iterate(l);
  PetscCall(VecDestroy(&l.d));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
