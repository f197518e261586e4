/*
  The Wilson-Dirac operator of lattice QCD, in plain PETSc with complex scalars.

  On a periodic lattice of T x Z x Y x X sites, a quark field has 4 spin times 3 colour components a site, and the gauge
  field one SU(3) matrix U_mu(x) a site and direction.  With hopping terms to the 8 neighbours,

    D psi(x) = (4 + m) psi(x) - 1/2 sum_mu [ (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x -
  mu) ],

  D is a matrix of 12 x 12 blocks, 9 a row (fewer where an extent is below 3 and neighbours coincide).  Lengths are in
  units of the lattice spacing, the mass m (-mass) in its inverse.  With the Pauli matrices s_x, s_y, s_z, gamma_T is
  s_x (x) 1 and gamma_Z, gamma_Y, gamma_X are s_y (x) s_z, s_y (x) s_y, s_y (x) s_x: gamma_5 is diag(1, 1, -1, -1) up to
  its sign, and gamma_5 D is Hermitian, which is checked.  Solved is D x = b, by BiCGSTAB and by conjugate
  gradients on D^+ D x = D^+ b.  The diagonal block is 4 + m times the identity: Jacobi would change nothing.

    lattice_dirac -lattice 8,8,8,8 -mass 0.1 -disorder 0.3
    mpirun -n 3 lattice_dirac -gauge 8x8x8x8b6.0000id3n1 -mass -0.5 -source point -mat_type baij -adjoint gamma5
    lattice_dirac -lattice 16,8,8,8 -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0

  The gauge field is random, the same on any number of ranks, or read from a file: little endian, 4 integers of 32 bits
  T, Z, Y, X, the mean plaquette as a double, then for each site (X fastest) and direction (in the order T, Z, Y, X) a
  matrix row by row, each number as two doubles (Re, Im).

  Options of the solves: -ksp_type, -ksp_rtol, ...; for the normal equations -normal_ksp_type and so on, whose
  tolerances are those of the first solve unless told otherwise.  -adjoint says how D^+ is applied: by
  MatMultHermitianTranspose (matrix), or as gamma_5 D gamma_5 (gamma5) for matrix types that lack it, as PETSc's BAIJ
  with blocks above 5 on one rank. Build: mpicc $(pkg-config --cflags PETSc) lattice_dirac.c -o lattice_dirac
  $(pkg-config --libs PETSc) -lm

  The ranks share out the time slices.  A rank keeps the links of its own slices and of the one before and the one
  after.
*/
static char help[] =
    "Wilson-Dirac operator on a periodic 4-D lattice: matrix of complex 12 x 12 blocks, solved twice.\n\
  -lattice T,Z,Y,X   extents (8,8,8,8), for a random gauge field\n\
  -disorder d        0: all links are 1; large: links without any order (0.3)\n\
  -gauge FILE        read lattice and gauge field from a file instead\n\
  -seed n            of random links and right-hand side (1)\n\
  -mass m            quark mass in units of the inverse lattice spacing (0.1)\n\
  -source KIND       right-hand side: random, or point (site 0, spin 0, colour 0) (random)\n\
  -adjoint KIND      D^+ by MatMultHermitianTranspose (matrix), or gamma_5 D gamma_5 (gamma5) (matrix)\n\n";

#include <petscksp.h>

#if !defined(PETSC_USE_COMPLEX)
#error "lattice_dirac needs a PETSc with complex scalars; point PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH, to one"
#endif

enum {
  DIRECTIONS = 4,
  LINK = 9,
  BLOCK = 12,
  HEADER = 24
}; /* numbers of a link, of a site's field; bytes of a header */

typedef struct {
  PetscInt dim[DIRECTIONS], seed;
  PetscReal mass, disorder;
  PetscBool point, gamma5;
  char gauge[PETSC_MAX_PATH_LEN];
} Options;

/* The links of time slices first - 1 ... first + count of a periodic lattice, as slices 0 ... count + 1 */
typedef struct {
  PetscInt dim[DIRECTIONS], slice; /* extents T, Z, Y, X; sites of a time slice */
  PetscInt first, count;           /* own time slices */
  PetscComplex* link;
} Lattice;

/* A place as a rank sees it: a slice of Lattice and a site in it */
typedef struct {
  PetscInt slice, site;
} Place;

/* ---------------------------------------------- options ---------------------------------------------- */

