/*
  Spin transformations: a surface is bent to a wanted change of curvature while all its angles stay (nearly) as they
  are. After K. Crane, U. Pinkall, P. Schroeder: Spin transformations of discrete surfaces, ACM Trans. Graph. 30(4),
  2011.

  A number rho for each triangle says how much its mean curvature shall change.  A quaternion lambda at each vertex
  turns and scales the surface there.  The best one belongs to the smallest eigenvalue of E = (D - rho)^* A (D - rho)
  with D the quaternion Dirac operator and A the areas; inverse iteration finds it, each step a linear system solved by
  conjugate gradients.  The edges, turned and scaled by lambda, are then put together to a surface by a Poisson
  equation.  Both matrices have one entry for each vertex and each side of an edge: of E a quaternion, of the Poisson
  equation a number times the identity.  PETSc is given blocks, of any type: -mat_type aij, baij, ...

    spin_transformation -sphere 6 -rho waves -obj waves.obj
    mpirun -n 3 spin_transformation -mesh sphere.obj -image bumps.tga -scale 5 -mat_type baij -obj bumpy.obj
    spin_transformation -mesh bunny.ply -rho stripes -unit_radius -renumber rcm -ksp_rtol 1e-9 -poisson_ksp_rtol 1e-9
  -log_view spin_transformation -sphere 7 -rho waves -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0
    spin_transformation -sphere 6 -steps 0 -obj before.obj      (no step: the mesh as it is)

  Options of the Poisson equation begin with -poisson_ (its matrix is of the type of E unless -poisson_mat_type says
  otherwise). Solves end when the largest component of the residual is below -ksp_rtol (1e-7) times that of the
  right-hand side, as in the authors' program; -ksp_convergence_test default is PETSc's own test.  -mat_type sbaij is
  for real scalars. Build: mpicc $(pkg-config --cflags PETSc) spin_transformation.c surface_mesh.c surface_files.c
  grey_image.c -o spin_transformation $(pkg-config --libs PETSc) -lm
*/
static char help[] =
    "Conformal deformation of a surface by the quaternion Dirac operator.\n\
The surface is a triangle mesh (-mesh FILE.obj|.off|.ply) or a sphere (-sphere CUTS); the wanted change of its\n\
curvature is a grey image (-image FILE.tga|.pgm) or a function (-rho NAME), times -scale.\n\n";

#include <petscksp.h>
#include "common/grey_image.h"
#include "common/quaternion.h"
#include "common/surface_mesh.h"

typedef struct {
  char mesh[PETSC_MAX_PATH_LEN], image[PETSC_MAX_PATH_LEN], obj[PETSC_MAX_PATH_LEN], rho[64], renumber[64];
  PetscBool is_mesh, is_sphere, is_image, is_rho, unit_radius;
  PetscInt cuts, steps, repeat;
  PetscReal scale;
} Options;

/* The mesh and rho, whole on every rank, and the vertices whose matrix rows this rank owns */
typedef struct {
  SurfaceMesh m;
  PetscReal* rho; /* of a triangle: the wanted change of curvature, in 1 / length */
  PetscInt first, nowned;
} Surface;

/* ------------------------------------------- options ------------------------------------------- */

/* Functions of the place on the surface: p = (position - centre) / radius */
static PetscReal RhoConstant(const PetscReal p[3]) {
  (void)p;
  return 1;
}

static PetscReal RhoHeight(const PetscReal p[3]) { return p[2]; }

static PetscReal RhoStripes(const PetscReal p[3]) { return PetscSinReal(8 * p[2]); }

static PetscReal RhoWaves(const PetscReal p[3]) {
  return PetscSinReal(5 * p[0]) * PetscSinReal(5 * p[1]) + PetscSinReal(5 * p[2]) * PetscSinReal(5 * p[0]) +
         PetscSinReal(5 * p[1]) * PetscSinReal(5 * p[2]);
}

static const struct {
  const char* name;
  PetscReal (*value)(const PetscReal[3]);
} rhos[] = {{"constant", RhoConstant}, {"height", RhoHeight}, {"stripes", RhoStripes}, {"waves", RhoWaves}};

