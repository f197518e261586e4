/*
  The Wilson-Dirac operator of lattice QCD, in plain PETSc with complex scalars: a matrix of dense complex 12 x 12
  blocks.

  On a periodic lattice of T x Z x Y x X sites, a quark field has 4 spin times 3 colour components a site, and the gauge
  field one SU(3) matrix U_mu(x) a site and direction.  With hopping terms to the 8 neighbours,

    D psi(x) = (4 + m) psi(x)
               - 1/2 sum_mu [ (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu) ],

  D is a matrix of 12 x 12 blocks, 9 a row (fewer where an extent is below 3 and neighbours coincide).  Lengths are in
  units of the lattice spacing, the mass m (-mass) in its inverse.  With the Pauli matrices s_x, s_y, s_z, gamma_T is
  s_x (x) 1 and gamma_Z, gamma_Y, gamma_X are s_y (x) s_z, s_y (x) s_y, s_y (x) s_x: gamma_5 is diag(1, 1, -1, -1) up to
  its sign, and gamma_5 D is Hermitian, which is checked.  Solved is D x = b, by BiCGSTAB and by conjugate
  gradients on D^+ D x = D^+ b.  The diagonal block is 4 + m times the identity: Jacobi would change nothing.

    lattice_dirac -lattice 8,8,8,8 -mass 0.1 -disorder 0.3
    mpirun -n 3 lattice_dirac -gauge 8x8x8x8b6.0000id3n1 -mass -0.5 -source point -mat_type baij -adjoint gamma5
    lattice_dirac -lattice 16,8,8,8 -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0

  The gauge field is random, or read from a file (common/gauge_field.h).

  Options of the solves: -ksp_type, -ksp_rtol, ...; for the normal equations -normal_ksp_type and so on, whose
  tolerances are those of the first solve unless told otherwise.  -adjoint says how D^+ is applied: by
  MatMultHermitianTranspose (matrix), or as gamma_5 D gamma_5 (gamma5) for matrix types that lack it, as PETSc's BAIJ
  with blocks above 5 on one rank.
*/
static char help[] =
    "Wilson-Dirac operator on a periodic 4-D lattice: matrix of complex 12 x 12 blocks, solved twice.\n\
  -lattice T,Z,Y,X   extents (8,8,8,8), for a random gauge field\n\
  -disorder d        0: all links are 1; large: links without order (0.3)\n\
  -gauge FILE        read lattice and gauge field from a file instead\n\
  -seed n            seed of random links and right-hand side (1)\n\
  -mass m            quark mass in units of the inverse lattice spacing (0.1)\n\
  -source NAME       right-hand side: random, or point (site 0, spin 0, colour 0) (random)\n\
  -adjoint NAME      D^+ by MatMultHermitianTranspose (matrix), or gamma_5 D gamma_5 (gamma5) (matrix)\n\n";

#include "common/gauge_field.h"
#include "common/input.h"
#include "common/solver.h"

#if !defined(PETSC_USE_COMPLEX)
#error "lattice_dirac needs a PETSc with complex scalars; point PETSC_DIR and PETSC_ARCH, or PKG_CONFIG_PATH, to one"
#endif

enum { BLOCK = 12 }; /* numbers of a site's field */

typedef struct {
  PetscInt seed, point, gamma5;
  PetscReal mass;
} Options;

static PetscErrorCode ReadOptions(Options* o) {
  static const char *const sources[] = {"random", "point"}, *const adjoints[] = {"matrix", "gamma5"};
  static const char* const with_value[] = {"-disorder", "-seed", "-mass", "-gauge"};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(RequireValues(PETSC_STATIC_ARRAY_LENGTH(with_value), with_value));
  o->seed = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &o->seed, NULL));
  o->mass = 0.1;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-mass", &o->mass, NULL));
  CheckInput(PetscAbsReal(o->mass) <= 1e6, "-mass is %g; give a number between -1e6 and 1e6, such as 0.1",
             (double)o->mass);
  PetscCall(GetChoice("-source", 2, sources, &o->point));
  PetscCall(GetChoice("-adjoint", 2, adjoints, &o->gamma5));
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