/* PETSc takes an option without its value as not given */
static PetscErrorCode CheckValues(PetscInt n, const char* const names[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    char text[8] = "";
    PetscBool set;

    PetscCall(PetscOptionsGetString(NULL, NULL, names[i], text, sizeof(text), &set));
    PetscCheck(!set || text[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: found no value; it needs a value (-help says which), or leave the option out", names[i]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode GetChoice(const char name[], const char* const choice[2], PetscBool* second) {
  char text[32] = "";
  PetscInt which = *second;
  PetscBool set, found = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, name, text, sizeof(text), &set));
  if (set) PetscCall(PetscEListFind(2, choice, text, &which, &found));
  PetscCheck(found && (text[0] || !set), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s: found \"%s\"; give %s or %s",
             name, text, choice[0], choice[1]);
  *second = (PetscBool)which;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSize(const PetscInt dim[DIRECTIONS]) {
  PetscReal unknowns = BLOCK;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < DIRECTIONS; d++) unknowns *= dim[d];
  PetscCheck(unknowns < PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "The lattice %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
             " has %g unknowns, more than the %g that PETSc's integers of %d bits can number; take a smaller one, or a "
             "PETSc with 64-bit indices",
             dim[0], dim[1], dim[2], dim[3], (double)unknowns, (double)PETSC_MAX_INT, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Options* o) {
  static const char *const sources[] = {"random", "point"}, *const adjoints[] = {"matrix", "gamma5"},
                           *const numbers[] = {"-disorder", "-seed", "-mass"};
  char text[64] = "8,8,8,8", rest;
  int n, dim[DIRECTIONS] = {0};
  PetscBool lattice, disorder, gauge;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->seed = 1;
  o->mass = 0.1;
  o->disorder = 0.3;
  PetscCall(CheckValues(PETSC_STATIC_ARRAY_LENGTH(numbers), numbers));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-lattice", text, sizeof(text), &lattice));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-disorder", &o->disorder, &disorder));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gauge", o->gauge, sizeof(o->gauge), &gauge));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &o->seed, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &o->mass, NULL));
  PetscCall(GetChoice("-source", sources, &o->point));
  PetscCall(GetChoice("-adjoint", adjoints, &o->gamma5));
  PetscCheck(!gauge || (!lattice && !disorder), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Found -gauge and %s; the file says what the lattice and its links are: leave out one of the two",
             lattice ? "-lattice" : "-disorder");
  PetscCheck(!gauge || o->gauge[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-gauge: found no name of a file; give -gauge FILE");
  n = sscanf(text, "%9d,%9d,%9d,%9d%c", &dim[0], &dim[1], &dim[2], &dim[3], &rest);
  PetscCheck(n == 4 && dim[0] > 0 && dim[1] > 0 && dim[2] > 0 && dim[3] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-lattice: found \"%s\"; give four positive integers T,Z,Y,X below 10^9, such as -lattice 8,8,8,8", text);
  for (PetscInt d = 0; d < DIRECTIONS; d++) o->dim[d] = dim[d];
  PetscCall(CheckSize(o->dim));
  PetscCheck(o->disorder >= 0 && o->disorder <= 1e6, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-disorder is %g; give a number from 0 (all links are 1) to 1e6 (no order at all)", (double)o->disorder);
  PetscCheck(PetscAbsReal(o->mass) <= 1e6, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-mass is %g; give a number between -1e6 and 1e6, such as 0.1", (double)o->mass);
  PetscFunctionReturn(0);
}

/* -------------------------------------------- gauge field -------------------------------------------- */

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

/* 1 + disorder times a Gaussian matrix, its rows made orthonormal; the third follows from the determinant, which is 1
 */
static void RandomLink(const Options* o, PetscInt site, PetscInt direction, PetscComplex U[LINK]) {
  for (PetscInt i = 0; i < LINK; i++)
    U[i] = (i % 4 == 0 ? 1 : 0) + o->disorder * Gaussian(o->seed, site, LINK * direction + i);
  for (PetscInt r = 0; r < 2; r++) {
    PetscComplex dot = 0;
    PetscReal norm = 0;

    for (PetscInt i = 0; i < 3; i++) dot += PetscConj(U[i]) * U[3 + i];
    for (PetscInt i = 0; i < 3 && r == 1; i++) U[3 + i] -= dot * U[i];
    for (PetscInt i = 0; i < 3; i++) norm += PetscSqr(PetscAbsComplex(U[3 * r + i]));
    for (PetscInt i = 0; i < 3; i++) U[3 * r + i] /= PetscSqrtReal(norm);
  }
  for (PetscInt i = 0; i < 3; i++)
    U[6 + i] = PetscConj(U[(i + 1) % 3] * U[3 + (i + 2) % 3] - U[(i + 2) % 3] * U[3 + (i + 1) % 3]);
}

/* Largest element of U U^+ - 1; the result is not finite where U is not */
static PetscReal FarFromUnitary(const PetscComplex U[LINK]) {
  PetscReal sum = 0;

  for (PetscInt i = 0; i < 3; i++) {
    for (PetscInt j = 0; j < 3; j++) {
      PetscComplex dot = i == j ? -1 : 0;

      for (PetscInt k = 0; k < 3; k++) dot += U[3 * i + k] * PetscConj(U[3 * j + k]);
      sum += PetscAbsComplex(dot);
    }
  }
  return sum;
}

/* Rank 0 alone sees the file; all ranks end with its message, or none does */
static PetscErrorCode ShareError(char message[], PetscMPIInt size) {
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(message, size, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "%s", message);
  PetscFunctionReturn(0);
}

/* On rank 0: opens the file, reads and checks its header; a message that is not empty says what is wrong */
static PetscErrorCode OpenGauge(const char path[], FILE** file, int dim[DIRECTIONS], double* plaquette, char message[],
                                size_t size) {
  char header[HEADER];
  double bytes = LINK * DIRECTIONS * sizeof(PetscComplex), found;
  PetscBool ordinary;

  PetscFunctionBeginUser;
  PetscCall(PetscTestFile(path, 'r', &ordinary)); /* opening a pipe would wait for its writer */
  *file = ordinary ? fopen(path, "rb") : NULL;
  if (!*file) {
    PetscCall(PetscSNPrintf(
        message, size, "-gauge: cannot read the file %s; check that it is a file, its path and its permissions", path));
    PetscFunctionReturn(0);
  }
  if (fread(header, 1, HEADER, *file) != HEADER) {
    PetscCall(PetscSNPrintf(message, size,
                            "-gauge: %s has no header of %d bytes (T, Z, Y, X as 32-bit integers, the mean plaquette "
                            "as a double); give a gauge file, unpacked",
                            path, (int)HEADER));
    PetscFunctionReturn(0);
  }
#if defined(PETSC_WORDS_BIGENDIAN)
  PetscCall(PetscByteSwap(header, PETSC_ENUM, DIRECTIONS));
  PetscCall(PetscByteSwap(header + 16, PETSC_DOUBLE, 1));
#endif
  PetscCall(PetscMemcpy(dim, header, 16));
  PetscCall(PetscMemcpy(plaquette, header + 16, 8));
  for (PetscInt d = 0; d < DIRECTIONS; d++) bytes *= dim[d];
  fseek(*file, 0, SEEK_END);
  found = (double)ftell(*file);
  fseek(*file, HEADER, SEEK_SET);
  if (dim[0] < 1 || dim[1] < 1 || dim[2] < 1 || dim[3] < 1)
    PetscCall(PetscSNPrintf(message, size,
                            "-gauge: the header of %s says T,Z,Y,X = %d,%d,%d,%d; all must be positive: this is no "
                            "gauge file, or not little endian, or still packed (unxz)",
                            path, dim[0], dim[1], dim[2], dim[3]));
  else if (found != HEADER + bytes)
    PetscCall(PetscSNPrintf(
        message, size,
        "-gauge: the header of %s says T,Z,Y,X = %d,%d,%d,%d, which takes %.0f bytes, but the file has %.0f: it is "
        "damaged or no gauge file (unpacked, little endian, double precision); fetch it again",
        path, dim[0], dim[1], dim[2], dim[3], HEADER + bytes, found));
  PetscFunctionReturn(0);
}

/* On rank 0: the next time slice of the file */
static PetscErrorCode ReadSlice(const Options* o, const Lattice* l, PetscInt t, FILE* file, PetscComplex link[],
                                char message[], size_t size) {
  const PetscInt links = l->slice * DIRECTIONS;

  PetscFunctionBeginUser;
  if (fread(link, LINK * sizeof(PetscComplex), (size_t)links, file) != (size_t)links) {
    PetscCall(PetscSNPrintf(message, size,
                            "-gauge: reading time slice %" PetscInt_FMT " of %s failed; is the disk in order?", t,
                            o->gauge));
    PetscFunctionReturn(0);
  }
#if defined(PETSC_WORDS_BIGENDIAN)
  PetscCall(PetscByteSwap(link, PETSC_DOUBLE, 2 * LINK * links));
#endif
  for (PetscInt i = 0; i < links; i++) {
    const PetscReal far = FarFromUnitary(link + LINK * i);
    const PetscInt s = i / DIRECTIONS;

    if (far <= 1e-8) continue; /* not so for NaN */
    PetscCall(PetscSNPrintf(message, size,
                            "-gauge: in %s the link of site t,z,y,x = %" PetscInt_FMT ",%" PetscInt_FMT
                            ",%" PetscInt_FMT ",%" PetscInt_FMT ", direction %" PetscInt_FMT
                            ", is not unitary: |U U^+ - 1| is %g, at most 1e-8 is allowed; the file is damaged, or its "
                            "numbers are in another order or precision",
                            o->gauge, t, s / (l->dim[3] * l->dim[2]), s / l->dim[3] % l->dim[2], s % l->dim[3],
                            i % DIRECTIONS, (double)far));
    break;
  }
  PetscFunctionReturn(0);
}

/* Shares out the time slices; ranks beyond them own nothing */
static PetscErrorCode LatticeCreate(const PetscInt dim[DIRECTIONS], Lattice* l) {
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscArraycpy(l->dim, dim, DIRECTIONS));
  l->slice = dim[1] * dim[2] * dim[3];
  l->first = rank * (dim[0] / size) + PetscMin(rank, dim[0] % size);
  l->count = dim[0] / size + (rank < dim[0] % size ? 1 : 0);
  PetscCall(PetscMalloc1((size_t)(l->count + 2) * l->slice * DIRECTIONS * LINK, &l->link));
  PetscFunctionReturn(0);
}

static PetscComplex* Slice(const Lattice* l, PetscInt slice) {
  return l->link + (size_t)slice * l->slice * DIRECTIONS * LINK;
}

static PetscInt TimeOf(const Lattice* l, PetscInt slice) { return (l->first + slice - 1 + l->dim[0]) % l->dim[0]; }

static void RandomGauge(const Options* o, Lattice* l) {
  for (PetscInt s = 0; s < l->count + 2; s++)
    for (PetscInt i = 0; i < l->slice * DIRECTIONS; i++)
      RandomLink(o, TimeOf(l, s) * l->slice + i / DIRECTIONS, i % DIRECTIONS, Slice(l, s) + LINK * i);
}

/* Rank 0 reads slice by slice and every rank keeps those it needs */
static PetscErrorCode ReadGauge(Options* o, Lattice* l, double* plaquette) {
  char message[PETSC_MAX_PATH_LEN + 512] = "";
  int dim[DIRECTIONS] = {0};
  PetscMPIInt rank, numbers;
  PetscComplex* link;
  FILE* file = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(OpenGauge(o->gauge, &file, dim, plaquette, message, sizeof(message)));
  PetscCall(ShareError(message, sizeof(message)));
  PetscCallMPI(MPI_Bcast(dim, DIRECTIONS, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(plaquette, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  for (PetscInt d = 0; d < DIRECTIONS; d++) o->dim[d] = dim[d];
  PetscCall(CheckSize(o->dim));
  PetscCall(LatticeCreate(o->dim, l));
  PetscCall(PetscMPIIntCast(l->slice * DIRECTIONS * LINK, &numbers));
  PetscCall(PetscMalloc1(numbers, &link));
  for (PetscInt t = 0; t < l->dim[0]; t++) {
    if (rank == 0) PetscCall(ReadSlice(o, l, t, file, link, message, sizeof(message)));
    PetscCall(ShareError(message, sizeof(message)));
    PetscCallMPI(MPI_Bcast(link, numbers, MPIU_COMPLEX, 0, PETSC_COMM_WORLD));
    for (PetscInt s = 0; s < l->count + 2; s++)
      if (TimeOf(l, s) == t) PetscCall(PetscArraycpy(Slice(l, s), link, numbers));
  }
  PetscCall(PetscFree(link));
  if (file) fclose(file);
  PetscFunctionReturn(0);
}

/* The place one step from another, forward (1) or backward (-1); T is the slowest direction */
static Place Neighbour(const Lattice* l, Place p, PetscInt direction, PetscInt step) {
  PetscInt stride = 1, at;

  if (direction == 0) {
    p.slice += step;
    return p;
  }
  for (PetscInt d = direction + 1; d < DIRECTIONS; d++) stride *= l->dim[d];
  at = p.site / stride % l->dim[direction];
  p.site += stride * ((at + step + l->dim[direction]) % l->dim[direction] - at);
  return p;
}

static const PetscComplex* Link(const Lattice* l, Place p, PetscInt direction) {
  return Slice(l, p.slice) + LINK * (DIRECTIONS * p.site + direction);
}

static PetscInt Row(const Lattice* l, Place p) { return TimeOf(l, p.slice) * l->slice + p.site; }

/* Re tr U_mu(x) U_nu(x + mu) U_mu(x + nu)^+ U_nu(x)^+ */
static PetscReal PlaquetteAt(const Lattice* l, Place p, PetscInt mu, PetscInt nu) {
  const PetscComplex *a = Link(l, p, mu), *b = Link(l, Neighbour(l, p, mu, 1), nu),
                     *c = Link(l, Neighbour(l, p, nu, 1), mu), *d = Link(l, p, nu);
  PetscReal trace = 0;

  for (PetscInt i = 0; i < 3; i++) {
    for (PetscInt j = 0; j < 3; j++) {
      PetscComplex there = 0, back = 0; /* (a b)_ij and (d c)_ij */

      for (PetscInt k = 0; k < 3; k++) {
        there += a[3 * i + k] * b[3 * k + j];
        back += d[3 * i + k] * c[3 * k + j];
      }
      trace += PetscRealPartComplex(there * PetscConj(back));
    }
  }
  return trace;
}

/* Prints the mean over all sites and pairs of directions: 3 where all links are 1; a file says what it must be */
static PetscErrorCode CheckPlaquette(const Options* o, const Lattice* l, double wanted) {
  PetscReal sum = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < l->count * l->slice; i++)
    for (PetscInt mu = 0; mu < DIRECTIONS; mu++)
      for (PetscInt nu = 0; nu < mu; nu++) sum += PlaquetteAt(l, (Place){1 + i / l->slice, i % l->slice}, mu, nu);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  sum /= 6.0 * l->dim[0] * l->slice;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "lattice T,Z,Y,X: %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                        "\nplaquette: %.14f\n",
                        l->dim[0], l->dim[1], l->dim[2], l->dim[3], (double)sum));
  PetscCheck(!o->gauge[0] || PetscAbsReal(sum - wanted) <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "-gauge: the links of %s have a mean plaquette of %.14f, but its header says %.14f; the file is damaged, "
             "or its sites or directions are in another order",
             o->gauge, (double)sum, wanted);
  PetscFunctionReturn(0);
}

/* ---------------------------------------------- matrix ---------------------------------------------- */

/* Row s of gamma_mu has one number, i to a power, in a column: in the order T, Z, Y, X */
static const struct {
  PetscInt column[4], power[4];
} gamma_matrix[DIRECTIONS] = {{{2, 3, 0, 1}, {0, 0, 0, 0}},
                              {{2, 3, 0, 1}, {3, 1, 1, 3}},
                              {{3, 2, 1, 0}, {2, 0, 0, 2}},
                              {{3, 2, 1, 0}, {3, 3, 1, 1}}};

/* -1/2 (1 - sign gamma_mu) x U, or U^+ where sign is -1: spin is the outer index, colour the inner */
static void HoppingBlock(PetscInt mu, PetscInt sign, const PetscComplex U[LINK], PetscScalar block[BLOCK * BLOCK]) {
  static const PetscReal re[4] = {1, 0, -1, 0}, im[4] = {0, 1, 0, -1};

  for (PetscInt i = 0; i < BLOCK * BLOCK; i++) block[i] = 0;
  for (PetscInt s = 0; s < 4; s++) {
    const PetscInt power = gamma_matrix[mu].power[s], column = gamma_matrix[mu].column[s];
    const PetscComplex g = sign * (re[power] + PETSC_i * im[power]);

    for (PetscInt a = 0; a < 3; a++) {
      for (PetscInt b = 0; b < 3; b++) {
        const PetscComplex u = sign > 0 ? U[3 * a + b] : PetscConj(U[3 * b + a]);

        block[BLOCK * (3 * s + a) + 3 * s + b] = -0.5 * u;
        block[BLOCK * (3 * s + a) + 3 * column + b] = 0.5 * g * u;
      }
    }
  }
}

/* Counts the blocks of each own row exactly: those of own columns and those of other ranks' */
static void CountBlocks(const Lattice* l, PetscInt own[], PetscInt other[]) {
  for (PetscInt i = 0; i < l->count * l->slice; i++) {
    const Place here = {1 + i / l->slice, i % l->slice};
    PetscInt seen[1 + 2 * DIRECTIONS], n = 0;

    own[i] = other[i] = 0;
    for (PetscInt k = 0; k <= 2 * DIRECTIONS; k++) { /* the site itself, then its neighbours; they may coincide */
      const Place p = k ? Neighbour(l, here, (k - 1) / 2, k % 2 ? 1 : -1) : here;
      const PetscInt row = Row(l, p), t = TimeOf(l, p.slice);
      PetscBool is_new = PETSC_TRUE;

      for (PetscInt j = 0; j < n; j++)
        if (seen[j] == row) is_new = PETSC_FALSE;
      if (!is_new) continue;
      seen[n++] = row;
      (t >= l->first && t < l->first + l->count ? own : other)[i]++;
    }
  }
}

static PetscErrorCode CreateMatrix(const Lattice* l, Mat* D) {
  const PetscInt rows = l->count * l->slice;
  PetscInt *own, *other;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, D));
  PetscCall(MatSetSizes(*D, BLOCK * rows, BLOCK * rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*D, BLOCK));
  PetscCall(MatSetFromOptions(*D));
  PetscCall(PetscMalloc2(rows, &own, rows, &other));
  CountBlocks(l, own, other);
  PetscCall(MatXAIJSetPreallocation(*D, BLOCK, own, other, NULL, NULL));
  PetscCall(PetscFree2(own, other));
  PetscCall(MatSetUp(*D)); /* for types without preallocation */
  PetscCall(MatSetOption(*D, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode AssembleMatrix(const Options* o, const Lattice* l, Mat D) {
  PetscScalar block[BLOCK * BLOCK];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < l->count * l->slice; i++) {
    const Place here = {1 + i / l->slice, i % l->slice};
    const PetscInt row = Row(l, here);

    for (PetscInt k = 0; k < BLOCK * BLOCK; k++) block[k] = k % (BLOCK + 1) ? 0 : 4 + o->mass;
    PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &row, block, ADD_VALUES));
    for (PetscInt mu = 0; mu < DIRECTIONS; mu++) {
      const Place ahead = Neighbour(l, here, mu, 1), behind = Neighbour(l, here, mu, -1);
      const PetscInt columns[2] = {Row(l, ahead), Row(l, behind)};

      HoppingBlock(mu, 1, Link(l, here, mu), block);
      PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &columns[0], block, ADD_VALUES));
      HoppingBlock(mu, -1, Link(l, behind, mu), block);
      PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &columns[1], block, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* ------------------------------------------ vectors, adjoint ------------------------------------------ */

static PetscErrorCode FillRandom(PetscInt seed, Vec v) {
  PetscInt first, last;
  PetscScalar* a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = first; i < last; i++) a[i - first] = Gaussian(seed, i, -1); /* links use numbers from 0 on */
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGamma5(Vec like, Vec* gamma5) {
  PetscInt n;
  PetscScalar* a;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(like, gamma5));
  PetscCall(VecGetLocalSize(*gamma5, &n));
  PetscCall(VecGetArray(*gamma5, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = i % BLOCK < BLOCK / 2 ? 1 : -1;
  PetscCall(VecRestoreArray(*gamma5, &a));
  PetscFunctionReturn(0);
}

typedef struct {
  Mat D;
  Vec gamma5, work[2];
  PetscBool by_gamma5;
} Adjoint;

/* y = D^+ x */
static PetscErrorCode ApplyAdjoint(Adjoint* a, Vec x, Vec y) {
  PetscFunctionBeginUser;
  if (a->by_gamma5) {
    PetscCall(VecPointwiseMult(a->work[0], a->gamma5, x));
    PetscCall(MatMult(a->D, a->work[0], y));
    PetscCall(VecPointwiseMult(y, y, a->gamma5));
  } else {
    PetscCall(MatMultHermitianTranspose(a->D, x, y));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyNormal(Mat N, Vec x, Vec y) {
  Adjoint* a;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(N, &a));
  PetscCall(MatMult(a->D, x, a->work[1]));
  PetscCall(ApplyAdjoint(a, a->work[1], y));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateNormal(Adjoint* a, Mat* N) {
  PetscInt n;
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(a->gamma5, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, a, N));
  PetscCall(MatShellSetOperation(*N, MATOP_MULT, (void (*)(void))ApplyNormal));
  PetscCall(VecGetType(a->gamma5, &type)); /* on the device, if D is */
  PetscCall(MatShellSetVecType(*N, type));
  PetscFunctionReturn(0);
}

/* gamma_5 D is Hermitian: <y, gamma_5 D x> = <gamma_5 D y, x>, and D^+ x = gamma_5 D gamma_5 x if the matrix can say
 * what D^+ x is */
static PetscErrorCode CheckGamma5(Adjoint* a) {
  PetscReal norms[2], error = 0;
  PetscScalar dot[2];
  Vec x, y, dx;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a->gamma5, &x));
  PetscCall(VecDuplicate(a->gamma5, &y));
  PetscCall(VecDuplicate(a->gamma5, &dx));
  PetscCall(FillRandom(101, x));
  PetscCall(FillRandom(102, y));
  PetscCall(MatMult(a->D, x, dx));
  PetscCall(VecPointwiseMult(dx, dx, a->gamma5));
  PetscCall(VecDot(dx, y, &dot[0]));
  PetscCall(VecNorm(dx, NORM_2, &norms[0]));
  PetscCall(VecNorm(y, NORM_2, &norms[1]));
  PetscCall(MatMult(a->D, y, dx));
  PetscCall(VecPointwiseMult(dx, dx, a->gamma5));
  PetscCall(VecDot(x, dx, &dot[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product with random vectors: %.11e %.11e\n", (double)PetscRealPart(dot[0]),
                        (double)PetscImaginaryPart(dot[0])));
  error = PetscAbsScalar(dot[0] - dot[1]) / (norms[0] * norms[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "gamma5-Hermiticity, products: %.2e\n", (double)error));
  if (!a->by_gamma5) {
    PetscCall(MatMultHermitianTranspose(a->D, x, y));
    PetscCall(VecPointwiseMult(x, x, a->gamma5));
    PetscCall(MatMult(a->D, x, dx));
    PetscCall(VecPointwiseMult(dx, dx, a->gamma5));
    PetscCall(VecNorm(dx, NORM_2, &norms[0]));
    PetscCall(VecAXPY(y, -1, dx));
    PetscCall(VecNorm(y, NORM_2, &norms[1]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "gamma5-Hermiticity, adjoint: %.2e\n", (double)(norms[1] / norms[0])));
    error = PetscMax(error, norms[1] / norms[0]);
  }
  PetscCheck(error <= 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "gamma_5 D is not Hermitian: the relative difference is %g, at most 1e-12 is allowed; check the matrix "
             "type's products, with -mat_type aij beside",
             (double)error);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&dx));
  PetscFunctionReturn(0);
}

/* ---------------------------------------------- solves ---------------------------------------------- */

/* Solves with A, and reports with D x = b; the tolerances are those of first, if given */
static PetscErrorCode Solve(const char name[], const char prefix[], KSPType type, KSP first, Mat A, Vec rhs, Mat D,
                            Vec b, Vec x, KSP* ksp) {
  PetscReal rtol = 1e-8, atol = PETSC_DEFAULT, dtol = PETSC_DEFAULT, bnorm, rnorm;
  PetscInt max_it = PETSC_DEFAULT, its;
  KSPConvergedReason reason;
  const char* reason_name;
  PetscLogDouble t0, t1;
  PC pc;
  Vec r;

  PetscFunctionBeginUser;
  if (first) PetscCall(KSPGetTolerances(first, &rtol, &atol, &dtol, &max_it));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, rtol, atol, dtol, max_it));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSolve(*ksp, rhs, x));
  PetscCall(PetscTime(&t1));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(D, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetIterationNumber(*ksp, &its));
  PetscCall(KSPGetConvergedReason(*ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(*ksp, &reason_name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s seconds: %.3f\n%s iterations: %" PetscInt_FMT
                        "\n%s convergence reason: %s\n%s relative residual: %.3e\n",
                        name, t1 - t0, name, its, name, reason_name, name, (double)(rnorm / bnorm)));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "The solve %s did not converge: %s after %" PetscInt_FMT
             " iterations, relative residual %.3e. Raise -mass (D becomes singular near the critical mass, which lies "
             "below 0) or -%sksp_max_it, or lower -disorder",
             name, reason_name, its, (double)(rnorm / bnorm), prefix ? prefix : "");
  PetscFunctionReturn(0);
}

