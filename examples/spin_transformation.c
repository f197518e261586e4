/*
  Spin transformations: a surface is bent to a wanted change of curvature while all its angles stay (nearly) as they
  are. After K. Crane, U. Pinkall, P. Schroeder: Spin transformations of discrete surfaces, ACM Trans. Graph. 30(4),
  2011.

  A number rho for each triangle says how much its mean curvature shall change.  A quaternion lambda at each vertex
  turns and scales the surface there.  The best one belongs to the smallest eigenvalue of E = (D - rho)^* A (D - rho)
  with D the quaternion Dirac operator and A the areas; inverse iteration finds it, each step a linear system solved by
  conjugate gradients.  The edges, turned and scaled by lambda, are then put together to a surface by a Poisson
  equation. Both matrices have one entry for each vertex and each side of an edge: of E a quaternion, of the Poisson
  equation a number times the identity.  PETSc is given blocks, of any type: -mat_type aij, baij, ...

    spin_transformation -sphere 6 -rho waves -obj waves.obj
    mpirun -n 3 spin_transformation -mesh sphere.obj -image bumps.tga -scale 5 -mat_type baij -obj bumpy.obj
    spin_transformation -mesh bunny.ply -rho stripes -unit_radius -renumber rcm -ksp_rtol 1e-9 -poisson_ksp_rtol 1e-9
    spin_transformation -sphere 7 -rho waves -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0
    spin_transformation -sphere 6 -steps 0 -obj before.obj      (no step: the mesh as it is)

  Options of the Poisson equation begin with -poisson_ (its matrix is of the type of E unless -poisson_mat_type says
  otherwise).  Solves end when the largest component of the residual is below -ksp_rtol (1e-7) times that of the
  right-hand side, as in the authors' program; -ksp_convergence_test default is PETSc's own test.  -mat_type sbaij is
  for real scalars.
*/
static char help[] =
    "Conformal deformation of a surface by the quaternion Dirac operator.\n\
The surface is a triangle mesh (-mesh) or a sphere (-sphere); the wanted change of its curvature is\n\
a grey image (-image) or a function (-rho), times -scale.\n\
  -mesh FILE           OBJ, OFF or PLY\n\
  -sphere n            the unit sphere: an icosahedron, its triangles cut in four n times\n\
  -image FILE          TGA or PGM; rho is -scale (black) to scale (white) at texture coordinates\n\
  -rho NAME            a function of the position: constant, height, stripes or waves (waves)\n\
  -scale s             factor on image or function, in 1 / length (5 with an image, else 2)\n\
  -unit_radius         move the mesh to centre 0 and radius 1 first, so that -scale means the same for all\n\
  -renumber ORDERING   renumber the vertices in an order of MatGetOrdering, such as rcm\n\
  -steps n             steps of inverse iteration (3)\n\
  -repeat n            repeat the inverse iteration n more times, in the log stage Repeat (0)\n\
  -obj FILE            write the surface to this OBJ file\n\n";

#include "common/curved_surface.h"
#include "common/input.h"
#include "common/solver.h"

typedef struct {
  char obj[PETSC_MAX_PATH_LEN];
  PetscInt steps, repeat;
} Options;

static PetscErrorCode ReadOptions(Options* o) {
  static const char* const with_value[] = {"-mesh",     "-sphere", "-image",  "-rho", "-scale",
                                           "-renumber", "-steps",  "-repeat", "-obj"};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(RequireValues(PETSC_STATIC_ARRAY_LENGTH(with_value), with_value));
  o->steps = 3;
  PetscCall(GetCount("-steps", &o->steps));
  PetscCall(GetCount("-repeat", &o->repeat));
  PetscCall(GetOutputPath("-obj", o->obj, sizeof(o->obj)));
  PetscFunctionReturn(0);
}

/* ----------------------------------------- the matrices ----------------------------------------- */

/* What triangle f adds to E between its corners i and j, i <= j; between j and i the conjugate of that */
static Quaternion DiracEntry(const CurvedSurface* s, PetscInt f, const Quaternion e[3], PetscReal area, PetscInt i,
                             PetscInt j) {
  const PetscReal rho = s->rho[f], square = area * rho * rho / 9;
  const Quaternion product = Times(e[i], e[j]);

  /* the edges' sign is that of a mesh turning counterclockwise as seen from outside */
  if (i == j) return (Quaternion){-product.a / (4 * area) + square, 0, 0, 0};
  return PlusTimes(PlusTimes((Quaternion){square, 0, 0, 0}, -1 / (4 * area), product), rho / 6,
                   PlusTimes(e[j], -1, e[i]));
}

