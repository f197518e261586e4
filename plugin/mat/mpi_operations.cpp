#include "mat/mpi_operations.hpp"

#include "mat/attach.hpp"
#include "options/options.hpp"
#include "spmv/mpi_state.hpp"
#include "spmv/refresh.hpp"
#include "spmv/vec_types.hpp"

namespace compound::plugin {

PetscErrorCode mpi_get_diagonal_block(Mat A, Mat* block) {
  PetscFunctionBegin;
  MpiState* st;
  Mat off;
  PetscCall(mpi_state(A, &st));
  PetscCall(read_options_once(A, st->settings));
  PetscCall(compound_parts(A, st, block, &off));
#if PetscDefined(HAVE_CUDA)
  VecType vectors;
  PetscCall(decide_vec_type(A, st->settings, Moment::making_vectors));  // as callers that ask for the block will
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(*block, vectors));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_set_option(Mat A, MatOption option, PetscBool on) {
  PetscFunctionBegin;
  MpiState* st;
  const _MatOps* base;
  PetscCall(mpi_state(A, &st));
  PetscCall(base_ops(A, &base));
  if (option == MAT_IGNORE_OFF_PROC_ENTRIES) st->ignores_others_rows = on;
  PetscCall(base->setoption(A, option, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_get_diagonal(Mat A, Vec v) {
  PetscFunctionBegin;
  Mat part;
  const _MatOps* base;
  PetscCall(base_ops(A, &base));
  PetscCall(mpi_get_diagonal_block(A, &part));
  PetscCall(base->getdiagonal(A, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