/* The squared norm of the solution on each time slice: for a point source, its part of the pion's correlator */
static PetscErrorCode ReportSlices(const Lattice* l, Vec x) {
  const PetscInt n = l->slice * BLOCK;
  const PetscScalar* a;
  PetscReal* sum;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(l->dim[0], &sum));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < l->count * n; i++) sum[l->first + i / n] += PetscSqr(PetscAbsScalar(a[i]));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)l->dim[0], MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time slices:"));
  for (PetscInt t = 0; t < l->dim[0]; t++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %.11e", (double)sum[t]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportMatrix(const Options* o, Mat D) {
  PetscInt n;
  MatInfo info;
  MatType type;
  PetscBool none;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(D, &n, NULL));
  PetscCall(MatGetType(D, &type));
  PetscCall(MatGetInfo(D, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix type: %s\nunknowns: %" PetscInt_FMT "\nblocks: %.0f of 12x12\n", type,
                        n, info.nz_used / (BLOCK * BLOCK)));
  PetscCall(PetscObjectTypeCompare((PetscObject)D, MATSEQBAIJ, &none));
  PetscCheck(!none || o->gamma5, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-mat_type %s has no product with the adjoint for blocks of 12 x 12; give -adjoint gamma5, or another "
             "-mat_type such as aij",
             type);
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveBoth(const Lattice* l, Adjoint* a, Vec b) {
  PetscReal norm, difference;
  Mat N;
  Vec x, y, rhs;
  KSP ksp, normal_ksp;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecDuplicate(b, &rhs));
  PetscCall(Solve("BiCGSTAB", NULL, KSPBCGS, NULL, a->D, b, a->D, b, x, &ksp));
  PetscCall(CreateNormal(a, &N));
  PetscCall(ApplyAdjoint(a, b, rhs));
  PetscCall(Solve("normal CG", "normal_", KSPCG, ksp, N, rhs, a->D, b, y, &normal_ksp));
  PetscCall(ReportSlices(l, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solution norm: %.11e\ndifference of the solutions: %.2e\n", (double)norm,
                        (double)(difference / norm)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&normal_ksp));
  PetscCall(MatDestroy(&N));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&rhs));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Options o;
  Lattice l;
  Adjoint a;
  double plaquette = 0;
  PetscLogDouble t0, t1;
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  if (o.gauge[0]) {
    PetscCall(ReadGauge(&o, &l, &plaquette));
  } else {
    PetscCall(LatticeCreate(o.dim, &l));
    RandomGauge(&o, &l);
  }
  PetscCall(CheckPlaquette(&o, &l, plaquette));

  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(&l, &a.D));
  PetscCall(AssembleMatrix(&o, &l, a.D));
  PetscCall(PetscTime(&t1));
  PetscCall(ReportMatrix(&o, a.D));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(MatCreateVecs(a.D, NULL, &b));
  PetscCall(VecSetFromOptions(b)); /* -vec_type cuda */
  a.by_gamma5 = o.gamma5;
  PetscCall(CreateGamma5(b, &a.gamma5));
  for (PetscInt i = 0; i < 2; i++) PetscCall(VecDuplicate(b, &a.work[i]));
  PetscCall(CheckGamma5(&a));
  if (o.point) {
    PetscCall(VecSet(b, 0));
    if (l.first == 0 && l.count > 0) PetscCall(VecSetValue(b, 0, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
  } else {
    PetscCall(FillRandom(o.seed, b));
  }
  PetscCall(SolveBoth(&l, &a, b));

  for (PetscInt i = 0; i < 2; i++) PetscCall(VecDestroy(&a.work[i]));
  PetscCall(VecDestroy(&a.gamma5));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a.D));
  PetscCall(PetscFree(l.link));
  PetscCall(PetscFinalize());
  return 0;
}
