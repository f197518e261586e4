// The parent types, MATSEQBAIJ and MATMPIBAIJ, as seen through public accessors: pristine operations, arrays, parts.
#pragma once

#include "pattern.hpp"
#include "petsc_guard.hpp"

namespace compound::plugin {

/// What a pristine matrix of a parent type does: the operations and composed functions that ours stand before.
struct Parent {
  _MatOps ops;
  PetscErrorCode (*set_preallocation)(Mat, PetscInt, PetscInt, const PetscInt*);  ///< seq only
  PetscErrorCode (*set_mpi_preallocation)(Mat, PetscInt, PetscInt, const PetscInt*, PetscInt,
                                          const PetscInt*);  ///< mpi only
  PetscErrorCode (*get_array)(Mat, PetscScalar**);           ///< seq only
  PetscErrorCode (*restore_array)(Mat, PetscScalar**);       ///< seq only
  PetscErrorCode (*retrieve_values)(Mat);
};

/// Taken once per process from an empty matrix of the type.
PetscErrorCode seq_parent(const Parent** parent);
PetscErrorCode mpi_parent(const Parent** parent);

/// A seqbaij's own arrays: block rows, columns, and values in blocks, each column-major.
struct BlockArrays {
  PetscInt rows = 0, cols = 0;  ///< in blocks
  PetscInt block_size = 1;
  const PetscInt* start = nullptr;
  const PetscInt* column = nullptr;
  const PetscScalar* values = nullptr;

  PetscInt entries() const { return rows > 0 ? start[rows] : 0; }
};

/// Without copy and without raising the object's state. `values` is null in a matrix without them
/// (MAT_STRUCTURE_ONLY).
PetscErrorCode block_arrays(Mat seqbaij, BlockArrays* arrays);
/// The same for what multiplies: no values are an error.
PetscErrorCode arrays_with_values(Mat seqbaij, BlockArrays* arrays);

/// Diagonal and off-diagonal part of an mpibaij or a descendant, and the global block columns of the latter.
///
/// PETSc's MatMPIBAIJGetSeqBAIJ() insists on the exact type name in every release, so the name is lent for the call.
PetscErrorCode mpi_parts(Mat A, Mat* diagonal, Mat* off_diagonal, const PetscInt** columns);

}  // namespace compound::plugin
