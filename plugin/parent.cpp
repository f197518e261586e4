#include "parent.hpp"

namespace compound::plugin {

namespace {

/// `taken` is per process: the functions of a loaded libpetsc do not change between PetscInitialize calls.
PetscErrorCode take(MatType type, Parent& parent, bool& taken) {
  PetscFunctionBegin;
  if (taken) PetscFunctionReturn(PETSC_SUCCESS);
  Mat A;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetType(A, type));
  parent.ops = *A->ops;
  PetscCall(query(A, "MatSeqBAIJSetPreallocation_C", &parent.set_preallocation));
  PetscCall(query(A, "MatMPIBAIJSetPreallocation_C", &parent.set_mpi_preallocation));
  PetscCall(query(A, "MatSeqBAIJGetArray_C", &parent.get_array));
  PetscCall(query(A, "MatSeqBAIJRestoreArray_C", &parent.restore_array));
  PetscCall(query(A, "MatRetrieveValues_C", &parent.retrieve_values));
  PetscCall(MatDestroy(&A));
  taken = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode seq_parent(const Parent** parent) {
  static Parent seq;
  static bool taken = false;
  PetscFunctionBegin;
  PetscCall(take(MATSEQBAIJ, seq, taken));
  *parent = &seq;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_parent(const Parent** parent) {
  static Parent mpi;
  static bool taken = false;
  PetscFunctionBegin;
  PetscCall(take(MATMPIBAIJ, mpi, taken));
  *parent = &mpi;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_arrays(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  const Parent* parent;
  PetscCall(seq_parent(&parent));
  PetscCall(MatGetBlockSize(A, &b->block_size));
  PetscBool done = PETSC_FALSE;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &b->rows, &b->start, &b->column, &done));
  PetscCheck(done, comm_of(A), PETSC_ERR_PLIB, "The parent gives no block rows");
  b->cols = A->cmap->n / b->block_size;
  PetscScalar* values = nullptr;
  PetscCall(parent->get_array(A, &values));
  b->values = values;
  // Both accessors only lend pointers: giving them back would do nothing but raise the state.
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode arrays_with_values(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  PetscCall(block_arrays(A, b));
  PetscCheck(b->values || b->entries() == 0, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix has a pattern of %" PetscInt_FMT
             " blocks but no values (MAT_STRUCTURE_ONLY?); products need values",
             b->entries());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mpi_parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  PetscFunctionBegin;
  PetscCall(under_type_name(A, MATMPIBAIJ, [&] { return MatMPIBAIJGetSeqBAIJ(A, diagonal, off_diagonal, columns); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
