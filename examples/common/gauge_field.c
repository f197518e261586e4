#include "gauge_field.h"

#include "input.h"

/* Uniform in [0, 1), a function of its arguments alone: so it does not depend on the number of ranks (splitmix64) */
static PetscReal Uniform(PetscInt seed, PetscInt where, PetscInt which) {
  const PetscInt word[3] = {seed, where, which};
  uint64_t x = 0;

  for (PetscInt i = 0; i < 3; i++) {
    x += (uint64_t)word[i] + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
  }
  return (PetscReal)(x >> 11) * 0x1p-53;
}

static PetscComplex Gaussian(PetscInt seed, PetscInt where, PetscInt which) {
  return PetscSqrtReal(-PetscLogReal(1 - Uniform(seed, where, 2 * which))) *
         PetscExpComplex(2 * PETSC_PI * PETSC_i * Uniform(seed, where, 2 * which + 1));
}

PetscErrorCode FillGaussian(PetscInt seed, Vec v) {
  PetscInt first, last;
  PetscScalar* a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = first; i < last; i++)
    a[i - first] = (PetscScalar)Gaussian(seed, i, -1); /* links use numbers from 0 on */
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(0);
}

/* 1 + disorder times a Gaussian matrix, its rows made orthonormal; the third makes the determinant 1 */
static void RandomLink(PetscInt seed, PetscReal disorder, PetscInt site, PetscInt direction, PetscComplex U[LINK]) {
  for (PetscInt i = 0; i < LINK; i++)
    U[i] = (i % 4 == 0 ? 1 : 0) + disorder * Gaussian(seed, site, LINK * direction + i);
  for (PetscInt r = 0; r < 2; r++) {
    PetscComplex dot = 0;
    PetscReal norm = 0;

    for (PetscInt i = 0; i < 3; i++) dot += PetscConjComplex(U[i]) * U[3 + i];
    for (PetscInt i = 0; i < 3 && r == 1; i++) U[3 + i] -= dot * U[i];
    for (PetscInt i = 0; i < 3; i++) norm += PetscSqr(PetscAbsComplex(U[3 * r + i]));
    for (PetscInt i = 0; i < 3; i++) U[3 * r + i] /= PetscSqrtReal(norm);
  }
  for (PetscInt i = 0; i < 3; i++)
    U[6 + i] = PetscConjComplex(U[(i + 1) % 3] * U[3 + (i + 2) % 3] - U[(i + 2) % 3] * U[3 + (i + 1) % 3]);
}

PetscReal FarFromUnitary(const PetscComplex U[LINK]) {
  PetscReal sum = 0;

  for (PetscInt i = 0; i < 3; i++) {
    for (PetscInt j = 0; j < 3; j++) {
      PetscComplex dot = i == j ? -1 : 0;

      for (PetscInt k = 0; k < 3; k++) dot += U[3 * i + k] * PetscConjComplex(U[3 * j + k]);
      sum += PetscAbsComplex(dot);
    }
  }
  return sum;
}

PetscErrorCode GaugeFieldCreate(const PetscInt dim[DIRECTIONS], GaugeField* g) {
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCall(CheckIndexRange("The lattice", DIRECTIONS, dim, (PetscReal)12 * dim[0] * dim[1] * dim[2] * dim[3],
                            "numbers of a quark field"));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscArraycpy(g->dim, dim, DIRECTIONS));
  g->slice = dim[1] * dim[2] * dim[3];
  g->own.first = rank * (dim[0] / size) + PetscMin(rank, dim[0] % size);
  g->own.count = dim[0] / size + (rank < dim[0] % size ? 1 : 0);
  PetscCall(PetscMalloc1((size_t)(g->own.count + 2) * g->slice * DIRECTIONS * LINK, &g->link));
  PetscFunctionReturn(0);
}

PetscErrorCode GaugeFieldDestroy(GaugeField* g) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(g->link));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateRandom(const PetscInt dim[DIRECTIONS], PetscInt seed, PetscReal disorder, GaugeField* g) {
  PetscFunctionBeginUser;
  PetscCall(GaugeFieldCreate(dim, g));
  for (PetscInt i = 0; i < (g->own.count + 2) * g->slice * DIRECTIONS; i++) {
    const Place p = {i / DIRECTIONS / g->slice, i / DIRECTIONS % g->slice};

    RandomLink(seed, disorder, SiteOf(g, p), i % DIRECTIONS, Link(g, p, i % DIRECTIONS));
  }
  PetscFunctionReturn(0);
}

