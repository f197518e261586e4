#include "block_matrix.h"

PetscErrorCode RangeCreate(PetscInt count, Range* own) {
  PetscFunctionBeginUser;
  own->count = count;
  PetscCallMPI(MPI_Scan(&own->count, &own->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  own->first -= count;
  PetscFunctionReturn(0);
}

PetscErrorCode BlockCountsCreate(PetscInt rows, BlockCounts* c) {
  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(rows, &c->own, rows, &c->other, rows, &c->own_upper, rows, &c->other_upper));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixCreate(PetscInt block_size, Range own, const char prefix[], MatType type, Mat* A) {
  const PetscInt n = block_size * own.count;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, block_size));
  if (type) PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixPreallocate(Mat A, BlockCounts* c) {
  PetscInt block_size;
  PetscBool sbaij;

  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(A, &block_size));
  PetscCall(MatXAIJSetPreallocation(A, block_size, c->own, c->other, c->own_upper, c->other_upper));
  PetscCall(PetscFree4(c->own, c->other, c->own_upper, c->other_upper));
  PetscCall(MatSetUp(A)); /* for types without preallocation */
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &sbaij, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (sbaij) PetscCall(MatSetOption(A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* A function of the plugin, for its types; else null */
static PetscErrorCode FindOfPlugin(Mat A, const char name[], void** function) {
  MatType type;
  char* compound;

  PetscFunctionBeginUser;
  *function = NULL;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrstr(type, "compound", &compound));
  if (compound) PetscCall(PetscDLLibrarySym(PETSC_COMM_SELF, &PetscDLLibrariesLoaded, NULL, name, function));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixSetCoordinates(Mat A, PetscCount n, PetscInt rows[], PetscInt columns[]) {
  PetscErrorCode (*of_blocks)(Mat, PetscCount, const PetscInt[], const PetscInt[]);
  PetscInt bs, *i, *j;
  PetscCount words;

  PetscFunctionBeginUser;
  PetscCall(FindOfPlugin(A, "MatCompoundSetPreallocationCOO", (void**)&of_blocks));
  if (of_blocks) {
    PetscCall(of_blocks(A, n, rows, columns));
    PetscFunctionReturn(0);
  }
  PetscCall(MatGetBlockSize(A, &bs));
  words = (PetscCount)bs * bs;
  PetscCall(PetscMalloc2(n * words, &i, n * words, &j));
  for (PetscCount k = 0; k < n * words; k++) {
    const PetscInt row = rows[k / words];

    i[k] = row < 0 ? -1 : row * bs + (PetscInt)(k % words / bs);
    j[k] = columns[k / words] * bs + (PetscInt)(k % bs);
  }
  PetscCall(MatSetPreallocationCOO(A, n * words, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixSetValues(Mat A, const PetscScalar values[]) {
  PetscErrorCode (*of_blocks)(Mat, const PetscScalar[], InsertMode);

  PetscFunctionBeginUser;
  PetscCall(FindOfPlugin(A, "MatCompoundSetValuesCOO", (void**)&of_blocks));
  PetscCall(of_blocks ? of_blocks(A, values, INSERT_VALUES) : MatSetValuesCOO(A, values, INSERT_VALUES));
  PetscFunctionReturn(0);
}

PetscErrorCode BlockMatrixReport(Mat A, PetscInt scalars, const char of[]) {
  PetscInt n, block_size;
  MatInfo info;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetBlockSize(A, &block_size));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix type: %s\nunknowns: %" PetscInt_FMT "\nblocks: %.0f%s\n", type,
                        n / scalars, info.nz_used / (block_size * block_size), of));
  PetscFunctionReturn(0);
}

PetscErrorCode VectorGather(Vec v, PetscBool everywhere, Vec* all) {
  VecScatter scatter;

  PetscFunctionBeginUser;
  if (everywhere)
    PetscCall(VecScatterCreateToAll(v, &scatter, all));
  else
    PetscCall(VecScatterCreateToZero(v, &scatter, all));
  PetscCall(VecScatterBegin(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(0);
}
