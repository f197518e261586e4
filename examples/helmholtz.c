/*
  Acoustic scattering in a 3-D box with an absorbing boundary, in plain PETSc.

  The complex amplitude p of the sound pressure, p(x) exp(-i omega t), satisfies Helmholtz' equation.
  Weak form, for every test function q, with k = omega / c and k0 = omega / c0 that of the free fluid:

    integral_box (grad p . grad q - k^2 p q) dV - i k0 integral_side p q dS = integral_side g q dS,
    g = dp_in/dn - i k0 p_in

  The sides thus let pass, to first order (Sommerfeld), whatever differs from the incident field p_in:
  a plane wave, or with -source a spherical wave.  Trilinear bricks, exactly integrated; g is
  interpolated from the nodes.  The obstacle is a sphere made of the cells whose centre lies within it:
    none    nothing is there: p = p_in, so "scattered field" is the error of the discretisation
    fluid   another speed of sound, the same density
    soft    p = 0 on it
    hard    dp/dn = 0 on it

  Lengths are in m, frequencies in Hz, speeds in m/s; pressure in units of the incident wave's amplitude.

    helmholtz -obstacle hard -vti hard.vti
    mpirun -n 3 helmholtz -cells 40,40,40 -frequency 1000 -mat_type baij -ksp_rtol 1e-10 -log_view
    helmholtz -obstacle none -source -1,0.5,0.5 -cells 32,32,32
    helmholtz -cells 64,64,64 -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0

  Where PETSc's scalars are complex, a node is one unknown.  Where they are real, it is a pair (Re, Im), and each entry
  a + ib of the matrix is the block [[a, -b], [b, a]]: a matrix of block size 2.  Only StoreEntry(),
  AddTo() and Load() know.

  Solver: BiCGSTAB(2) with JACOBI unless told otherwise.  In the real form each eigenvalue lambda of the complex matrix
  comes with its conjugate.  They lie beside the real axis, around zero, where real BiCGSTAB does not converge.  So all
  equations are multiplied by exp(i turn): the eigenvalues move into the right half-plane.  To solvers in complex
  numbers this makes no difference.  PBJACOBI, which inverts the 2 x 2 blocks, would undo it; JACOBI with its real
  diagonal does not. GMRES needs no turn, but twice the steps of the complex form: -ksp_type gmres -ksp_gmres_restart
  300 -pc_type pbjacobi. Build: mpicc $(pkg-config --cflags PETSc) helmholtz.c -o helmholtz $(pkg-config --libs PETSc)
  -lm

  Each rank keeps every cell that touches a node it owns and computes the rows of its own nodes alone.
*/
static char help[] =
    "Acoustic scattering by a sphere in a 3-D box with an absorbing boundary.\n\
Real scalars: unknowns are pairs (Re, Im) and blocks are [[a,-b],[b,a]]; complex scalars: blocks of size 1.\n\
  -cells nx,ny,nz       cells of the box (24,24,24)\n\
  -size lx,ly,lz        its lengths in m (cubes as cells, longest side 1)\n\
  -frequency f          in Hz (686)\n\
  -speed c0             speed of sound in m/s (343)\n\
  -direction dx,dy,dz   a plane wave comes in, going there (1,0,0)\n\
  -source x,y,z         a spherical wave comes in instead, from a point outside the box, in m\n\
  -obstacle KIND        none, fluid, soft or hard (soft)\n\
  -center x,y,z         centre of the sphere in m (the box's)\n\
  -radius r             its radius in m (0.2 of the shortest length)\n\
  -inner_speed c        speed of sound in a fluid sphere (c0/2)\n\
  -turn angle           all equations are multiplied by exp(i angle), in degrees (75)\n\
  -vti FILE             write the field for ParaView\n\n";

#include <petscdmda.h>
#include <petscksp.h>

#define BLOCK (PetscDefined(USE_COMPLEX) ? 1 : 2) /* scalars an unknown */

typedef enum { NONE, FLUID, SOFT, HARD } Obstacle;
static const char* const obstacles[] = {"none", "fluid", "soft", "hard"};