Place Neighbour(const GaugeField* g, Place p, PetscInt direction, PetscInt step) {
  PetscInt stride = 1, at;

  if (direction == 0) {
    p.slice += step;
    return p;
  }
  for (PetscInt d = direction + 1; d < DIRECTIONS; d++) stride *= g->dim[d];
  at = p.site / stride % g->dim[direction];
  p.site += stride * ((at + step + g->dim[direction]) % g->dim[direction] - at);
  return p;
}

/* Re tr U_mu(x) U_nu(x + mu) U_mu(x + nu)^+ U_nu(x)^+ */
static PetscReal PlaquetteAt(const GaugeField* g, Place p, PetscInt mu, PetscInt nu) {
  const PetscComplex *a = Link(g, p, mu), *b = Link(g, Neighbour(g, p, mu, 1), nu),
                     *c = Link(g, Neighbour(g, p, nu, 1), mu), *d = Link(g, p, nu);
  PetscReal trace = 0;

  for (PetscInt i = 0; i < 3; i++) {
    for (PetscInt j = 0; j < 3; j++) {
      PetscComplex there = 0, back = 0; /* (a b)_ij and (d c)_ij */

      for (PetscInt k = 0; k < 3; k++) {
        there += a[3 * i + k] * b[3 * k + j];
        back += d[3 * i + k] * c[3 * k + j];
      }
      trace += PetscRealPartComplex(there * PetscConjComplex(back));
    }
  }
  return trace;
}

/* The mean of Re tr U U U^+ U^+ over all sites and pairs of directions */
static PetscErrorCode MeanPlaquette(const GaugeField* g, PetscReal* mean) {
  PetscReal sum = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < g->own.count * g->slice; i++)
    for (PetscInt mu = 0; mu < DIRECTIONS; mu++)
      for (PetscInt nu = 0; nu < mu; nu++) sum += PlaquetteAt(g, (Place){1 + i / g->slice, i % g->slice}, mu, nu);
  PetscCallMPI(MPI_Allreduce(&sum, mean, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  *mean /= 6.0 * g->dim[0] * g->slice;
  PetscFunctionReturn(0);
}

/* Prints the lattice and the mean plaquette; a file, if there is one, says what it must be */
static PetscErrorCode Report(const char path[], PetscReal wanted, const GaugeField* g) {
  const PetscInt* n = g->dim;
  PetscReal found;

  PetscFunctionBeginUser;
  PetscCall(MeanPlaquette(g, &found));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "lattice T,Z,Y,X: %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                        "\nplaquette: %.14f\n",
                        n[0], n[1], n[2], n[3], (double)found));
  PetscCheck(!path[0] || PetscAbsReal(found - wanted) <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "-gauge: the links of %s have a mean plaquette of %.14f, but its header says %.14f; the file is damaged, "
             "or its sites or directions are in another order",
             path, (double)found, (double)wanted);
  PetscFunctionReturn(0);
}

PetscErrorCode GaugeFieldFromOptions(PetscInt seed, GaugeField* g) {
  char text[64] = "8,8,8,8", path[PETSC_MAX_PATH_LEN] = "";
  PetscInt dim[DIRECTIONS];
  PetscReal disorder = 0.3, plaquette = 0;
  PetscBool with_lattice, with_disorder, with_file;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-lattice", text, sizeof(text), &with_lattice));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-disorder", &disorder, &with_disorder));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gauge", path, sizeof(path), &with_file));
  CheckInput(!with_file || (!with_lattice && !with_disorder),
             "Found -gauge and %s; the file says what the lattice and its links are: leave out one of the two",
             with_lattice ? "-lattice" : "-disorder");
  PetscCall(ParseExtents("-lattice", text, 4, "four positive integers T,Z,Y,X", "8,8,8,8", dim));
  CheckInput(disorder >= 0 && disorder <= 1e6,
             "-disorder is %g; give a number from 0 (all links are 1) to 1e6 (no order at all)", (double)disorder);
  if (with_file)
    PetscCall(GaugeFieldRead(path, g, &plaquette));
  else
    PetscCall(CreateRandom(dim, seed, disorder, g));
  PetscCall(Report(path, plaquette, g));
  PetscFunctionReturn(0);
}