/* Counts the blocks of each own row: the site itself and its neighbours, which may coincide */
static void CountBlocks(const GaugeField* g, Range own, const BlockCounts* counts) {
  for (PetscInt i = 0; i < own.count; i++) {
    const Place here = {1 + i / g->slice, i % g->slice};
    PetscInt seen[1 + 2 * DIRECTIONS], n = 0;

    for (PetscInt k = 0; k <= 2 * DIRECTIONS; k++) {
      const Place p = k ? Neighbour(g, here, (k - 1) / 2, k % 2 ? 1 : -1) : here;
      PetscInt j = 0;

      seen[n] = SiteOf(g, p);
      while (seen[j] != seen[n]) j++;
      if (j == n) CountBlock(own, own.first + i, seen[n++], counts);
    }
  }
}

static PetscErrorCode CreateMatrix(const GaugeField* g, Mat* D) {
  const Range own = {g->own.first * g->slice, g->own.count * g->slice};
  BlockCounts counts;

  PetscFunctionBeginUser;
  PetscCall(BlockMatrixCreate(BLOCK, own, NULL, NULL, D));
  PetscCall(BlockCountsCreate(own.count, &counts));
  CountBlocks(g, own, &counts);
  PetscCall(BlockMatrixPreallocate(*D, &counts));
  PetscFunctionReturn(0);
}

static PetscErrorCode AssembleMatrix(PetscReal mass, const GaugeField* g, Mat D) {
  PetscScalar block[BLOCK * BLOCK];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < g->own.count * g->slice; i++) {
    const Place here = {1 + i / g->slice, i % g->slice};
    const PetscInt row = SiteOf(g, here);

    for (PetscInt k = 0; k < BLOCK * BLOCK; k++) block[k] = k % (BLOCK + 1) ? 0 : 4 + mass;
    PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &row, block, ADD_VALUES));
    for (PetscInt mu = 0; mu < DIRECTIONS; mu++) {
      const Place ahead = Neighbour(g, here, mu, 1), behind = Neighbour(g, here, mu, -1);
      const PetscInt columns[2] = {SiteOf(g, ahead), SiteOf(g, behind)};

      HoppingBlock(mu, 1, Link(g, here, mu), block);
      PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &columns[0], block, ADD_VALUES));
      HoppingBlock(mu, -1, Link(g, behind, mu), block);
      PetscCall(MatSetValuesBlocked(D, 1, &row, 1, &columns[1], block, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* PETSc's own BAIJ on one rank lacks a product */
static PetscErrorCode CheckAdjoint(const Options* o, Mat D) {
  MatType type;
  PetscBool none;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(D, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)D, MATSEQBAIJ, &none));
  PetscCheck(!none || o->gamma5, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-mat_type %s has no product with the adjoint for blocks of 12 x 12; give -adjoint gamma5, or another "
             "-mat_type such as aij",
             type);
  PetscFunctionReturn(0);
}

/* ------------------------------------------ vectors, adjoint ------------------------------------------ */

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

/* y = gamma_5 D x */
static PetscErrorCode ApplyGamma5D(const Adjoint* a, Vec x, Vec y) {
  PetscFunctionBeginUser;
  PetscCall(MatMult(a->D, x, y));
  PetscCall(VecPointwiseMult(y, y, a->gamma5));
  PetscFunctionReturn(0);
}