/* Where the pressure is printed, in parts of the box: before, beside and behind the sphere, as the default wave goes */
enum { PROBES = 3 };
static const PetscReal probe[PROBES][3] = {{0.125, 0.5, 0.5}, {0.5, 0.875, 0.5}, {0.875, 0.5, 0.5}};

typedef struct {
  PetscInt cells[3];
  PetscReal size[3], h[3], frequency, speed, k; /* k: wave number of the free fluid */
  PetscReal turn, direction[3], source[3], center[3], radius, inner_speed;
  PetscBool spherical;
  Obstacle obstacle;
  char vti[PETSC_MAX_PATH_LEN];
} Options;

/* What a rank knows of the grid: a box of nodes, its own and their neighbours */
typedef struct {
  DM da;
  PetscInt s[3], w[3];   /* the local box with neighbours: first node and number of nodes in each direction */
  PetscInt os[3], ow[3]; /* the box of own nodes in it */
  PetscInt nnode, nowned, first,
      *global;      /* local nodes; own ones; lowest own number; global numbers of the local nodes */
  PetscBool* fixed; /* is the pressure of the local node zero by definition? */
} Grid;

/* ------------------------------- complex numbers in PETSc's scalars ------------------------------- */

static void StoreEntry(PetscScalar a[], PetscInt stride, PetscComplex z) {
#if defined(PETSC_USE_COMPLEX)
  (void)stride;
  a[0] = z;
#else
  a[0] = a[stride + 1] = PetscRealPartComplex(z);
  a[stride] = PetscImaginaryPartComplex(z);
  a[1] = -a[stride];
#endif
}

static void AddTo(PetscScalar a[], PetscInt i, PetscComplex z) {
#if defined(PETSC_USE_COMPLEX)
  a[i] += z;
#else
  a[2 * i] += PetscRealPartComplex(z);
  a[2 * i + 1] += PetscImaginaryPartComplex(z);
#endif
}

static PetscComplex Load(const PetscScalar a[], PetscInt i) {
#if defined(PETSC_USE_COMPLEX)
  return a[i];
#else
  return a[2 * i] + PETSC_i * a[2 * i + 1];
#endif
}

/* -------------------------------------------- options -------------------------------------------- */

/* Reads numbers that must be finite, and positive too unless they are the components of a point or a vector */
static PetscErrorCode GetReals(const char name[], const char what[], PetscBool positive, PetscInt wanted,
                               PetscReal value[], PetscBool* set) {
  PetscReal number[4]; /* room for one too many, which is then seen */
  PetscInt n = wanted + 1;
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &found));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, number, &n, NULL));
  PetscCheck(!found || n == wanted, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "%s: found %" PetscInt_FMT " numbers%s; give %" PetscInt_FMT ": %s", name, n, n > wanted ? " or more" : "",
             wanted, what);
  for (PetscInt i = 0; i < wanted && found; i++) value[i] = number[i];
  for (PetscInt i = 0; i < wanted; i++)
    PetscCheck(!PetscIsInfOrNanReal(value[i]) && (value[i] > 0 || !positive), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: number %" PetscInt_FMT " is %g; it must be finite%s: %s", name, i + 1, (double)value[i],
               positive ? " and positive" : "", what);
  if (set) *set = found;
  PetscFunctionReturn(0);
}

