#include <stdarg.h>
#include <stdio.h>

#include "gauge_field.h"
#include "input.h"

enum { HEADER = 24 }; /* bytes */

/* A file that rank 0 alone sees.  A message that is not empty says what is wrong with it. */
typedef struct {
  const char* path;
  FILE* file;
  int dim[DIRECTIONS];
  double plaquette;
  char message[PETSC_MAX_PATH_LEN + 512];
} GaugeFile;

static PetscErrorCode Complain(GaugeFile* f, const char format[], ...) {
  va_list arguments;

  PetscFunctionBeginUser;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(f->message, sizeof(f->message), format, NULL, arguments));
  va_end(arguments);
  PetscFunctionReturn(0);
}

/* All ranks end with the message, or none does */
static PetscErrorCode ShareMessage(GaugeFile* f) {
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(f->message, sizeof(f->message), MPI_CHAR, 0, PETSC_COMM_WORLD));
  if (f->message[0] && f->file) fclose(f->file);
  PetscCheck(!f->message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "-gauge: %s", f->message);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckHeader(GaugeFile* f) {
  const int* n = f->dim;
  const double bytes = HEADER + (double)n[0] * n[1] * n[2] * n[3] * LINK * DIRECTIONS * sizeof(PetscComplex);
  double found;

  PetscFunctionBeginUser;
  fseek(f->file, 0, SEEK_END);
  found = (double)ftell(f->file);
  fseek(f->file, HEADER, SEEK_SET);
  if (n[0] < 1 || n[1] < 1 || n[2] < 1 || n[3] < 1)
    PetscCall(Complain(f,
                       "the header of %s says T,Z,Y,X = %d,%d,%d,%d; all must be positive: this is no gauge file, or "
                       "not little endian, or still packed (unxz)",
                       f->path, n[0], n[1], n[2], n[3]));
  else if (found != bytes)
    PetscCall(Complain(f,
                       "the header of %s says T,Z,Y,X = %d,%d,%d,%d, which takes %.0f bytes, but the file has %.0f: it "
                       "is damaged or no gauge file (unpacked, little endian, double precision); fetch it again",
                       f->path, n[0], n[1], n[2], n[3], bytes, found));
  PetscFunctionReturn(0);
}

static PetscErrorCode Open(GaugeFile* f) {
  char header[HEADER];
  PetscBool ordinary;

  PetscFunctionBeginUser;
  PetscCall(PetscTestFile(f->path, 'r', &ordinary)); /* opening a pipe would wait for its writer */
  f->file = ordinary ? fopen(f->path, "rb") : NULL;
  if (!f->file) {
    PetscCall(Complain(f, "cannot read the file %s; check that it is a file, its path and its permissions", f->path));
  } else if (fread(header, 1, HEADER, f->file) != HEADER) {
    PetscCall(Complain(f,
                       "%s has no header of %d bytes (T, Z, Y, X as 32-bit integers, the mean plaquette as a double); "
                       "give a gauge file, unpacked",
                       f->path, (int)HEADER));
  } else {
#if defined(PETSC_WORDS_BIGENDIAN)
    PetscCall(PetscByteSwap(header, PETSC_ENUM, DIRECTIONS));
    PetscCall(PetscByteSwap(header + 16, PETSC_DOUBLE, 1));
#endif
    PetscCall(PetscMemcpy(f->dim, header, 16));
    PetscCall(PetscMemcpy(&f->plaquette, header + 16, 8));
    PetscCall(CheckHeader(f));
  }
  PetscFunctionReturn(0);
}

/* The next time slice, t */
static PetscErrorCode ReadSlice(GaugeFile* f, PetscInt t, PetscInt links, PetscComplex link[]) {
  const int* n = f->dim;

  PetscFunctionBeginUser;
  if (fread(link, LINK * sizeof(PetscComplex), (size_t)links, f->file) != (size_t)links) {
    PetscCall(Complain(f, "reading time slice %" PetscInt_FMT " of %s failed; is the disk in order?", t, f->path));
    PetscFunctionReturn(0);
  }
#if defined(PETSC_WORDS_BIGENDIAN)
  PetscCall(PetscByteSwap(link, PETSC_DOUBLE, 2 * LINK * links));
#endif
  for (PetscInt i = 0; i < links; i++) {
    const PetscReal far = FarFromUnitary(link + LINK * i);
    const int s = (int)(i / DIRECTIONS);

    if (far <= 1e-8) continue; /* not so for NaN */
    PetscCall(Complain(f,
                       "in %s the link of site t,z,y,x = %d,%d,%d,%d, direction %d, is not unitary: |U U^+ - 1| is "
                       "%g, at most 1e-8 is allowed; the file is damaged, or its numbers are in another order or "
                       "precision",
                       f->path, (int)t, s / (n[3] * n[2]), s / n[3] % n[2], s % n[3], (int)(i % DIRECTIONS),
                       (double)far));
    break;
  }
  PetscFunctionReturn(0);
}

/* Rank 0 reads slice by slice and every rank keeps those it needs */
static PetscErrorCode ReadLinks(GaugeFile* f, PetscMPIInt rank, GaugeField* g) {
  const PetscInt links = g->slice * DIRECTIONS;
  PetscMPIInt numbers;
  PetscComplex* link;

  PetscFunctionBeginUser;
  PetscCall(PetscMPIIntCast(links * LINK, &numbers));
  PetscCall(PetscMalloc1(numbers, &link));
  for (PetscInt t = 0; t < g->dim[0]; t++) {
    if (rank == 0) PetscCall(ReadSlice(f, t, links, link));
    if (f->message[0]) PetscCall(PetscFree(link));
    PetscCall(ShareMessage(f));
    PetscCallMPI(MPI_Bcast(link, numbers, MPIU_COMPLEX, 0, PETSC_COMM_WORLD));
    for (PetscInt s = 0; s < g->own.count + 2; s++)
      if (TimeOf(g, s) == t) PetscCall(PetscArraycpy(Link(g, (Place){s, 0}, 0), link, numbers));
  }
  PetscCall(PetscFree(link));
  PetscFunctionReturn(0);
}

PetscErrorCode GaugeFieldRead(const char path[], GaugeField* g, PetscReal* plaquette) {
  GaugeFile f = {.path = path};
  PetscInt dim[DIRECTIONS];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(Open(&f));
  PetscCall(ShareMessage(&f));
  PetscCallMPI(MPI_Bcast(f.dim, DIRECTIONS, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&f.plaquette, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  for (PetscInt d = 0; d < DIRECTIONS; d++) dim[d] = f.dim[d];
  PetscCall(GaugeFieldCreate(dim, g));
  PetscCall(ReadLinks(&f, rank, g));
  *plaquette = f.plaquette;
  if (f.file) fclose(f.file);
  PetscFunctionReturn(0);
}
