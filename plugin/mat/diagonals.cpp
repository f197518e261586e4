#include "mat/diagonals.hpp"

#if PetscDefined(HAVE_CUDA)

#include <algorithm>
#include <iterator>

#include "options/options.hpp"
#include "spmv/refresh.hpp"
#include "spmv/state.hpp"
#include "spmv/vec_types.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

/// The copy on the device, made ready, if there is one, or must be, and it can tell the diagonal in full precision;
/// else null.
PetscErrorCode copy_for_diagonal(Mat A, SeqState* st, Vec diagonal, const PackedMatrix** packed) {
  PetscFunctionBegin;
  MemorySpace space;
  *packed = nullptr;
  PetscCall(space_of_product(A, st->settings, diagonal, &space));
  if (space == MemorySpace::host || A->rmap->n != A->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  // For one diagonal it is not made: graphs of multigrid have no products.
  if (!st->copy(MemorySpace::device).packed() && st->matrix_values.are_on_host(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_ready(A, st, Op::none, &space));
  const PackedCopy& copy = st->copy(MemorySpace::device);
  if (space == MemorySpace::device && !copy.must_not_be_used() && copy.has_diagonal() &&
      copy.packed()->plan().values == copy.packed()->problem().scalar.precision)
    *packed = copy.packed();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of each base type, in the order of `base_types`.
decltype(_MatOps::sor) base_sors[std::size(base_types)] = {};

auto& base_sor(const BaseType& of) { return base_sors[std::ranges::find(base_types, &of) - base_types]; }

PetscErrorCode sor(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt local_its,
                   Vec x) {
  PetscFunctionBegin;
  PetscCall(base_sor(*type_of_matrix(A).base_type)(A, b, omega, type, shift, its, local_its, x));
  PetscCall(report_host_work(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void follow_sor(Mat A, const BaseType& of) {
  if (!A->ops->sor || A->ops->sor == for_petsc<sor>) return;
  base_sor(of) = A->ops->sor;
  A->ops->sor = for_petsc<sor>;
}

void leave_sor(Mat A, const BaseType& of) {
  if (A->ops->sor == for_petsc<sor>) A->ops->sor = base_sor(of);
}

PetscErrorCode seq_get_diagonal(Mat A, Vec v) {
  PetscFunctionBegin;
  SeqState* st;
  const PackedMatrix* packed;
  bool done = false;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(seq_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(copy_for_diagonal(A, st, v, &packed));
  if (packed) {
    DeviceVector to;
    PetscCall(to.take(v, Access::write, packed->backend(), st->buffers[2], &done));
    if (done) PetscCall(guarded_memory(comm_of(A), &done, [&] { packed->diagonal(to.data()); }));
    PetscCall(to.give_back(done));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(need_host_values(A));
  PetscCall(base->getdiagonal(A, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode report_host_work(Mat A) {
  PetscFunctionBegin;
  SeqState* st;
  bool device = false;
  PetscCall(seq_state(A, &st));
  if (st->reported_host_work || is_bound(A) || !device_backend()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(has_device_vectors(A, &device));
  // Preconditioners may come before the first product, which makes the copy.
  device = device || st->copy(MemorySpace::device).packed() || st->settings.backend == BackendChoice::cuda;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  st->reported_host_work = true;
  PetscCall(PetscInfo(A,
                      "A preconditioner works on the host under a matrix whose products run on the device: "
                      "-pc_type jacobi and pbjacobi stay on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin

#endif
