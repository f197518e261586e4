/* Distributed matrices of square blocks, preallocated row by row, and their vectors */
#pragma once

#include <petscmat.h>

/* The numbers first ... first + count - 1, of block rows, which are this rank's */
typedef struct {
  PetscInt first, count;
} Range;

static inline PetscBool Contains(Range own, PetscInt i) {
  return (PetscBool)(i >= own.first && i < own.first + own.count);
}

/* Gives the ranks, in their order, `count` numbers each. */
PetscErrorCode RangeCreate(PetscInt count, Range* own);

/* Blocks of each own row: of own columns, of other ranks' columns; and the same on and right of the diagonal, which
   sbaij asks for */
typedef struct {
  PetscInt *own, *other, *own_upper, *other_upper;
} BlockCounts;

/* Counts of so many rows, zero. */
PetscErrorCode BlockCountsCreate(PetscInt rows, BlockCounts* counts);

/* Counts the block (row, column), global numbers; the row is of this rank. */
static inline void CountBlock(Range own, PetscInt row, PetscInt column, const BlockCounts* counts) {
  (Contains(own, column) ? counts->own : counts->other)[row - own.first]++;
  if (column >= row) (Contains(own, column) ? counts->own_upper : counts->other_upper)[row - own.first]++;
}

/* A square matrix of blocks: of the given type (NULL: PETSc's default) unless -PREFIXmat_type says otherwise. */
PetscErrorCode BlockMatrixCreate(PetscInt block_size, Range own, const char prefix[], MatType type, Mat* A);

/* Makes room for so many blocks in each row, and destroys the counts.  Ranks must then set their own rows alone.
   sbaij drops what is set left of the diagonal. */
PetscErrorCode BlockMatrixPreallocate(Mat A, BlockCounts* counts);

/* The same by coordinates of n blocks, global numbers: a negative row is ignored, and blocks may come again.  Types of
   petsc-compound take them as they are, others as scalars. */
PetscErrorCode BlockMatrixSetCoordinates(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]);

/* The values of these blocks, each by rows, in the memory of the host or of a GPU: A is assembled with their sums. */
PetscErrorCode BlockMatrixSetValues(Mat A, const PetscScalar values[]);

/* Prints type, number of unknowns (of `scalars` numbers each) and number of stored blocks, after which comes `of`. */
PetscErrorCode BlockMatrixReport(Mat A, PetscInt scalars, const char of[]);

/* The whole of a distributed vector: on every rank, or on rank 0 (others: an empty one). */
PetscErrorCode VectorGather(Vec v, PetscBool everywhere, Vec* all);