static PetscErrorCode CheckOptions(const Options* o) {
  PetscMPIInt rank, ok = 1;
  FILE* file;

  PetscFunctionBeginUser;
  PetscCheck(o->is_sphere != o->is_mesh, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Found %s of -mesh and -sphere; give exactly one: -mesh FILE for an OBJ, OFF or PLY mesh, or -sphere CUTS "
             "for a sphere",
             o->is_mesh ? "both" : "neither");
  PetscCheck(o->cuts <= 10, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-sphere %" PetscInt_FMT
             "; the icosahedron's triangles are cut in four 0 to 10 times (10 * 4^n + 2 vertices)",
             o->cuts);
  PetscCheck(!o->is_image || !o->is_rho, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Found both of -image and -rho; give the change of curvature by one of them");
  PetscCheck(!PetscIsInfOrNanReal(o->scale), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-scale is %g; give a finite number", (double)o->scale);
  if (!o->obj[0]) PetscFunctionReturn(0);
  /* open the output now: a wrong path should not cost a solve */
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    file = fopen(o->obj, "a");
    ok = file != NULL;
    if (file) fclose(file);
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(ok, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "-obj: cannot write the file %s; its folder must exist and be writable", o->obj);
  PetscFunctionReturn(0);
}

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

static PetscErrorCode ReadOptions(Options* o) {
  static const char* const with_value[] = {"-mesh",     "-sphere", "-image",  "-rho", "-scale",
                                           "-renumber", "-steps",  "-repeat", "-obj"};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->steps = 3;
  PetscCall(PetscStrncpy(o->rho, "waves", sizeof(o->rho)));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Spin transformation", NULL);
  PetscCall(PetscOptionsString("-mesh", "Triangle mesh: OBJ, OFF or PLY", NULL, o->mesh, o->mesh, sizeof(o->mesh),
                               &o->is_mesh));
  PetscCall(PetscOptionsBoundedInt("-sphere",
                                   "The unit sphere: an icosahedron, its triangles cut in four so many times", NULL,
                                   o->cuts, &o->cuts, &o->is_sphere, 0));
  PetscCall(PetscOptionsString("-image",
                               "Grey image: TGA or PGM; rho is -scale (black) to scale (white) at texture coordinates",
                               NULL, o->image, o->image, sizeof(o->image), &o->is_image));
  PetscCall(PetscOptionsString("-rho", "Change of curvature as a function: constant, height, stripes, waves", NULL,
                               o->rho, o->rho, sizeof(o->rho), &o->is_rho));
  o->scale = o->is_image ? 5 : 2;
  PetscCall(PetscOptionsReal("-scale", "Factor on image or function, in 1 / length", NULL, o->scale, &o->scale, NULL));
  PetscCall(PetscOptionsBool(
      "-unit_radius",
      "First move the mesh's centre to 0 and scale it to radius 1, so that -scale means the same for all", NULL,
      o->unit_radius, &o->unit_radius, NULL));
  PetscCall(PetscOptionsString("-renumber", "Renumber the vertices in an order of MatGetOrdering, such as rcm", NULL,
                               o->renumber, o->renumber, sizeof(o->renumber), NULL));
  PetscCall(PetscOptionsBoundedInt("-steps", "Steps of inverse iteration", NULL, o->steps, &o->steps, NULL, 0));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Do the inverse iteration so many times more, in the log stage Repeat",
                                   NULL, o->repeat, &o->repeat, NULL, 0));
  PetscCall(
      PetscOptionsString("-obj", "Write the surface to this OBJ file", NULL, o->obj, o->obj, sizeof(o->obj), NULL));
  PetscOptionsEnd();
  PetscCall(CheckValues(PETSC_STATIC_ARRAY_LENGTH(with_value), with_value));
  PetscFunctionReturn(0);
}

/* ----------------------------------------- the surface ----------------------------------------- */

