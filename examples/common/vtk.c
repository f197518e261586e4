#include "vtk.h"

#include <stdio.h>

#include "block_matrix.h"

static PetscErrorCode Open(const char option[], const char path[], const char type[], FILE** file) {
  PetscFunctionBeginUser;
  *file = fopen(path, "w");
  PetscCheck(*file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot write the file %s", option, path);
  fprintf(*file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"0.1\">\n<%s", type, type);
  PetscFunctionReturn(0);
}

static PetscErrorCode Close(const char option[], const char path[], const char type[], FILE* file) {
  PetscFunctionBeginUser;
  fprintf(file, "</Piece>\n</%s>\n</VTKFile>\n", type);
  PetscCheck(!ferror(file) && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
             "%s: writing %s failed; is the disk full?", option, path);
  PetscFunctionReturn(0);
}

/* n numbers, `width` a line */
static void WriteNumbers(FILE* file, const char type[], const char name[], PetscInt n, PetscInt width,
                         const PetscScalar values[]) {
  fprintf(file, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
  if (type[0] == 'F') fprintf(file, " NumberOfComponents=\"%d\"", (int)width);
  fprintf(file, " format=\"ascii\">\n");
  for (PetscInt i = 0; i < n; i++)
    fprintf(file, "%.10g%c", (double)PetscRealPart(values[i]), (i + 1) % width ? ' ' : '\n');
  fprintf(file, "</DataArray>\n");
}

/* Gathers and writes a vector; file is NULL but on rank 0. */
static PetscErrorCode WriteVector(FILE* file, const char type[], const char name[], PetscInt width, Vec v) {
  const PetscScalar* values;
  PetscInt n;
  Vec all;

  PetscFunctionBeginUser;
  PetscCall(VectorGather(v, PETSC_FALSE, &all));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &values));
  if (file) WriteNumbers(file, type, name, n, width, values);
  PetscCall(VecRestoreArrayRead(all, &values));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

/* Where each cell's corners end, and its kind: VTK_TETRA is 10, VTK_HEXAHEDRON 12 */
static void WriteKinds(FILE* file, PetscInt ncell, PetscInt corners) {
  fprintf(file, "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
  for (PetscInt i = 1; i <= ncell; i++) fprintf(file, "%" PetscInt_FMT "\n", i * corners);
  fprintf(file, "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
  for (PetscInt i = 0; i < ncell; i++) fprintf(file, "%d\n", corners == 4 ? 10 : 12);
  fprintf(file, "</DataArray>\n");
}

PetscErrorCode VtkWriteMesh(const char option[], const char path[], Vec points, PetscInt corners, Vec cells,
                            const char name[], Vec field) {
  PetscInt npoint, ncell;
  PetscMPIInt rank;
  FILE* file = NULL;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(points, &npoint));
  PetscCall(VecGetSize(cells, &ncell));
  npoint /= 3;
  ncell /= corners;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(Open(option, path, "UnstructuredGrid", &file));
  if (file)
    fprintf(file, ">\n<Piece NumberOfPoints=\"%" PetscInt_FMT "\" NumberOfCells=\"%" PetscInt_FMT "\">\n<Points>\n",
            npoint, ncell);
  PetscCall(WriteVector(file, "Float64", "Points", 3, points));
  if (file) fprintf(file, "</Points>\n<PointData Vectors=\"%s\">\n", name);
  PetscCall(WriteVector(file, "Float64", name, 3, field));
  if (file) fprintf(file, "</PointData>\n<Cells>\n");
  PetscCall(WriteVector(file, "Int64", "connectivity", corners, cells));
  if (!file) PetscFunctionReturn(0);
  WriteKinds(file, ncell, corners);
  fprintf(file, "</Cells>\n");
  PetscCall(Close(option, path, "UnstructuredGrid", file));
  PetscFunctionReturn(0);
}

PetscErrorCode VtkWriteImage(const char option[], const char path[], const PetscInt c[3], const PetscReal spacing[3],
                             const char name[], PetscInt width, const PetscScalar values[]) {
  char extent[64];
  FILE* file;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(extent, sizeof(extent), "0 %d 0 %d 0 %d", (int)c[0], (int)c[1], (int)c[2]));
  PetscCall(Open(option, path, "ImageData", &file));
  fprintf(file, " WholeExtent=\"%s\" Origin=\"0 0 0\" Spacing=\"%.17g %.17g %.17g\">\n", extent, (double)spacing[0],
          (double)spacing[1], (double)spacing[2]);
  fprintf(file, "<Piece Extent=\"%s\">\n<PointData>\n", extent);
  WriteNumbers(file, "Float64", name, width * (c[0] + 1) * (c[1] + 1) * (c[2] + 1), width, values);
  fprintf(file, "</PointData>\n");
  PetscCall(Close(option, path, "ImageData", file));
  PetscFunctionReturn(0);
}
