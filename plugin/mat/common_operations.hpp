// Operations that matrices of ours have alike on one process and on several.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

PetscErrorCode any_set_from_options(Mat A);
PetscErrorCode any_assembly_begin(Mat A, MatAssemblyType mode);
PetscErrorCode any_assembly_end(Mat A, MatAssemblyType mode);
PetscErrorCode any_view(Mat A, PetscViewer viewer);
PetscErrorCode any_duplicate(Mat A, MatDuplicateOption option, Mat* B);
PetscErrorCode any_transpose(Mat A, MatReuse reuse, Mat* B);

/// Of a base type with blocks, which cannot cut them.
PetscErrorCode any_create_submatrix(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B);
/// Of a base type that keeps one triangle.
PetscErrorCode create_submatrix_of_upper(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B);
PetscErrorCode create_submatrices_of_upper(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                           Mat* B[]);
PetscErrorCode any_permute(Mat A, IS rows, IS cols, Mat* B);

/// Of one without: the base type's own, with this matrix's settings and type of vectors. On one process it has no such
/// operation: PETSc then takes the first of several.
PetscErrorCode seq_create_submatrix_of_scalars(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B);
PetscErrorCode mpi_create_submatrix_of_scalars(Mat A, IS rows, IS cols, MatReuse reuse, Mat* B);
PetscErrorCode mpi_create_submatrices_of_scalars(Mat A, PetscInt n, const IS rows[], const IS cols[], MatReuse reuse,
                                                 Mat* B[]);

#if PetscDefined(HAVE_CUDA)
PetscErrorCode any_get_vecs(Mat A, Vec* right, Vec* left);
PetscErrorCode any_set_up_coloring(Mat A, ISColoring colors, MatFDColoring coloring);
PetscErrorCode any_bind(Mat A, PetscBool bound);
#endif

}  // namespace compound::plugin