static PetscErrorCode RhoOfFunction(const Options* o, Surface* s) {
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(rhos);
  PetscReal centre[3], radius;
  size_t r = 0;

  PetscFunctionBeginUser;
  while (r < n && strcmp(o->rho, rhos[r].name)) r++;
  PetscCheck(r < n, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-rho %s; choose constant, height, stripes or waves, or give an -image", o->rho);
  SurfaceMeshExtent(s->m.nvertex, s->m.xyz, centre, &radius);
  for (PetscInt f = 0; f < s->m.nface; f++) {
    PetscReal p[3] = {0, 0, 0};

    for (PetscInt i = 0; i < 9; i++)
      p[i % 3] += (s->m.xyz[3 * s->m.face[3 * f + i / 3] + i % 3] - centre[i % 3]) / (3 * radius);
    s->rho[f] = o->scale * rhos[r].value(p);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RhoOfImage(const Options* o, Surface* s) {
  GreyImage image;

  PetscFunctionBeginUser;
  PetscCheck(s->m.uv, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-image needs texture coordinates at every corner; %s has not all of them. OBJ: faces v/vt; PLY: vertices "
             "with u, v or s, t; OFF: none. Or use a function: -rho waves",
             o->mesh);
  PetscCall(GreyImageRead(o->image, &image));
  for (PetscInt f = 0; f < s->m.nface; f++) {
    const PetscReal* uv = s->m.uv + 6 * f;
    PetscReal sum = 0;

    for (PetscInt i = 0; i < 3; i++) sum += GreyImageSample(&image, uv[2 * i], uv[2 * i + 1]) / 3;
    s->rho[f] = (2 * sum - 1) * o->scale;
    PetscCheck(!PetscIsInfOrNanReal(s->rho[f]), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "%s: texture coordinates (%g, %g), (%g, %g), (%g, %g) of a triangle; they must be finite numbers",
               o->mesh, (double)uv[0], (double)uv[1], (double)uv[2], (double)uv[3], (double)uv[4], (double)uv[5]);
  }
  PetscCall(GreyImageDestroy(&image));
  PetscFunctionReturn(0);
}

/* Rank 0 does what needs the files */
static PetscErrorCode PrepareSurface(const Options* o, Surface* s) {
  PetscReal centre[3], radius;

  PetscFunctionBeginUser;
  if (o->is_sphere)
    PetscCall(SurfaceMeshCreateSphere(o->cuts, &s->m));
  else
    PetscCall(SurfaceMeshRead(o->mesh, &s->m));
  PetscCall(SurfaceMeshFinish(&s->m, o->is_sphere ? "-sphere" : o->mesh));
  if (o->unit_radius) {
    SurfaceMeshExtent(s->m.nvertex, s->m.xyz, centre, &radius);
    for (PetscInt i = 0; i < 3 * s->m.nvertex; i++) s->m.xyz[i] = (s->m.xyz[i] - centre[i % 3]) / radius;
  }
  if (o->renumber[0]) PetscCall(SurfaceMeshRenumber(&s->m, o->renumber));
  PetscCall(PetscMalloc1(s->m.nface, &s->rho));
  if (o->is_image)
    PetscCall(RhoOfImage(o, s));
  else
    PetscCall(RhoOfFunction(o, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode SurfaceCreate(const Options* o, Surface* s) {
  const SurfaceMesh* m = &s->m;
  PetscReal low = PETSC_MAX_REAL, high = PETSC_MIN_REAL;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(PrepareSurface(o, s));
  PetscCall(SurfaceMeshBroadcast(&s->m));
  if (rank) PetscCall(PetscMalloc1(m->nface, &s->rho));
  PetscCallMPI(MPI_Bcast(s->rho, (PetscMPIInt)m->nface, MPIU_REAL, 0, PETSC_COMM_WORLD));
  s->nowned = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &s->nowned, &s->m.nvertex));
  PetscCallMPI(MPI_Scan(&s->nowned, &s->first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  s->first -= s->nowned;
  for (PetscInt f = 0; f < m->nface; f++) {
    low = PetscMin(low, s->rho[f]);
    high = PetscMax(high, s->rho[f]);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "vertices: %" PetscInt_FMT "\ntriangles: %" PetscInt_FMT "\nboundary edges: %" PetscInt_FMT
                        "\n",
                        m->nvertex, m->nface, m->boundary));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "unused vertices left out: %" PetscInt_FMT "\neuler characteristic: %" PetscInt_FMT
                        "\nrho: %g to %g\n",
                        m->unused, m->nvertex - m->nedge + m->nface, (double)low, (double)high));
  PetscFunctionReturn(0);
}

static PetscBool IsOwned(const Surface* s, PetscInt v) {
  return (PetscBool)(v >= s->first && v < s->first + s->nowned);
}

/* From vertex v to vertex w; xyz: positions */
static Quaternion Edge(const PetscReal xyz[], PetscInt v, PetscInt w) {
  const PetscReal *x = xyz + 3 * v, *y = xyz + 3 * w;

  return (Quaternion){0, y[0] - x[0], y[1] - x[1], y[2] - x[2]};
}

/* The edges of triangle f, each opposite the corner of its number, and the triangle's area */
static void Triangle(const SurfaceMesh* m, const PetscReal xyz[], PetscInt f, Quaternion e[3], PetscReal* area) {
  const PetscInt* v = m->face + 3 * f;
  Quaternion normal;

  for (PetscInt i = 0; i < 3; i++) e[i] = Edge(xyz, v[(i + 1) % 3], v[(i + 2) % 3]);
  normal = Times(e[0], e[1]);
  *area = PetscSqrtReal(Dot(normal, normal)) / 2;
}

/* Half the cotangent of the angle at corner i */
static PetscReal HalfCotangent(const Quaternion e[3], PetscReal area, PetscInt i) {
  return -Dot(e[(i + 1) % 3], e[(i + 2) % 3]) / (4 * area);
}

/* ----------------------------------------- the matrices ----------------------------------------- */

/* What triangle f adds to E between its corners i and j, i <= j; between j and i the conjugate of that */
static Quaternion DiracEntry(const Surface* s, PetscInt f, const Quaternion e[3], PetscReal area, PetscInt i,
                             PetscInt j) {
  const PetscReal rho = s->rho[f], square = area * rho * rho / 9;
  const Quaternion product = Times(e[i], e[j]);

  /* the edges' sign is that of a mesh turning counterclockwise as seen from outside */
  if (i == j) return (Quaternion){-product.a / (4 * area) + square, 0, 0, 0};
  return PlusTimes(PlusTimes((Quaternion){square, 0, 0, 0}, -1 / (4 * area), product), rho / 6,
                   PlusTimes(e[j], -1, e[i]));
}

/* The same for the Poisson equation: weights of the cotangent Laplacian */
static Quaternion LaplaceEntry(const Surface* s, PetscInt f, const Quaternion e[3], PetscReal area, PetscInt i,
                               PetscInt j) {
  (void)s;
  (void)f;
  if (i != j) return (Quaternion){-HalfCotangent(e, area, 3 - i - j), 0, 0, 0};
  return (Quaternion){HalfCotangent(e, area, (i + 1) % 3) + HalfCotangent(e, area, (i + 2) % 3), 0, 0, 0};
}

typedef Quaternion (*EntryFunction)(const Surface*, PetscInt, const Quaternion[3], PetscReal, PetscInt, PetscInt);

/* Counts the blocks of each own row: own columns and others', and the same right of the diagonal */
static void CountBlocks(const Surface* s, PetscInt* count[4]) {
  for (PetscInt v = 0; v < s->nowned; v++) count[0][v] = count[2][v] = 1;
  for (PetscInt i = 0; i < 2 * s->m.nedge; i++) {
    const PetscInt row = s->m.edge[i], column = s->m.edge[i ^ 1];

    if (!IsOwned(s, row)) continue;
    count[IsOwned(s, column) ? 0 : 1][row - s->first]++;
    if (column > row) count[IsOwned(s, column) ? 2 : 3][row - s->first]++;
  }
}

static PetscErrorCode CreateMatrix(const Surface* s, const char prefix[], MatType type, Mat* A) {
  PetscInt* count[4];
  PetscBool sbaij;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetSizes(*A, BS * s->nowned, BS * s->nowned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, BS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscCalloc4(s->nowned, &count[0], s->nowned, &count[1], s->nowned, &count[2], s->nowned, &count[3]));
  CountBlocks(s, count);
  PetscCall(MatXAIJSetPreallocation(*A, BS, count[0], count[1], count[2], count[3]));
  PetscCall(PetscFree4(count[0], count[1], count[2], count[3]));
  PetscCall(MatSetUp(*A)); /* for types without preallocation */
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*A, &sbaij, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (sbaij) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* A rank computes all triangles at its own vertices, and adds to its own rows alone */
static PetscErrorCode AssembleMatrix(const Surface* s, EntryFunction entry, Mat A) {
  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < s->m.nface; f++) {
    const PetscInt* v = s->m.face + 3 * f;
    Quaternion e[3];
    PetscReal area;

    if (!IsOwned(s, v[0]) && !IsOwned(s, v[1]) && !IsOwned(s, v[2])) continue;
    Triangle(&s->m, s->m.xyz, f, e, &area);
    for (PetscInt i = 0; i < 3; i++) {
      PetscScalar row[BS * 3 * BS];

      if (!IsOwned(s, v[i])) continue;
      for (PetscInt j = 0; j < 3; j++)
        SetBlock(i <= j ? entry(s, f, e, area, i, j) : Conjugate(entry(s, f, e, area, j, i)), 3 * BS, row + BS * j);
      PetscCall(MatSetValuesBlocked(A, 1, &v[i], 3, v, row, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrices(const Surface* s, Mat* E, Mat* L) {
  PetscLogDouble t0, t1;
  PetscInt n;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(s, NULL, MATBAIJ, E));
  PetscCall(AssembleMatrix(s, DiracEntry, *E));
  PetscCall(PetscTime(&t1));
  PetscCall(MatGetType(*E, &type));
  PetscCall(CreateMatrix(s, "poisson_", type, L));
  PetscCall(AssembleMatrix(s, LaplaceEntry, *L));
  PetscCall(MatGetSize(*E, &n, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "matrix type: %s\nblock size: %d\nunknowns: %" PetscInt_FMT "\nblocks: %" PetscInt_FMT
                        "\nassembly seconds: %.3f\n",
                        type, (int)BS, n, s->m.nvertex + 2 * s->m.nedge, t1 - t0));
  PetscFunctionReturn(0);
}

/* ------------------------------------------ the solves ------------------------------------------ */

/* A solver, and what its convergence test needs */
typedef struct {
  KSP ksp;
  Vec residual, work;
  PetscReal limit; /* of the residual's largest component */
} Solver;

/* Ends when the largest component of the residual is small.  It is at least rnorm / sqrt(n), so nothing is computed
 * before that is. */
static PetscErrorCode TestLargest(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason* reason, void* context) {
  Solver* test = (Solver*)context;
  PetscReal rtol, largest;
  KSPNormType type;
  PetscInt n;
  Vec b, r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetRhs(ksp, &b));
  if (it == 0) {
    PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
    PetscCall(VecNorm(b, NORM_INFINITY, &largest));
    test->limit = rtol * largest;
  }
  *reason = PetscIsInfOrNanReal(rnorm) ? KSP_DIVERGED_NANORINF : KSP_CONVERGED_ITERATING;
  if (*reason) PetscFunctionReturn(0);
  PetscCall(KSPGetNormType(ksp, &type));
  PetscCall(VecGetSize(b, &n));
  if (type == KSP_NORM_UNPRECONDITIONED && rnorm > test->limit * PetscSqrtReal((PetscReal)n)) PetscFunctionReturn(0);
  if (!test->work) {
    PetscCall(VecDuplicate(b, &test->work));
    PetscCall(VecDuplicate(b, &test->residual));
  }
  PetscCall(KSPBuildResidual(ksp, test->work, test->residual, &r));
  PetscCall(VecNorm(r, NORM_INFINITY, &largest));
  if (largest <= test->limit) *reason = KSP_CONVERGED_RTOL;
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(Mat A, const char prefix[], Solver* solver) {
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(solver, sizeof(*solver)));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver->ksp));
  PetscCall(KSPSetOptionsPrefix(solver->ksp, prefix));
  PetscCall(KSPSetOperators(solver->ksp, A, A));
  PetscCall(KSPSetType(solver->ksp, KSPCG));
  PetscCall(KSPSetNormType(solver->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(solver->ksp, 1e-7, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetConvergenceTest(solver->ksp, TestLargest, solver, NULL));
  PetscCall(KSPGetPC(solver->ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI)); /* the diagonal of a block is one number four times */
  PetscCall(KSPSetFromOptions(solver->ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverDestroy(Solver* solver) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&solver->ksp));
  PetscCall(VecDestroy(&solver->work));
  PetscCall(VecDestroy(&solver->residual));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverSolve(const Solver* solver, const char what[], Vec b, Vec x, PetscInt* iterations) {
  const char* name;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(solver->ksp, b, x));
  PetscCall(KSPGetIterationNumber(solver->ksp, iterations));
  PetscCall(KSPGetConvergedReason(solver->ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(solver->ksp, &name));
  PetscCheck(
      reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
      "The solve of the %s did not converge: %s after %" PetscInt_FMT
      " iterations. Raise its ksp_max_it, or its ksp_rtol above the rounding error, give a larger -scale (without a "
      "change of curvature the Dirac equation is singular), or check the mesh for triangles like needles",
      what, name, *iterations);
  PetscFunctionReturn(0);
}

/* gamma = <x, E x> for |x| = 1, and the largest component of E x - gamma x */
static PetscErrorCode RayleighQuotient(Mat E, Vec x, Vec work, PetscReal* gamma, PetscReal* misfit) {
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(MatMult(E, x, work));
  PetscCall(VecDot(work, x, &dot));
  PetscCall(VecAXPY(work, -dot, x));
  PetscCall(VecNorm(work, NORM_INFINITY, misfit));
  *gamma = PetscRealPart(dot);
  PetscFunctionReturn(0);
}

/* As a unit vector: the field 1, or one without any order, the same on any number of ranks (multiples of the golden
 * section) */
static PetscErrorCode SetStart(PetscBool one, Vec x) {
  PetscScalar* a;
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt i = first; i < last; i += BS) {
    PetscReal part[4] = {1, 0, 0, 0};

    for (PetscInt k = 0; k < 4 && !one; k++) {
      part[k] = (PetscReal)0.6180339887498949 * (4 * (i / BS) + k + 1);
      part[k] -= PetscFloorReal(part[k]);
    }
    SetNumbers((Quaternion){part[0], part[1], part[2], part[3]}, a + i - first);
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(VecNormalize(x, NULL));
  PetscFunctionReturn(0);
}

/* From x = 1 towards the eigenvector of the smallest eigenvalue.  Where rho is 0, 1 is it already, and E cannot be
   solved with. Where 1 is the eigenvector of another eigenvalue, as on a symmetric mesh, no step would leave it: so
   they start elsewhere. */
static PetscErrorCode InverseIteration(const Options* o, const Solver* solver, Mat E, Vec b, Vec x,
                                       PetscInt iterations[]) {
  PetscReal gamma, misfit, most, largest;
  PetscBool stays, found;
  Vec diagonal;

  PetscFunctionBeginUser;
  PetscCall(SetStart(PETSC_TRUE, x));
  PetscCall(VecDuplicate(x, &diagonal));
  PetscCall(MatGetDiagonal(E, diagonal));
  PetscCall(VecNorm(diagonal, NORM_INFINITY, &most));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(VecNorm(x, NORM_INFINITY, &largest));
  PetscCall(RayleighQuotient(E, x, b, &gamma, &misfit));
  stays = (PetscBool)(misfit <= 100 * PETSC_MACHINE_EPSILON * most * largest);
  found = (PetscBool)(stays && PetscAbsReal(gamma) <= PETSC_SQRT_MACHINE_EPSILON * most);
  if (stays && !found && o->steps > 0) PetscCall(SetStart(PETSC_FALSE, x));
  for (PetscInt i = 0; i < o->steps; i++) {
    iterations[i] = 0;
    if (found) continue;
    PetscCall(VecCopy(x, b));
    PetscCall(SolverSolve(solver, "Dirac equation", b, x, &iterations[i]));
    PetscCall(VecNormalize(x, NULL));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveDirac(const Options* o, Mat E, Vec b, Vec x) {
  PetscInt *iterations, total = 0;
  PetscReal gamma, misfit;
  PetscLogStage stage;
  PetscLogDouble t0, t1;
  Solver solver;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(o->steps, &iterations));
  PetscCall(SolverCreate(E, NULL, &solver));
  PetscCall(PetscTime(&t0));
  PetscCall(InverseIteration(o, &solver, E, b, x, iterations));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations of each step:"));
  for (PetscInt i = 0; i < o->steps; total += iterations[i++])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT, iterations[i]));
  PetscCall(RayleighQuotient(E, x, b, &gamma, &misfit));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\niterations: %" PetscInt_FMT
                        "\nsolve seconds: %.3f\neigenvalue: %.11e\neigenvector misfit: %.3e\n",
                        total, t1 - t0, (double)gamma, (double)misfit));
  if (o->repeat) { /* once more with everything set up and in place */
    PetscCall(PetscLogStageRegister("Repeat", &stage));
    PetscCall(PetscLogStagePush(stage));
    PetscCall(PetscTime(&t0));
    for (PetscInt i = 0; i < o->repeat; i++) PetscCall(InverseIteration(o, &solver, E, b, x, iterations));
    PetscCall(PetscTime(&t1));
    PetscCall(PetscLogStagePop());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "repeat seconds each: %.3f\n", (t1 - t0) / o->repeat));
  }
  PetscCall(SolverDestroy(&solver));
  PetscCall(PetscFree(iterations));
  PetscFunctionReturn(0);
}

/* All of a vector on every rank, as one quaternion a vertex, times a factor */
static PetscErrorCode GetQuaternions(const Surface* s, Vec x, PetscReal factor, Quaternion** q) {
  const PetscScalar* a;
  VecScatter scatter;
  Vec all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->m.nvertex, q));
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt v = 0; v < s->m.nvertex; v++)
    (*q)[v] = PlusTimes((Quaternion){0, 0, 0, 0}, factor, GetNumbers(a + BS * v));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