/* y = D^+ x */
static PetscErrorCode ApplyAdjoint(const Adjoint* a, Vec x, Vec y) {
  PetscFunctionBeginUser;
  if (a->by_gamma5) {
    PetscCall(VecPointwiseMult(a->work[0], a->gamma5, x));
    PetscCall(ApplyGamma5D(a, a->work[0], y));
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
   what D^+ x is.  x, y: random vectors, which are overwritten. */
static PetscErrorCode CheckGamma5(const Adjoint* a, Vec x, Vec y) {
  PetscReal norms[2], error = 0;
  PetscScalar dot[2];
  Vec dx = a->work[1];

  PetscFunctionBeginUser;
  PetscCall(ApplyGamma5D(a, x, dx));
  PetscCall(VecDot(dx, y, &dot[0]));
  PetscCall(VecNorm(dx, NORM_2, &norms[0]));
  PetscCall(VecNorm(y, NORM_2, &norms[1]));
  PetscCall(ApplyGamma5D(a, y, dx));
  PetscCall(VecDot(x, dx, &dot[1]));
  error = PetscAbsScalar(dot[0] - dot[1]) / (norms[0] * norms[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "product with random vectors: %.11e %.11e\ngamma5-Hermiticity, products: %.2e\n",
                        (double)PetscRealPart(dot[0]), (double)PetscImaginaryPart(dot[0]), (double)error));
  if (!a->by_gamma5) {
    PetscCall(MatMultHermitianTranspose(a->D, x, y));
    PetscCall(VecPointwiseMult(x, x, a->gamma5));
    PetscCall(ApplyGamma5D(a, x, dx));
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
  PetscFunctionReturn(0);
}

/* ---------------------------------------------- solves ---------------------------------------------- */

/* Solves with A, and reports with D x = b; the tolerances are those of first, if given */
static PetscErrorCode Solve(const char name[], const char prefix[], KSPType type, KSP first, Mat A, Vec rhs, Mat D,
                            Vec b, Vec x, KSP* ksp) {
  char label[32];
  PetscReal rtol, atol, dtol;
  PetscInt max_it;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(label, sizeof(label), "%s ", name));
  PetscCall(SolverCreate(A, A, rhs, prefix, type, PCNONE, 1e-8, ksp));
  if (first) {
    PetscCall(KSPGetTolerances(first, &rtol, &atol, &dtol, &max_it));
    PetscCall(KSPSetTolerances(*ksp, rtol, atol, dtol, max_it));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(SolveTimed(*ksp, rhs, x, name));
  PetscCall(ReportSolve(*ksp, D, b, x, label));
  PetscCall(CheckConverged(*ksp, label,
                           "-mass (D becomes singular near the critical mass, which lies below 0), or lower "
                           "-disorder"));
  PetscFunctionReturn(0);
}

/* For a point source, the field is 1 in one place of the first site */
static PetscErrorCode SetSource(const Options* o, Vec b) {
  PetscFunctionBeginUser;
  PetscCall(FillGaussian(o->seed, b));
  if (!o->point) PetscFunctionReturn(0);
  PetscCall(VecSet(b, 0));
  PetscCall(VecSetValue(b, 0, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(0);
}

/* The squared norm of the solution on each time slice: for a point source, its part of the pion's correlator */
static PetscErrorCode ReportSlices(const GaugeField* g, Vec x) {
  const PetscInt n = g->slice * BLOCK;
  const PetscScalar* a;
  PetscReal* sum;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(g->dim[0], &sum));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < g->own.count * n; i++) sum[g->own.first + i / n] += PetscSqr(PetscAbsScalar(a[i]));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)g->dim[0], MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time slices:"));
  for (PetscInt t = 0; t < g->dim[0]; t++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %.11e", (double)sum[t]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(0);
}

/* Checks the operator, makes the right-hand side, and solves the equation and its normal equations */
static PetscErrorCode CheckAndSolve(const Options* o, const GaugeField* g, Adjoint* a, Vec b) {
  PetscReal norm, difference;
  Mat N;
  Vec x, y, rhs;
  KSP ksp, normal_ksp;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecDuplicate(b, &rhs));
  PetscCall(FillGaussian(101, x));
  PetscCall(FillGaussian(102, y));
  PetscCall(CheckGamma5(a, x, y));
  PetscCall(VecSet(x, 0));
  PetscCall(VecSet(y, 0));
  PetscCall(SetSource(o, b));
  PetscCall(Solve("BiCGSTAB", NULL, KSPBCGS, NULL, a->D, b, a->D, b, x, &ksp));
  PetscCall(CreateNormal(a, &N));
  PetscCall(ApplyAdjoint(a, b, rhs));
  PetscCall(Solve("normal CG", "normal_", KSPCG, ksp, N, rhs, a->D, b, y, &normal_ksp));
  PetscCall(ReportSlices(g, x));
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
  GaugeField g;
  Adjoint a;
  PetscLogDouble t0, t1;
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(GaugeFieldFromOptions(o.seed, &g));

  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(&g, &a.D));
  PetscCall(AssembleMatrix(o.mass, &g, a.D));
  PetscCall(PetscTime(&t1));
  PetscCall(BlockMatrixReport(a.D, 1, " of 12x12"));
  PetscCall(CheckAdjoint(&o, a.D));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(MatCreateVecs(a.D, NULL, &b));
  PetscCall(VecSetFromOptions(b)); /* -vec_type cuda */
  a.by_gamma5 = (PetscBool)o.gamma5;
  PetscCall(CreateGamma5(b, &a.gamma5));
  for (PetscInt i = 0; i < 2; i++) PetscCall(VecDuplicate(b, &a.work[i]));
  PetscCall(CheckAndSolve(&o, &g, &a, b));

  for (PetscInt i = 0; i < 2; i++) PetscCall(VecDestroy(&a.work[i]));
  PetscCall(VecDestroy(&a.gamma5));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a.D));
  PetscCall(GaugeFieldDestroy(&g));
  PetscCall(PetscFinalize());
  return 0;
}
