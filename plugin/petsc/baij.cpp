#include "petsc/baij.hpp"

#include "petsccompound.h"

namespace compound::plugin {

namespace {

/// What MatSeqBAIJGetArray() or MatSeqSBAIJGetArray() calls, without what ours does before.
template <bool upper>
PetscErrorCode array_of(Mat A, PetscScalar** values) {
  static PetscErrorCode (*base)(Mat, PetscScalar**) = nullptr;
  PetscFunctionBegin;
  if (!base)
    PetscCall(upper ? query_type(MATSEQSBAIJ, "MatSeqSBAIJGetArray_C", &base)
                    : query_type(MATSEQBAIJ, "MatSeqBAIJGetArray_C", &base));
  PetscCall(base(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool upper>
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
  PetscCall(array_of<upper>(A, &values));
  b->values = values;
  // Both accessors only lend pointers: giving them back would do nothing but raise the state.
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's function insists on the exact type name in every release. Matrices of MPISBAIJ begin with the same fields.
PetscErrorCode parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  return under_type_name(A, MATMPIBAIJ, [&] { return MatMPIBAIJGetSeqBAIJ(A, diagonal, off_diagonal, columns); });
}

/// Each of PETSc's functions is for one of the two types and does nothing for the other.
template <auto set_seq, auto set_mpi>
PetscErrorCode set_lengths(Mat A, PetscInt bs, const PetscInt* diagonal, const PetscInt* off_diagonal) {
  PetscFunctionBegin;
  PetscCall(set_seq(A, bs, 0, diagonal));
  PetscCall(set_mpi(A, bs, 0, diagonal, 0, off_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* seq_converters[] = {"seqaij", "seqsbaij", "is", "hypre"};
constexpr const char* mpi_converters[] = {"mpiaij", "mpisbaij", "mpiadj", "is", "hypre"};
constexpr const char* seq_converters_of_upper[] = {"seqaij", "seqbaij", "elemental", "scalapack"};
constexpr const char* mpi_converters_of_upper[] = {"mpiaij", "mpibaij", "elemental", "scalapack"};

}  // namespace

const BaseType baij = {
    .root = MATBAIJCOMPOUND,
    .seq = {MATSEQBAIJ, MATSEQBAIJCOMPOUND, seq_converters},
    .mpi = {MATMPIBAIJ, MATMPIBAIJCOMPOUND, mpi_converters},
    .keeps_blocks = true,
    .arrays = arrays<false>,
    .get_array = MatSeqBAIJGetArray,
    .restore_array = MatSeqBAIJRestoreArray,
    .parts = parts,
    .set_lengths = set_lengths<MatSeqBAIJSetPreallocation, MatMPIBAIJSetPreallocation>,
    .set_columns = MatSeqBAIJSetColumnIndices,
};

const BaseType sbaij = {
    .root = MATSBAIJCOMPOUND,
    .seq = {MATSEQSBAIJ, MATSEQSBAIJCOMPOUND, seq_converters_of_upper},
    .mpi = {MATMPISBAIJ, MATMPISBAIJCOMPOUND, mpi_converters_of_upper},
    .keeps_blocks = true,
    .keeps_upper = true,
    .arrays = arrays<true>,
    .get_array = MatSeqSBAIJGetArray,
    .restore_array = MatSeqSBAIJRestoreArray,
    .parts = parts,
    .set_lengths = set_lengths<MatSeqSBAIJSetPreallocation, MatMPISBAIJSetPreallocation>,
    .set_columns = MatSeqSBAIJSetColumnIndices,
};

}  // namespace compound::plugin