/* The edge from v to w, turned and scaled: the mean of lambda^* e lambda along it, lambda linear in between */
static Quaternion TurnedEdge(const Surface* s, const Quaternion lambda[], PetscInt v, PetscInt w) {
  const Quaternion e = Edge(s->m.xyz, v, w), p = lambda[v], q = lambda[w], from_p = Times(Conjugate(p), e),
                   from_q = Times(Conjugate(q), e);
  const Quaternion near = PlusTimes(Times(from_p, p), 1, Times(from_q, q)),
                   mixed = PlusTimes(Times(from_p, q), 1, Times(from_q, p));

  return PlusTimes(PlusTimes((Quaternion){0, 0, 0, 0}, (PetscReal)1 / 3, near), (PetscReal)1 / 6, mixed);
}

/* Divergence of the wanted edges at the own vertices; its mean, zero but for rounding, is taken off */
static PetscErrorCode AssembleDivergence(const Surface* s, const Quaternion lambda[], Vec b) {
  PetscScalar *a, mean[BS] = {0}, value[BS];

  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 0));
  PetscCall(VecGetArray(b, &a));
  for (PetscInt f = 0; f < s->m.nface; f++) {
    Quaternion e[3];
    PetscReal area;

    Triangle(&s->m, s->m.xyz, f, e, &area);
    for (PetscInt i = 0; i < 3; i++) {
      const PetscInt v = s->m.face[3 * f + (i + 1) % 3], w = s->m.face[3 * f + (i + 2) % 3];

      if (!IsOwned(s, v) && !IsOwned(s, w)) continue;
      SetNumbers(PlusTimes((Quaternion){0, 0, 0, 0}, HalfCotangent(e, area, i), TurnedEdge(s, lambda, v, w)), value);
      for (PetscInt k = 0; k < BS; k++) {
        if (IsOwned(s, v)) a[BS * (v - s->first) + k] -= value[k];
        if (IsOwned(s, w)) a[BS * (w - s->first) + k] += value[k];
      }
    }
  }
  for (PetscInt i = 0; i < BS * s->nowned; i++) mean[i % BS] += a[i] / (PetscReal)s->m.nvertex;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, BS, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < BS * s->nowned; i++) a[i] -= mean[i % BS];
  PetscCall(VecRestoreArray(b, &a));
  PetscFunctionReturn(0);
}

