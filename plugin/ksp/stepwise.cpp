#include "ksp/stepwise.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>

#include "ksp/watched.hpp"
#include "petsc/agree.hpp"
#include "spmv/placement.hpp"

namespace compound::plugin {

PetscErrorCode Steps::run(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers,
                          PassSums* sums) const {
  PetscFunctionBegin;
  PassSums mine{};
  PetscCall(on.passes->run(pass, vectors, numbers, &mine));
  const double flops = flops_of(ksp, pass, vectors[0] != nullptr, numbers) * static_cast<double>(scalars);
  if (on.where == StepwiseOn::device && PetscDefined(HAVE_DEVICE))
    PetscCall(PetscLogGpuFlops(flops));
  else
    PetscCall(PetscLogFlops(flops));
  if (sums)
    PetscCallMPI(MPI_Allreduce(mine.data(), sums->data(), most_pass_sums, MPIU_SCALAR, MPIU_SUM, comm_of_solver(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int flops_of(KSP ksp, VectorPass pass, bool has_first, const PassNumbers& numbers) {
  const PassRow& row = row_of(pass);
  const bool has_norm = ksp->normtype == KSP_NORM_PRECONDITIONED || ksp->normtype == KSP_NORM_UNPRECONDITIONED;
  int flops = row.flops + (has_norm ? row.flops_of_norm : 0);
  if (row.preconditions && has_first) flops += row.flops_of_diagonal;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != PetscScalar(0)) flops += row.flops_of_numbers[i];
  return flops;
}

namespace {

/// PCSetDiagonalScale(), which later releases of PETSc have no more.
template <class PetscPC>
bool is_scaled(PetscPC pc) {
  if constexpr (requires { pc->diagonalscale; })
    return pc->diagonalscale;
  else
    return false;
}

/// Leaves `where` as it is for vectors that are in neither memory.
PetscErrorCode where_is(Vec v, StepwiseOn* where) {
  PetscFunctionBegin;
  const PetscScalar* array;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &memory));
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
  if (PetscMemTypeHost(memory))
    *where = StepwiseOn::host;
  else if (PetscMemTypeCUDA(memory) && device_backend())
    *where = StepwiseOn::device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `keeps` for vectors that lie there, or nothing where that cannot be.
PetscErrorCode make_passes(bool hermitian, StepwiseSolver& keeps, StepwiseOn* where) {
  PetscFunctionBegin;
  if (*where == StepwiseOn::nothing || (keeps.passes && keeps.where == *where && keeps.hermitian == hermitian))
    PetscFunctionReturn(PETSC_SUCCESS);
  keeps.passes.reset();
  if (*where == StepwiseOn::host) {
    PetscCall(guarded(PETSC_COMM_SELF, [&] { keeps.passes = passes_on_host(hermitian); }));
  } else {
    PetscCall(begin_device_work(*device_backend()));
    try {
      keeps.passes = passes_on_device(*device_backend(), keeps.form->passes, hermitian);
    } catch (const std::bad_alloc&) {
      keeps.why_not = "the device's memory is full";
    } catch (const std::exception& e) {
      keeps.why_not = std::string("the device runs no passes over vectors: ") + e.what();
    }
    if (!keeps.passes) *where = StepwiseOn::nothing;
  }
  keeps.where = *where;
  keeps.hermitian = hermitian;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode has_diagonal(KSP ksp, bool* yes) {
  PetscFunctionBegin;
  Mat A;
  PetscBool jacobi;
  MatNullSpace null_space;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), PCJACOBI, &jacobi));
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  PetscCall(MatGetNullSpace(A, &null_space));
  *yes = jacobi && !is_scaled(ksp->pc) && !null_space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_diagonal(KSP ksp, Vec d) {
  PetscFunctionBegin;
  PetscCall(VecSet(ksp->work[1], 1.0));
  PetscCall(PCApply(ksp->pc, ksp->work[1], d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// More like those of the set-up: KSPSetWorkVecs() would make all anew, like the solution of a solve, which may have no
/// blocks. And none of the old is destroyed, where memory may end, too.
PetscErrorCode have_work_vectors(KSP ksp, PetscInt wanted) {
  PetscFunctionBegin;
  if (ksp->nwork >= wanted) PetscFunctionReturn(PETSC_SUCCESS);
  Vec* vectors = nullptr;
  const PetscErrorCode here = PetscCalloc1(wanted, &vectors);
  // Before vectors are made: all processes count these alike.
  PetscErrorCode code = share_error(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), here);
  for (PetscInt k = ksp->nwork; !code && k < wanted; ++k) code = VecDuplicate(ksp->work[0], &vectors[k]);
  if (code) {
    for (PetscInt k = ksp->nwork; vectors && k < wanted; ++k) static_cast<void>(VecDestroy(&vectors[k]));
    static_cast<void>(PetscFree(vectors));
    PetscCall(code);
  }
  std::copy(ksp->work, ksp->work + ksp->nwork, vectors);
  PetscCall(PetscFree(ksp->work));
  ksp->work = vectors;
  ksp->nwork = wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_steps(KSP ksp, bool hermitian, StepwiseSolver& keeps, StepwiseOn* where) {
  PetscFunctionBegin;
  // The diagonal is a work vector, too: one of a solve's own would be destroyed in each, where that may fail.
  PetscCall(has_diagonal(ksp, &keeps.has_diagonal));
  const PetscInt vectors = keeps.form->vectors + (keeps.has_diagonal ? 1 : 0);
  PetscCall(have_work_vectors(ksp, vectors));
  PetscInt least = static_cast<PetscInt>(StepwiseOn::device), most = 0;
  for (Vec v : {ksp->vec_sol, ksp->vec_rhs, ksp->work[0]}) {
    StepwiseOn of_vector = StepwiseOn::nothing;
    PetscCall(where_is(v, &of_vector));
    least = std::min(least, static_cast<PetscInt>(of_vector));
    most = std::max(most, static_cast<PetscInt>(of_vector));
  }
  StepwiseOn mine = least == most ? static_cast<StepwiseOn>(least) : StepwiseOn::nothing;
  keeps.why_not = least != most                 ? "some of the solve's vectors are on the host, others on the device"
                  : mine == StepwiseOn::nothing ? "the solve's vectors are on another device than products"
                                                : "another process cannot do what this one can";

  const PetscErrorCode code = guarded(PETSC_COMM_SELF, [&] { return make_passes(hermitian, keeps, &mine); });
  // All processes go the same way: another one has other reductions.
  const PetscInt ends[] = {static_cast<PetscInt>(mine), -static_cast<PetscInt>(mine), -static_cast<PetscInt>(code)};
  PetscInt all[3];
  PetscCallMPI(MPI_Allreduce(ends, all, 3, MPIU_INT, MPI_MIN, comm_of_solver(ksp)));
  PetscCall(report_error(comm_of_solver(ksp), code, static_cast<PetscErrorCode>(-all[2])));
  *where = all[0] == -all[1] ? static_cast<StepwiseOn>(all[0]) : StepwiseOn::nothing;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_stepwise(KSP ksp, StepwiseSolver& keeps, Lanczos& lanczos) {
  PetscFunctionBegin;
  Steps steps{.ksp = ksp, .on = keeps};
  PetscCall(VecGetLocalSize(ksp->work[0], &steps.scalars));
  PetscCall(PCGetOperators(ksp->pc, &steps.A, nullptr));
  if (keeps.has_diagonal) PetscCall(take_diagonal(ksp, steps.d = ksp->work[keeps.form->vectors]));
  PetscCall(first_residual(ksp, keeps.form->first_preconditioned, steps.A, ksp->work[0]));
  PetscCall((*keeps.form->iterate)(steps, lanczos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
