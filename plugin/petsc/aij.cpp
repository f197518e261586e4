#include "petsc/aij.hpp"

#include "petsc/aij_arrays.hpp"
#include "petsccompound.h"

namespace compound::plugin {

namespace {

/// Not by MatGetRowIJ(), which may tell of groups of equal rows (inodes).
PetscErrorCode arrays(Mat A, BlockArrays* b) {
  PetscFunctionBegin;
  const PetscInt *start = nullptr, *column = nullptr;
  PetscScalar* values = nullptr;
  PetscCall(aij_arrays(A, &start, &column, &values));
  b->rows = start ? A->rmap->n : 0;  // PETSc frees the arrays of some operands before these
  b->cols = A->cmap->n;
  b->start = start;
  b->column = column;
  b->values = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns) {
  return MatMPIAIJGetSeqAIJ(A, diagonal, off_diagonal, columns);
}

/// Each of PETSc's functions is for one of the two types and does nothing for the other.
PetscErrorCode set_lengths(Mat A, PetscInt, const PetscInt* diagonal, const PetscInt* off_diagonal) {
  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocation(A, 0, diagonal));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, diagonal, 0, off_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* seq_converters[] = {"seqbaij", "seqsbaij",  "seqsell",   "seqdense",
                                          "is",      "elemental", "scalapack", "hypre"};
constexpr const char* seq_siblings[] = {"seqaijperm",   "seqaijsell",     "seqaijmkl",       "seqaijcrl",
                                        "seqaijkokkos", "seqaijcusparse", "seqaijhipsparse", "seqaijviennacl"};
constexpr const char* mpi_converters[] = {"mpibaij", "mpisbaij",  "mpisell",   "mpidense",
                                          "is",      "elemental", "scalapack", "hypre"};
constexpr const char* mpi_siblings[] = {"mpiaijperm",   "mpiaijsell",     "mpiaijmkl",       "mpiaijcrl",
                                        "mpiaijkokkos", "mpiaijcusparse", "mpiaijhipsparse", "mpiaijviennacl"};

}  // namespace

const BaseType aij = {
    .root = MATAIJCOMPOUND,
    .seq = {MATSEQAIJ, MATSEQAIJCOMPOUND, seq_converters, seq_siblings},
    .mpi = {MATMPIAIJ, MATMPIAIJCOMPOUND, mpi_converters, mpi_siblings},
    .keeps_blocks = false,
    .arrays = arrays,
    .get_array = MatSeqAIJGetArray,
    .restore_array = MatSeqAIJRestoreArray,
    .parts = parts,
    .set_lengths = set_lengths,
    .set_columns = MatSeqAIJSetColumnIndices,
};

}  // namespace compound::plugin
