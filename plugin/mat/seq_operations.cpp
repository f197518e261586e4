#include "mat/seq_operations.hpp"

#include "mat/attach.hpp"
#include "mat/common_operations.hpp"
#include "mat/value_operations.hpp"
#include "spmv/refresh.hpp"

namespace compound::plugin {

PetscErrorCode seq_duplicate(Mat A, MatDuplicateOption option, Mat* B) {
  PetscFunctionBegin;
  SeqState *from, *to;
  PetscCall(seq_state(A, &from));
  const bool on_device = option == MAT_COPY_VALUES && from->matrix_values.are_guarded();
  const bool on_host = from->matrix_values.are_on_host(A);
  PetscCall(any_duplicate(A, on_device && !on_host ? MAT_DO_NOT_COPY_VALUES : option, B));
  PetscCall(seq_state(*B, &to));
  bool done = false;
  if (on_device) PetscCall(copy_to_device(A, *B, &done));
  if (done && on_host) to->matrix_values.host_has_them();
  if (on_device && !done && !on_host) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_concatenate(MPI_Comm comm, Mat A, PetscInt columns, MatReuse reuse, Mat* whole) {
  PetscFunctionBegin;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(need_host_values(A));
  PetscCall(base->creatempimatconcatenateseqmat(comm, A, columns, reuse, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_arrays_are_new(Mat A) {
  PetscFunctionBegin;
  PetscCall(install_again(A));
  // They may come to lie where the old ones were, and no state tells of them.
  SeqState* st;
  PetscCall(seq_state(A, &st));
  unguard(A, *st);
  st->matrix_values.discard();
  st->input.key = {};
  for (PackedCopy& copy : st->copies) copy.forget_arrays();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seq_values_changed(Mat A) { return PetscObjectStateIncrease(reinterpret_cast<PetscObject>(A)); }

}  // namespace compound::plugin