/* New positions, with the centre and the radius of the old */
static PetscErrorCode SolvePoisson(const Surface* s, Mat L, const Quaternion lambda[], Vec b, Vec x, PetscReal** xyz) {
  PetscReal centre[2][3], radius[2];
  Quaternion* position;
  PetscInt iterations;
  PetscLogDouble t0, t1;
  Solver solver;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(L, "poisson_", &solver));
  PetscCall(AssembleDivergence(s, lambda, b));
  PetscCall(PetscTime(&t0));
  PetscCall(SolverSolve(&solver, "Poisson equation", b, x, &iterations));
  PetscCall(PetscTime(&t1));
  PetscCall(SolverDestroy(&solver));
  PetscCall(GetQuaternions(s, x, 1, &position));
  PetscCall(PetscMalloc1(3 * s->m.nvertex, xyz));
  for (PetscInt v = 0; v < s->m.nvertex; v++) {
    (*xyz)[3 * v] = position[v].b;
    (*xyz)[3 * v + 1] = position[v].c;
    (*xyz)[3 * v + 2] = position[v].d;
  }
  PetscCall(PetscFree(position));
  SurfaceMeshExtent(s->m.nvertex, s->m.xyz, centre[0], &radius[0]);
  SurfaceMeshExtent(s->m.nvertex, *xyz, centre[1], &radius[1]);
  for (PetscInt i = 0; i < 3 * s->m.nvertex; i++)
    (*xyz)[i] = ((*xyz)[i] - centre[1][i % 3]) * radius[0] / radius[1] + centre[0][i % 3];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "poisson iterations: %" PetscInt_FMT "\npoisson seconds: %.3f\n", iterations,
                        t1 - t0));
  PetscFunctionReturn(0);
}