static PetscErrorCode GetCells(Options* o) {
  char text[64] = "24,24,24", rest;
  int n, c[3];
  PetscReal unknowns = BLOCK;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-cells", text, sizeof(text), NULL));
  n = sscanf(text, "%9d,%9d,%9d%c", &c[0], &c[1], &c[2], &rest);
  PetscCheck(n == 3 && c[0] > 0 && c[1] > 0 && c[2] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-cells: found \"%s\"; give three positive integers below 10^9, such as -cells 24,24,24", text);
  for (PetscInt d = 0; d < 3; d++) {
    o->cells[d] = c[d];
    unknowns *= c[d] + 1.0;
  }
  PetscCheck(unknowns < PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-cells %s: these are %g scalar unknowns, more than the %g that PETSc's integers of %d bits can number; "
             "give fewer cells, or use a PETSc with 64-bit indices",
             text, (double)unknowns, (double)PETSC_MAX_INT, (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(0);
}

/* Of the cells, the sphere has those whose centre lies in it */
static PetscBool IsInside(const Options* o, const PetscInt cell[3]) {
  PetscReal r2 = 0;

  for (PetscInt d = 0; d < 3; d++) r2 += PetscSqr((cell[d] + 0.5) * o->h[d] - o->center[d]);
  return (PetscBool)(o->obstacle != NONE && r2 < PetscSqr(o->radius));
}

/* The sphere must leave a layer of fluid before the sides, where the absorbing condition knows no obstacle */
static PetscErrorCode GetObstacle(Options* o) {
  PetscInt which = SOFT, cell[3] = {0, 0, 0};
  PetscBool found;
  char name[32] = "soft";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-obstacle", name, sizeof(name), NULL));
  PetscCall(PetscEListFind(4, obstacles, name, &which, &found));
  PetscCheck(found && name[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-obstacle: found \"%s\"; give one of none, fluid, soft, hard", name);
  o->obstacle = (Obstacle)which;
  o->radius = 0.2 * PetscMin(o->size[0], PetscMin(o->size[1], o->size[2]));
  for (PetscInt d = 0; d < 3; d++) o->center[d] = o->size[d] / 2;
  PetscCall(GetReals("-center", "x,y,z, the sphere's centre in m", PETSC_FALSE, 3, o->center, NULL));
  PetscCall(GetReals("-radius", "the sphere's radius in m", PETSC_TRUE, 1, &o->radius, NULL));
  o->inner_speed = o->speed / 2;
  PetscCall(GetReals("-inner_speed", "speed of sound in the sphere in m/s", PETSC_TRUE, 1, &o->inner_speed, NULL));
  for (PetscInt d = 0; d < 3 && o->obstacle != NONE; d++)
    PetscCheck(o->center[d] - o->radius >= o->h[d] && o->center[d] + o->radius <= o->size[d] - o->h[d],
               PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "The sphere reaches from %g to %g m in direction %c; a layer of one cell (%g m) must stay free at the "
               "sides of the box (0 to %g m): change -center, -radius, -size or -cells",
               (double)(o->center[d] - o->radius), (double)(o->center[d] + o->radius), (char)('x' + d), (double)o->h[d],
               (double)o->size[d]);
  for (PetscInt d = 0; d < 3 && o->obstacle != NONE; d++)
    cell[d] = (PetscInt)(o->center[d] / o->h[d]); /* its centre is the nearest */
  PetscCheck(o->obstacle == NONE || IsInside(o, cell), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "The sphere of radius %g m is too small for cells of %g x %g x %g m: it contains the centre of none, and "
             "would not be there. Give a larger -radius, or more -cells",
             (double)o->radius, (double)o->h[0], (double)o->h[1], (double)o->h[2]);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetIncident(Options* o) {
  PetscReal norm = 0, outside = 0;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(GetReals("-direction", "dx,dy,dz, where the plane wave goes", PETSC_FALSE, 3, o->direction, &set));
  PetscCall(GetReals("-source", "x,y,z, where the spherical wave comes from, in m", PETSC_FALSE, 3, o->source,
                     &o->spherical));
  PetscCheck(!set || !o->spherical, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Found both -direction and -source; give -direction for a plane wave or -source for a spherical one");
  for (PetscInt d = 0; d < 3; d++) {
    norm = PetscMax(norm, PetscAbsReal(o->direction[d]));
    outside = PetscMax(outside, PetscMax(-o->source[d], o->source[d] - o->size[d]));
  }
  PetscCheck(norm > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-direction is 0,0,0; give a vector, such as -direction 1,0,0; its length does not matter");
  for (PetscInt d = 0; d < 3; d++) o->direction[d] /= norm; /* so that no square overflows */
  norm = PetscSqrtReal(PetscSqr(o->direction[0]) + PetscSqr(o->direction[1]) + PetscSqr(o->direction[2]));
  for (PetscInt d = 0; d < 3; d++) o->direction[d] /= norm;
  PetscCheck(
      !o->spherical || outside > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
      "-source %g,%g,%g lies in the box, where the wave is infinite; put it outside of 0 to %g, 0 to %g, 0 to %g m",
      (double)o->source[0], (double)o->source[1], (double)o->source[2], (double)o->size[0], (double)o->size[1],
      (double)o->size[2]);
  PetscFunctionReturn(0);
}

/* Opens the output at once: a wrong path should not cost a solve */
static PetscErrorCode CheckWritable(const char path[]) {
  PetscMPIInt rank, ok = 1;
  FILE* file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    file = fopen(path, "w");
    ok = file != NULL;
    if (file) fclose(file);
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(ok, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "-vti: cannot write the file %s; its folder must exist and be writable", path);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Options* o) {
  PetscReal width = 0, shortest;
  PetscBool vti;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->frequency = 686;
  o->speed = 343;
  o->direction[0] = 1;
  PetscCall(GetCells(o));
  for (PetscInt d = 0; d < 3; d++)
    o->size[d] = (PetscReal)o->cells[d] / PetscMax(o->cells[0], PetscMax(o->cells[1], o->cells[2]));
  PetscCall(GetReals("-size", "lx,ly,lz, the lengths of the box in m", PETSC_TRUE, 3, o->size, NULL));
  PetscCall(GetReals("-frequency", "the frequency in Hz", PETSC_TRUE, 1, &o->frequency, NULL));
  PetscCall(GetReals("-speed", "the speed of sound in m/s", PETSC_TRUE, 1, &o->speed, NULL));
  o->k = 2 * PETSC_PI * o->frequency / o->speed;
  for (PetscInt d = 0; d < 3; d++) o->h[d] = o->size[d] / o->cells[d];
  for (PetscInt d = 0; d < 3; d++) width = PetscMax(width, o->h[d]);
  o->turn = 75;
  PetscCall(
      GetReals("-turn", "the angle by which the equations are turned, in degrees", PETSC_FALSE, 1, &o->turn, NULL));
  PetscCall(GetObstacle(o));
  PetscCall(GetIncident(o));
  shortest = (o->obstacle == FLUID ? PetscMin(o->speed, o->inner_speed) : o->speed) / o->frequency;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wave number: %.6g\ncells a wavelength: %.3g\n", (double)o->k,
                        (double)(shortest / width)));
  PetscCheck(shortest >= 4 * width, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "The shortest wave is %g m long and a cell up to %g m: fewer than 4 cells a wavelength (10 are usual) "
             "show no wave. Raise -cells, or lower -frequency",
             (double)shortest, (double)width);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vti", o->vti, sizeof(o->vti), &vti));
  PetscCheck(!vti || o->vti[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-vti: found no name of a file; give -vti FILE");
  if (o->vti[0]) PetscCall(CheckWritable(o->vti));
  PetscFunctionReturn(0);
}

/* --------------------------------------------- grid --------------------------------------------- */

/* No pressure: on a soft body, its surface and all; in a hard one, the nodes that no fluid touches */
static PetscBool IsFixed(const Options* o, const PetscInt node[3]) {
  PetscInt inside = 0, touching = 0, c[3];

  for (PetscInt v = 0; v < 8; v++) {
    PetscBool exists = PETSC_TRUE;

    for (PetscInt d = 0; d < 3; d++) {
      c[d] = node[d] - (v >> d & 1);
      if (c[d] < 0 || c[d] >= o->cells[d]) exists = PETSC_FALSE;
    }
    if (!exists) continue;
    touching++;
    if (IsInside(o, c)) inside++;
  }
  return (PetscBool)((o->obstacle == SOFT && inside > 0) || (o->obstacle == HARD && inside == touching));
}

static void Position(const Grid* g, PetscInt n, PetscInt node[3]) {
  node[0] = g->s[0] + n % g->w[0];
  node[1] = g->s[1] + n / g->w[0] % g->w[1];
  node[2] = g->s[2] + n / (g->w[0] * g->w[1]);
}

static PetscBool IsOwned(const Grid* g, PetscInt n) {
  return (PetscBool)(g->global[n] >= g->first && g->global[n] < g->first + g->nowned);
}

static PetscErrorCode GridCreate(const Options* o, Grid* g) {
  ISLocalToGlobalMapping map;
  const PetscInt* index;
  PetscInt node[3];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         o->cells[0] + 1, o->cells[1] + 1, o->cells[2] + 1, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE,
                         BLOCK, 1, NULL, NULL, NULL, &g->da));
  PetscCall(DMSetUp(g->da));
  PetscCall(DMDAGetGhostCorners(g->da, &g->s[0], &g->s[1], &g->s[2], &g->w[0], &g->w[1], &g->w[2]));
  PetscCall(DMDAGetCorners(g->da, &g->os[0], &g->os[1], &g->os[2], &g->ow[0], &g->ow[1], &g->ow[2]));
  g->nnode = g->w[0] * g->w[1] * g->w[2];
  g->nowned = g->ow[0] * g->ow[1] * g->ow[2];
  PetscCallMPI(MPI_Scan(&g->nowned, &g->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  g->first -= g->nowned;
  PetscCall(PetscMalloc2(g->nnode, &g->global, g->nnode, &g->fixed));
  PetscCall(DMGetLocalToGlobalMapping(g->da, &map));
  PetscCall(ISLocalToGlobalMappingGetBlockIndices(map, &index));
  PetscCall(PetscArraycpy(g->global, index, g->nnode));
  PetscCall(ISLocalToGlobalMappingRestoreBlockIndices(map, &index));
  for (PetscInt n = 0; n < g->nnode; n++) {
    Position(g, n, node);
    g->fixed[n] = IsFixed(o, node);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode GridDestroy(Grid* g) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(g->global, g->fixed));
  PetscCall(DMDestroy(&g->da));
  PetscFunctionReturn(0);
}

/* ----------------------------------------- matrix and load ----------------------------------------- */

/* The incident field at a node; with a normal, also the g of the weak form */
static PetscComplex Incident(const Options* o, const PetscInt node[3], const PetscReal normal[3], PetscComplex* g) {
  PetscReal phase = 0, r = 0, r0 = 0, along = 0;
  PetscComplex p, slope;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscReal x = node[d] * o->h[d], away = o->spherical ? x - o->source[d] : o->direction[d];

    phase += o->direction[d] * x;
    r += away * away;
    r0 += PetscSqr(o->size[d] / 2 - o->source[d]);
    if (normal) along += away * normal[d];
  }
  r = PetscSqrtReal(r);
  r0 = PetscSqrtReal(r0); /* amplitude 1 in the middle of the box */
  p = o->spherical ? r0 / r * PetscExpComplex(PETSC_i * o->k * (r - r0)) : PetscExpComplex(PETSC_i * o->k * phase);
  slope = o->spherical ? PETSC_i * o->k - 1 / r : PETSC_i * o->k;
  if (g) *g = (slope * along / r - PETSC_i * o->k) * p;
  return p;
}

/* Vertex v of a cell lies at (v & 1, v >> 1 & 1, v >> 2).  Products of the matrices of one interval: mass h/6
   [[2,1],[1,2]], stiffness 1/h [[1,-1],[-1,1]]. */
static PetscReal Mass(const Options* o, PetscInt d, PetscInt a, PetscInt b) {
  return o->h[d] / 6 * ((a >> d & 1) == (b >> d & 1) ? 2 : 1);
}

static PetscReal Stiffness(const Options* o, PetscInt a, PetscInt b) {
  PetscReal sum = 0;

  for (PetscInt d = 0; d < 3; d++)
    sum += ((a >> d & 1) == (b >> d & 1) ? 1 : -1) / o->h[d] * Mass(o, (d + 1) % 3, a, b) * Mass(o, (d + 2) % 3, a, b);
  return sum;
}

/* Mass of the face with normal d that vertices a and b share, if the cell has it on the boundary; else zero */
static PetscReal FaceMass(const Options* o, const PetscInt cell[3], PetscInt d, PetscInt a, PetscInt b) {
  const PetscInt end = a >> d & 1;

  if (end != (b >> d & 1) || cell[d] != (end ? o->cells[d] - 1 : 0)) return 0;
  return Mass(o, (d + 1) % 3, a, b) * Mass(o, (d + 2) % 3, a, b);
}

static PetscComplex Element(const Options* o, const PetscInt cell[3], PetscInt a, PetscInt b) {
  const PetscBool inside = IsInside(o, cell);
  const PetscReal k = inside && o->obstacle == FLUID ? o->k * o->speed / o->inner_speed : o->k;
  PetscReal side = 0;

  if (inside && o->obstacle != FLUID) return 0; /* no fluid here */
  for (PetscInt d = 0; d < 3; d++) side += FaceMass(o, cell, d, a, b);
  return Stiffness(o, a, b) - k * k * (Mass(o, 0, a, b) * Mass(o, 1, a, b) * Mass(o, 2, a, b)) - PETSC_i * o->k * side;
}

/* Counts the blocks of each row exactly: those of own columns and those of other ranks' */
static void CountBlocks(const Options* o, const Grid* g, PetscInt* own, PetscInt* other) {
  PetscInt node[3];

  for (PetscInt n = 0; n < g->nnode; n++) {
    PetscInt mine = 1, all = 1;

    if (!IsOwned(g, n)) continue;
    Position(g, n, node);
    for (PetscInt d = 0; d < 3; d++) {
      all *= (node[d] > 0) + 1 + (node[d] < o->cells[d]);
      mine *= (node[d] > g->os[d]) + 1 + (node[d] < g->os[d] + g->ow[d] - 1);
    }
    own[g->global[n] - g->first] = mine;
    other[g->global[n] - g->first] = all - mine;
  }
}

static PetscErrorCode CreateMatrix(const Options* o, const Grid* g, Mat* A) {
  PetscInt *own, *other;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, BLOCK * g->nowned, BLOCK * g->nowned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, BLOCK));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscMalloc2(g->nowned, &own, g->nowned, &other));
  CountBlocks(o, g, own, other);
  PetscCall(MatXAIJSetPreallocation(*A, BLOCK, own, other, NULL, NULL));
  PetscCall(PetscFree2(own, other));
  PetscCall(MatSetUp(*A)); /* for types without preallocation */
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* The rows of one cell, of those of its nodes that this rank owns; values: 8 blocks a node */
static PetscErrorCode AssembleCell(const Options* o, const Grid* g, const PetscInt cell[3], const PetscInt nodes[8],
                                   Mat A, PetscScalar load[]) {
  const PetscComplex turn = PetscExpComplex(PETSC_i * o->turn * PETSC_PI / 180);
  PetscScalar row[8 * BLOCK * BLOCK];
  PetscInt columns[8];
  PetscComplex gn;

  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < 8; b++) columns[b] = g->global[nodes[b]];
  for (PetscInt a = 0; a < 8; a++) {
    if (!IsOwned(g, nodes[a])) continue;
    for (PetscInt b = 0; b < 8; b++) {
      const PetscBool fixed = (PetscBool)(g->fixed[nodes[a]] || g->fixed[nodes[b]]);
      PetscComplex sum =
          fixed ? (a == b ? Stiffness(o, a, a) : 0) : Element(o, cell, a, b); /* a fixed node stays in the pattern */

      StoreEntry(row + BLOCK * b, 8 * BLOCK, turn * sum);
      for (PetscInt d = 0; d < 3; d++) {
        const PetscReal mass = FaceMass(o, cell, d, a, b);
        PetscReal normal[3] = {0, 0, 0};
        PetscInt node[3];

        if (mass == 0) continue;
        normal[d] = (a >> d & 1) ? 1 : -1;
        Position(g, nodes[b], node);
        Incident(o, node, normal, &gn);
        AddTo(load, columns[a] - g->first, turn * mass * gn);
      }
    }
    PetscCall(MatSetValuesBlocked(A, 1, &columns[a], 8, columns, row, ADD_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Options* o, const Grid* g, Mat A, Vec b) {
  PetscInt nodes[8], cell[3];
  PetscScalar* load;

  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 0));
  PetscCall(VecGetArray(b, &load));
  for (PetscInt n = 0; n < g->nnode; n++) { /* n: the cell's first node */
    PetscBool last = PETSC_FALSE;

    Position(g, n, cell);
    for (PetscInt d = 0; d < 3; d++)
      if (cell[d] == g->s[d] + g->w[d] - 1) last = PETSC_TRUE;
    if (last) continue;
    for (PetscInt v = 0; v < 8; v++) nodes[v] = n + (v & 1) + g->w[0] * ((v >> 1 & 1) + g->w[1] * (v >> 2));
    PetscCall(AssembleCell(o, g, cell, nodes, A, load));
  }
  PetscCall(VecRestoreArray(b, &load));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* ---------------------------------------- solve and report ---------------------------------------- */

/* Its square is what the solvers compute with; both underflow where the wave is long beyond measure */
static PetscErrorCode CheckLoad(const Options* o, Vec b) {
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &norm));
  norm *= norm;
  PetscCheck(norm > 0 && !PetscIsInfOrNanReal(norm), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "The square of the load's norm is %g; it must be positive and finite. The wave number is %g and the box "
             "%g x %g x %g m: give a -frequency, -speed and -size nearer to each other",
             (double)norm, (double)o->k, (double)o->size[0], (double)o->size[1], (double)o->size[2]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec p, KSP* ksp) {
  PetscLogDouble t0, t1;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPBCGSL));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSolve(*ksp, b, p));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve seconds: %.3f\n", t1 - t0));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportMatrix(Mat A) {
  PetscInt n;
  MatInfo info;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "matrix type: %s\nunknowns: %" PetscInt_FMT "\nblocks: %.0f of %dx%d\n", type,
                        n / BLOCK, info.nz_used / (BLOCK * BLOCK), (int)BLOCK, (int)BLOCK));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportSolve(KSP ksp, Mat A, Vec b, Vec p) {
  const char* reason_name;
  KSPConvergedReason reason;
  PetscReal bnorm, rnorm;
  PetscInt its;
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, p, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(ksp, &reason_name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "iterations: %" PetscInt_FMT "\nconvergence reason: %s\nrelative residual: %.3e\n", its,
                        reason_name, (double)(rnorm / bnorm)));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "The solve did not converge: %s after %" PetscInt_FMT
             " iterations, relative residual %.3e. Try -turn between 60 and 85, or -ksp_type gmres -ksp_gmres_restart "
             "300, or raise -ksp_max_it",
             reason_name, its, (double)(rnorm / bnorm));
  PetscFunctionReturn(0);
}