/* The same for the Poisson equation: weights of the cotangent Laplacian */
static Quaternion LaplaceEntry(const CurvedSurface* s, PetscInt f, const Quaternion e[3], PetscReal area, PetscInt i,
                               PetscInt j) {
  (void)s;
  (void)f;
  if (i != j) return (Quaternion){-HalfCotangent(e, area, 3 - i - j), 0, 0, 0};
  return (Quaternion){HalfCotangent(e, area, (i + 1) % 3) + HalfCotangent(e, area, (i + 2) % 3), 0, 0, 0};
}

typedef Quaternion (*EntryFunction)(const CurvedSurface*, PetscInt, const Quaternion[3], PetscReal, PetscInt, PetscInt);

static PetscErrorCode CreateMatrix(const CurvedSurface* s, const char prefix[], MatType type, Mat* A) {
  BlockCounts counts;

  PetscFunctionBeginUser;
  PetscCall(BlockMatrixCreate(BS, s->own, prefix, type, A));
  PetscCall(BlockCountsCreate(s->own.count, &counts));
  for (PetscInt v = s->own.first; v < s->own.first + s->own.count; v++) CountBlock(s->own, v, v, &counts);
  for (PetscInt i = 0; i < 2 * s->m.nedge; i++)
    if (Contains(s->own, s->m.edge[i])) CountBlock(s->own, s->m.edge[i], s->m.edge[i ^ 1], &counts);
  PetscCall(BlockMatrixPreallocate(*A, &counts));
  PetscCall(MatSetOption(*A, MAT_HERMITIAN, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* A rank computes all triangles at its own vertices, and adds to its own rows alone */
static PetscErrorCode AssembleMatrix(const CurvedSurface* s, EntryFunction entry, Mat A) {
  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < s->m.nface; f++) {
    const PetscInt* v = s->m.face + 3 * f;
    Quaternion e[3];
    PetscReal area;

    if (!Contains(s->own, v[0]) && !Contains(s->own, v[1]) && !Contains(s->own, v[2])) continue;
    Triangle(&s->m, s->m.xyz, f, e, &area);
    for (PetscInt i = 0; i < 3; i++) {
      PetscScalar row[BS * 3 * BS];

      if (!Contains(s->own, v[i])) continue;
      for (PetscInt j = 0; j < 3; j++)
        SetBlock(i <= j ? entry(s, f, e, area, i, j) : Conjugate(entry(s, f, e, area, j, i)), 3 * BS, row + BS * j);
      PetscCall(MatSetValuesBlocked(A, 1, &v[i], 3, v, row, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrices(const CurvedSurface* s, Mat* E, Mat* L) {
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

/* The diagonal of a block is one number four times: PCJACOBI */
static PetscErrorCode CreateSolver(Mat A, Vec b, const char prefix[], LargestTest* test, KSP* ksp) {
  PetscFunctionBeginUser;
  PetscCall(SolverCreate(A, A, b, prefix, KSPCG, PCJACOBI, 1e-7, ksp));
  PetscCall(SolverTestLargest(*ksp, test));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(KSP ksp, const char label[], Vec b, Vec x, PetscInt* iterations) {
  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(CheckConverged(ksp, label,
                           "its ksp_rtol above the rounding error, give a larger -scale (without a change of curvature "
                           "the Dirac equation is singular), or check the mesh for triangles like needles"));
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

/* As a unit vector: the field 1, or one without any order, the same on any number of ranks (golden section) */
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
static PetscErrorCode InverseIteration(const Options* o, KSP ksp, Mat E, Vec b, Vec x, PetscInt iterations[]) {
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
    PetscCall(Solve(ksp, "of the Dirac equation ", b, x, &iterations[i]));
    PetscCall(VecNormalize(x, NULL));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveDirac(const Options* o, Mat E, Vec b, Vec x) {
  PetscInt *iterations, total = 0;
  PetscReal gamma, misfit;
  PetscLogDouble t0, t1;
  LargestTest test;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(o->steps, &iterations));
  PetscCall(CreateSolver(E, b, NULL, &test, &ksp));
  PetscCall(PetscTime(&t0));
  PetscCall(InverseIteration(o, ksp, E, b, x, iterations));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations of each step:"));
  for (PetscInt i = 0; i < o->steps; total += iterations[i++])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT, iterations[i]));
  PetscCall(RayleighQuotient(E, x, b, &gamma, &misfit));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\niterations: %" PetscInt_FMT
                        "\nsolve seconds: %.3f\neigenvalue: %.11e\neigenvector misfit: %.3e\n",
                        total, t1 - t0, (double)gamma, (double)misfit));
  PetscCall(RepeatBegin(o->repeat, &t0)); /* once more with everything set up and in place */
  for (PetscInt i = 0; i < o->repeat; i++) PetscCall(InverseIteration(o, ksp, E, b, x, iterations));
  PetscCall(RepeatEnd(o->repeat, total, t0));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(LargestTestDestroy(&test));
  PetscCall(PetscFree(iterations));
  PetscFunctionReturn(0);
}

/* All of a vector on every rank, as one quaternion a vertex, times a factor */
static PetscErrorCode GetQuaternions(const CurvedSurface* s, Vec x, PetscReal factor, Quaternion** q) {
  const PetscScalar* a;
  Vec all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->m.nvertex, q));
  PetscCall(VectorGather(x, PETSC_TRUE, &all));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt v = 0; v < s->m.nvertex; v++) (*q)[v] = Scaled(factor, GetNumbers(a + BS * v));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

/* The edge from v to w, turned and scaled: the mean of lambda^* e lambda along it, lambda linear in between */
static Quaternion TurnedEdge(const CurvedSurface* s, const Quaternion lambda[], PetscInt v, PetscInt w) {
  const Quaternion e = Edge(s->m.xyz, v, w), p = lambda[v], q = lambda[w], from_p = Times(Conjugate(p), e),
                   from_q = Times(Conjugate(q), e);
  const Quaternion near = PlusTimes(Times(from_p, p), 1, Times(from_q, q)),
                   mixed = PlusTimes(Times(from_p, q), 1, Times(from_q, p));

  return PlusTimes(Scaled((PetscReal)1 / 3, near), (PetscReal)1 / 6, mixed);
}

/* Divergence of the wanted edges at the own vertices; its mean, zero but for rounding, is taken off */
static PetscErrorCode AssembleDivergence(const CurvedSurface* s, const Quaternion lambda[], Vec b) {
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

      if (!Contains(s->own, v) && !Contains(s->own, w)) continue;
      SetNumbers(Scaled(HalfCotangent(e, area, i), TurnedEdge(s, lambda, v, w)), value);
      for (PetscInt k = 0; k < BS; k++) {
        if (Contains(s->own, v)) a[BS * (v - s->own.first) + k] -= value[k];
        if (Contains(s->own, w)) a[BS * (w - s->own.first) + k] += value[k];
      }
    }
  }
  for (PetscInt i = 0; i < BS * s->own.count; i++) mean[i % BS] += a[i] / (PetscReal)s->m.nvertex;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, BS, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < BS * s->own.count; i++) a[i] -= mean[i % BS];
  PetscCall(VecRestoreArray(b, &a));
  PetscFunctionReturn(0);
}

/* New positions, with the centre and the radius of the old */
static PetscErrorCode SolvePoisson(const CurvedSurface* s, Mat L, const Quaternion lambda[], Vec b, Vec x,
                                   PetscReal** xyz) {
  PetscReal centre[2][3], radius[2];
  Quaternion* position;
  PetscInt iterations;
  PetscLogDouble t0, t1;
  LargestTest test;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(L, b, "poisson_", &test, &ksp));
  PetscCall(AssembleDivergence(s, lambda, b));
  PetscCall(PetscTime(&t0));
  PetscCall(Solve(ksp, "of the Poisson equation ", b, x, &iterations));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(LargestTestDestroy(&test));
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

static PetscErrorCode Transform(const Options* o, const CurvedSurface* s) {
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
  PetscCall(CurvedSurfaceReport(s, xyz));
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
  CurvedSurface s;
  PetscBool asked, mesh, sphere;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsHasHelp(NULL, &asked));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mesh", &mesh));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sphere", &sphere));
  if (!asked || mesh || sphere) { /* not -help alone; with a surface that shows the solvers' options too */
    PetscCall(ReadOptions(&o));
    PetscCall(CurvedSurfaceFromOptions(&s));
    PetscCall(Transform(&o, &s));
    PetscCall(CurvedSurfaceDestroy(&s));
  }
  PetscCall(PetscFinalize());
  return 0;
}