/* A triangle's linear map has singular values p >= q; p / q + q / p is the sum of cot |edge|^2 over twice the new area
 */
static PetscErrorCode ReportSurface(const Surface* s, const PetscReal xyz[]) {
  PetscReal mean = 0, most = 1, total = 0, smallest = PETSC_MAX_REAL, largest = 0;

  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < s->m.nface; f++) {
    Quaternion before[3], after[3];
    PetscReal area[2], sum = 0, ratio;

    Triangle(&s->m, s->m.xyz, f, before, &area[0]);
    Triangle(&s->m, xyz, f, after, &area[1]);
    for (PetscInt i = 0; i < 3; i++) sum += HalfCotangent(before, area[0], i) * Dot(after[i], after[i]);
    sum = area[1] > 0 ? PetscMax(2, sum / area[1]) : PETSC_MAX_REAL;
    ratio = (sum + PetscSqrtReal(sum * sum - 4)) / 2;
    most = PetscMax(most, ratio);
    smallest = PetscMin(smallest, PetscSqrtReal(area[1] / area[0]));
    largest = PetscMax(largest, PetscSqrtReal(area[1] / area[0]));
    mean += ratio * area[0];
    total += area[0];
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "length factors: %.6g to %.6g\nmean distortion: %.8g\nlargest distortion: %.6g\n",
                        (double)smallest, (double)largest, (double)(mean / total), (double)most));
  PetscFunctionReturn(0);
}