/* Root mean squares over the nodes in the fluid, and the pressure at the nodes nearest to the probes */
static PetscErrorCode ReportField(const Options* o, const Grid* g, Vec p) {
  const PetscScalar* a;
  PetscReal sum[4 + 2 * PROBES] = {0}; /* nodes; squares of p, of p - p_in, of p_in; pressures at the probes */
  PetscInt node[3], at[PROBES][3];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3 * PROBES; i++) at[i / 3][i % 3] = (PetscInt)(probe[i / 3][i % 3] * o->cells[i % 3] + 0.5);
  PetscCall(VecGetArrayRead(p, &a));
  for (PetscInt n = 0; n < g->nnode; n++) {
    PetscComplex value, incident;

    if (!IsOwned(g, n)) continue;
    Position(g, n, node);
    value = Load(a, g->global[n] - g->first);
    incident = Incident(o, node, NULL, NULL);
    for (PetscInt i = 0; i < PROBES; i++) {
      if (at[i][0] != node[0] || at[i][1] != node[1] || at[i][2] != node[2]) continue;
      sum[4 + 2 * i] = PetscRealPartComplex(value);
      sum[5 + 2 * i] = PetscImaginaryPartComplex(value);
    }
    if (g->fixed[n]) continue;
    sum[0] += 1;
    sum[1] += PetscSqr(PetscAbsComplex(value));
    sum[2] += PetscSqr(PetscAbsComplex(value - incident));
    sum[3] += PetscSqr(PetscAbsComplex(incident));
  }
  PetscCall(VecRestoreArrayRead(p, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4 + 2 * PROBES, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "nodes in the fluid: %.0f\nroot mean square pressure: %.11e\nscattered field: %.11e\n",
      (double)sum[0], (double)PetscSqrtReal(sum[1] / sum[0]), (double)PetscSqrtReal(sum[2] / sum[3])));
  for (PetscInt i = 0; i < PROBES; i++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pressure at (%g, %g, %g): %.11e %.11e\n", (double)(at[i][0] * o->h[0]),
                          (double)(at[i][1] * o->h[1]), (double)(at[i][2] * o->h[2]), (double)sum[4 + 2 * i],
                          (double)sum[5 + 2 * i]));
  PetscFunctionReturn(0);
}

