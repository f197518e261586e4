// The functions by which PETSc hands out the values array of a SeqAIJ matrix, and ours in their place.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// What MatSeqAIJGetArray() and its kin call, where it is not null, instead of handing out the array. PETSc has this
/// table for its own types on devices, in the data of a matrix, and does not install its declaration.
struct AijArrayFunctions {
  PetscErrorCode (*get)(Mat, PetscScalar**);
  PetscErrorCode (*restore)(Mat, PetscScalar**);
  PetscErrorCode (*get_read)(Mat, const PetscScalar**);
  PetscErrorCode (*restore_read)(Mat, const PetscScalar**);
  PetscErrorCode (*get_write)(Mat, PetscScalar**);
  PetscErrorCode (*restore_write)(Mat, PetscScalar**);
  PetscErrorCode (*get_csr)(Mat, const PetscInt**, const PetscInt**, PetscScalar**, PetscMemType*);
};

/// The table of a SeqAIJ matrix, which is all null in a matrix of that very type; null where this PETSc has it
/// elsewhere than it is looked for. Found once, by trying on an empty matrix which place each of PETSc's functions
/// looks at.
PetscErrorCode aij_array_functions(Mat seq, AijArrayFunctions** table);

/// MatSeqAIJGetCSRAndMemType() of the host's arrays, whatever the table has.
PetscErrorCode aij_arrays(Mat seq, const PetscInt** start, const PetscInt** column, PetscScalar** values);

}  // namespace compound::plugin
