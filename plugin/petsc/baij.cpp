#include "petsc/baij.hpp"

#include "petsccompound.h"

namespace compound::plugin {

namespace {

/// What MatSeqBAIJGetArray() calls, without what ours does before.
PetscErrorCode array_of(Mat A, PetscScalar** values) {
  static PetscErrorCode (*base)(Mat, PetscScalar**) = nullptr;
  PetscFunctionBegin;
  if (!base) PetscCall(query_type(MATSEQBAIJ, "MatSeqBAIJGetArray_C", &base));
  PetscCall(base(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode arrays(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  PetscInt bs;
  PetscCall(MatGetBlockSize(A, &bs));
  b->block = {static_cast<int>(bs), static_cast<int>(bs)};
  PetscBool done = PETSC_FALSE;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &b->rows, &b->start, &b->column, &done));
  PetscCheck(done, comm_of(A), PETSC_ERR_PLIB, "The base type gives no block rows");
  b->cols = A->cmap->n / bs;
  PetscScalar* values = nullptr;
  PetscCall(array_of(A, &values));
  b->values = values;
  // Both accessors only lend pointers: giving them back would do nothing but raise the state.
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's function insists on the exact type name in every release.
PetscErrorCode parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  return under_type_name(A, MATMPIBAIJ, [&] { return MatMPIBAIJGetSeqBAIJ(A, diagonal, off_diagonal, columns); });
}

/// Each of PETSc's functions is for one of the two types and does nothing for the other.
PetscErrorCode set_lengths(Mat A, PetscInt bs, const PetscInt* diagonal, const PetscInt* off_diagonal) {
  PetscFunctionBegin;
  PetscCall(MatSeqBAIJSetPreallocation(A, bs, 0, diagonal));
  PetscCall(MatMPIBAIJSetPreallocation(A, bs, 0, diagonal, 0, off_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* seq_converters[] = {"seqaij", "seqsbaij", "is", "hypre"};
constexpr const char* mpi_converters[] = {"mpiaij", "mpisbaij", "mpiadj", "is", "hypre"};

}  // namespace

const BaseType baij = {
    .root = MATBAIJCOMPOUND,
    .seq = {MATSEQBAIJ, MATSEQBAIJCOMPOUND, seq_converters},
    .mpi = {MATMPIBAIJ, MATMPIBAIJCOMPOUND, mpi_converters},
    .keeps_blocks = true,
    .arrays = arrays,
    .get_array = MatSeqBAIJGetArray,
    .restore_array = MatSeqBAIJRestoreArray,
    .parts = parts,
    .set_lengths = set_lengths,
    .set_columns = MatSeqBAIJSetColumnIndices,
};

}  // namespace compound::plugin