/* An image file for ParaView: the real and imaginary part of the pressure and of the incident field, written by rank 0
 */
static PetscErrorCode WriteVTI(const Options* o, const Grid* g, Vec p) {
  const PetscScalar* a;
  VecScatter scatter;
  PetscMPIInt rank;
  FILE* file;
  Vec copy, natural, all;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(g->da, &copy)); /* whatever the type of p */
  PetscCall(VecCopy(p, copy));
  PetscCall(DMDACreateNaturalVector(g->da, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(g->da, copy, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(g->da, copy, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    const PetscInt* c = o->cells;
    PetscInt node[3], i = 0;

    file = fopen(o->vti, "w");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-vti: cannot write the file %s", o->vti);
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\">\n<ImageData WholeExtent=\"0 %d 0 %d "
            "0 %d\" Origin=\"0 0 0\" Spacing=\"%.17g %.17g %.17g\">\n",
            (int)c[0], (int)c[1], (int)c[2], (double)o->h[0], (double)o->h[1], (double)o->h[2]);
    fprintf(file,
            "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<PointData>\n<DataArray type=\"Float64\" Name=\"pressure and incident "
            "field, Re Im each\" NumberOfComponents=\"4\" format=\"ascii\">\n",
            (int)c[0], (int)c[1], (int)c[2]);
    for (node[2] = 0; node[2] <= c[2]; node[2]++) {
      for (node[1] = 0; node[1] <= c[1]; node[1]++) {
        for (node[0] = 0; node[0] <= c[0]; node[0]++) {
          const PetscComplex in = Incident(o, node, NULL, NULL), value = Load(a, i++);

          fprintf(file, "%.10g %.10g %.10g %.10g\n", (double)PetscRealPartComplex(value),
                  (double)PetscImaginaryPartComplex(value), (double)PetscRealPartComplex(in),
                  (double)PetscImaginaryPartComplex(in));
        }
      }
    }
    fprintf(file, "</DataArray>\n</PointData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
    PetscCheck(!ferror(file) && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "-vti: writing %s failed; is the disk full?", o->vti);
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Options o;
  Grid g;
  PetscLogDouble t0, t1;
  Mat A;
  Vec p, b;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(PetscTime(&t0));
  PetscCall(GridCreate(&o, &g));
  PetscCall(CreateMatrix(&o, &g, &A));
  PetscCall(MatCreateVecs(A, &p, &b));
  PetscCall(VecSetFromOptions(p)); /* -vec_type cuda */
  PetscCall(VecSetFromOptions(b));
  PetscCall(Assemble(&o, &g, A, b));
  PetscCall(PetscTime(&t1));
  PetscCall(ReportMatrix(A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(CheckLoad(&o, b));
  PetscCall(Solve(A, b, p, &ksp));
  PetscCall(ReportSolve(ksp, A, b, p));
  PetscCall(ReportField(&o, &g, p));
  if (o.vti[0]) PetscCall(WriteVTI(&o, &g, p));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&b));
  PetscCall(GridDestroy(&g));
  PetscCall(PetscFinalize());
  return 0;
}