static PetscErrorCode Transform(const Options* o, Surface* s) {
  Quaternion* lambda;
  PetscReal* xyz;
  PetscMPIInt rank;
  Mat E, L;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrices(s, &E, &L));
  PetscCall(MatCreateVecs(E, &x, &b));
  PetscCall(VecSetFromOptions(x)); /* -vec_type cuda */
  PetscCall(VecSetFromOptions(b));
  PetscCall(SolveDirac(o, E, b, x));
  PetscCall(GetQuaternions(s, x, PetscSqrtReal((PetscReal)s->m.nvertex), &lambda)); /* of length 1 in the mean */
  PetscCall(SolvePoisson(s, L, lambda, b, x, &xyz));
  PetscCall(ReportSurface(s, xyz));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (o->obj[0] && rank == 0) PetscCall(SurfaceMeshWrite(&s->m, xyz, o->obj));
  PetscCall(PetscFree(lambda));
  PetscCall(PetscFree(xyz));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&L));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Options o;
  Surface s = {0};
  PetscBool asked;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(PetscOptionsHasHelp(NULL, &asked));
  if (asked && !o.is_sphere &&
      !o.is_mesh) { /* -help alone; with a surface it goes on and shows the solvers' options too */
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(CheckOptions(&o));
  PetscCall(SurfaceCreate(&o, &s));
  PetscCall(Transform(&o, &s));
  PetscCall(SurfaceMeshDestroy(&s.m));
  PetscCall(PetscFree(s.rho));
  PetscCall(PetscFinalize());
  return 0;
}
