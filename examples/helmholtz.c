/*
  Acoustic scattering in a 3-D box with an absorbing boundary, in plain PETSc: complex entries, with real scalars too.

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
  a + ib of the matrix is the block [[a, -b], [b, a]]: a matrix of block size 2.  Only common/complex_block.h knows.

  Solver: BiCGSTAB(2) with JACOBI unless told otherwise.  In the real form each eigenvalue lambda of the complex matrix
  comes with its conjugate.  They lie beside the real axis, around zero, where real BiCGSTAB does not converge.  So all
  equations are multiplied by exp(i turn): the eigenvalues move into the right half-plane.  To solvers in complex
  numbers this makes no difference.  PBJACOBI, which inverts the 2 x 2 blocks, would undo it; JACOBI with its real
  diagonal does not.  GMRES needs no turn, but twice the steps of the complex form:
  -ksp_type gmres -ksp_gmres_restart 300 -pc_type pbjacobi.
*/
static char help[] =
    "Acoustic scattering by a sphere in a 3-D box with an absorbing boundary.\n\
Real scalars: unknowns are pairs (Re, Im) and blocks are [[a,-b],[b,a]]; complex scalars: blocks of size 1.\n\
  -cells nx,ny,nz       cells of the box (24,24,24)\n\
  -size lx,ly,lz        lengths of the box in m (cubes as cells, longest side 1)\n\
  -frequency f          frequency in Hz (686)\n\
  -speed c0             speed of sound in m/s (343)\n\
  -direction dx,dy,dz   direction of a plane incident wave (1,0,0)\n\
  -source x,y,z         a spherical wave instead, from this point outside the box, in m\n\
  -obstacle NAME        none, fluid, soft or hard (soft)\n\
  -center x,y,z         centre of the sphere in m (centre of the box)\n\
  -radius r             radius of the sphere in m (0.2 of the shortest length)\n\
  -inner_speed c        speed of sound in a fluid sphere (c0/2)\n\
  -turn angle           multiply all equations by exp(i angle), angle in degrees (75)\n\
  -vti FILE             write the field for ParaView\n\n";

#include "common/box_grid.h"
#include "common/complex_block.h"
#include "common/input.h"
#include "common/scattering.h"
#include "common/solver.h"
#include "common/vtk.h"

enum { BLOCK = COMPLEX_SIZE };

/* Where the pressure is printed, in parts of the box: before, beside and behind the sphere, as the default wave goes */
enum { PROBES = 3 };
static const PetscReal probe[PROBES][3] = {{0.125, 0.5, 0.5}, {0.5, 0.875, 0.5}, {0.875, 0.5, 0.5}};

typedef struct {
  Scattering scattering;
  PetscComplex turn; /* all equations are multiplied by it */
  BoxGrid grid;
  PetscBool* fixed; /* is the pressure of the local node zero by definition? */
  char vti[PETSC_MAX_PATH_LEN];
} Problem;

static PetscErrorCode ProblemCreate(Problem* p) {
  PetscReal turn = 75;

  PetscFunctionBeginUser;
  PetscCall(GetReals("-turn", "the angle by which the equations are turned, in degrees", PETSC_FALSE, 1, &turn, NULL));
  p->turn = PetscExpComplex(PETSC_i * turn * PETSC_PI / 180);
  PetscCall(ScatteringRead(BLOCK, &p->scattering));
  PetscCall(GetOutputPath("-vti", p->vti, sizeof(p->vti)));
  PetscCall(BoxGridCreate(p->scattering.cells, BLOCK, &p->grid));
  PetscCall(PetscMalloc1(p->grid.nnode, &p->fixed));
  for (PetscInt n = 0; n < p->grid.nnode; n++) {
    PetscInt node[3];

    BoxGridPlace(&p->grid, n, node);
    p->fixed[n] = IsFixed(&p->scattering, node);
  }
  PetscFunctionReturn(0);
}

/* ----------------------------------------- matrix and load ----------------------------------------- */

/* Vertex v of a cell lies at (v & 1, v >> 1 & 1, v >> 2).  Products of the matrices of one interval: mass h/6
   [[2,1],[1,2]], stiffness 1/h [[1,-1],[-1,1]]. */
static PetscReal Mass(const Scattering* s, PetscInt d, PetscInt a, PetscInt b) {
  return s->h[d] / 6 * ((a >> d & 1) == (b >> d & 1) ? 2 : 1);
}

static PetscReal Stiffness(const Scattering* s, PetscInt a, PetscInt b) {
  PetscReal sum = 0;

  for (PetscInt d = 0; d < 3; d++)
    sum += ((a >> d & 1) == (b >> d & 1) ? 1 : -1) / s->h[d] * Mass(s, (d + 1) % 3, a, b) * Mass(s, (d + 2) % 3, a, b);
  return sum;
}

/* Mass of the face with normal d that vertices a and b share, if the cell has it on the boundary; else zero */
static PetscReal FaceMass(const Scattering* s, const PetscInt cell[3], PetscInt d, PetscInt a, PetscInt b) {
  const PetscInt end = a >> d & 1;

  if (end != (b >> d & 1) || cell[d] != (end ? s->cells[d] - 1 : 0)) return 0;
  return Mass(s, (d + 1) % 3, a, b) * Mass(s, (d + 2) % 3, a, b);
}

/* The entry that a cell adds between its vertices a and b */
static PetscComplex Element(const Scattering* s, const PetscInt cell[3], PetscInt a, PetscInt b) {
  const PetscBool inside = IsInside(s, cell);
  const PetscReal k = inside && s->obstacle == FLUID ? s->k * s->speed / s->inner_speed : s->k;
  PetscReal side = 0;

  if (inside && s->obstacle != FLUID) return 0; /* no fluid here */
  for (PetscInt d = 0; d < 3; d++) side += FaceMass(s, cell, d, a, b);
  return Stiffness(s, a, b) - k * k * (Mass(s, 0, a, b) * Mass(s, 1, a, b) * Mass(s, 2, a, b)) - PETSC_i * s->k * side;
}

static PetscErrorCode CreateMatrix(const BoxGrid* g, Mat* A) {
  BlockCounts counts;

  PetscFunctionBeginUser;
  PetscCall(BlockMatrixCreate(BLOCK, g->own, NULL, NULL, A));
  PetscCall(BlockCountsCreate(g->own.count, &counts));
  BoxGridCountBlocks(g, &counts);
  PetscCall(BlockMatrixPreallocate(*A, &counts));
  PetscFunctionReturn(0);
}

/* What the boundary adds to row i of the load between vertices a and b of a cell, b at a node: the integral of g q */
static void AddLoad(const Problem* p, const PetscInt cell[3], PetscInt a, PetscInt b, const PetscInt node[3],
                    PetscInt i, PetscScalar load[]) {
  for (PetscInt d = 0; d < 3; d++) {
    const PetscReal mass = FaceMass(&p->scattering, cell, d, a, b);
    PetscReal normal[3] = {0, 0, 0};
    PetscComplex g;

    if (mass == 0) continue;
    normal[d] = (a >> d & 1) ? 1 : -1;
    Incident(&p->scattering, node, normal, &g);
    AddTo(load, i, p->turn * mass * g);
  }
}

/* The rows of one cell, of those of its nodes that this rank owns: 8 blocks a node */
static PetscErrorCode AssembleCell(const Problem* p, const PetscInt cell[3], const PetscInt nodes[8], Mat A,
                                   PetscScalar load[]) {
  const Scattering* s = &p->scattering;
  PetscScalar row[8 * BLOCK * BLOCK];
  PetscInt columns[8], node[3];

  PetscFunctionBeginUser;
  for (PetscInt b = 0; b < 8; b++) columns[b] = p->grid.global[nodes[b]];
  for (PetscInt a = 0; a < 8; a++) {
    if (!Contains(p->grid.own, columns[a])) continue;
    for (PetscInt b = 0; b < 8; b++) {
      PetscComplex entry = Element(s, cell, a, b);

      /* a fixed node stays in the pattern */
      if (p->fixed[nodes[a]] || p->fixed[nodes[b]]) entry = a == b ? Stiffness(s, a, a) : 0;
      StoreEntry(row + BLOCK * b, 8 * BLOCK, p->turn * entry);
      BoxGridPlace(&p->grid, nodes[b], node);
      AddLoad(p, cell, a, b, node, columns[a] - p->grid.own.first, load);
    }
    PetscCall(MatSetValuesBlocked(A, 1, &columns[a], 8, columns, row, ADD_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Problem* p, Mat A, Vec b) {
  PetscInt nodes[8], cell[3];
  PetscScalar* load;

  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 0));
  PetscCall(VecGetArray(b, &load));
  for (PetscInt n = 0; n < p->grid.nnode; n++) { /* n: the cell's first node */
    if (!BoxGridCell(&p->grid, n, nodes)) continue;
    BoxGridPlace(&p->grid, n, cell);
    PetscCall(AssembleCell(p, cell, nodes, A, load));
  }
  PetscCall(VecRestoreArray(b, &load));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* ---------------------------------------- solve and report ---------------------------------------- */

/* Its square is what the solvers compute with; both underflow where the wave is long beyond measure */
static PetscErrorCode CheckLoad(const Scattering* s, Vec b) {
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &norm));
  norm *= norm;
  CheckInput(norm > 0 && !PetscIsInfOrNanReal(norm),
             "The square of the load's norm is %g; it must be positive and finite. The wave number is %g and the box "
             "%g x %g x %g m: give a -frequency, -speed and -size nearer to each other",
             (double)norm, (double)s->k, (double)s->size[0], (double)s->size[1], (double)s->size[2]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec x) {
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(A, A, b, NULL, KSPBCGSL, PCJACOBI, 1e-8, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveTimed(ksp, b, x, "solve"));
  PetscCall(ReportSolve(ksp, A, b, x, ""));
  PetscCall(CheckConverged(ksp, "", "try -turn between 60 and 85, or -ksp_type gmres -ksp_gmres_restart 300"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Root mean squares over the nodes in the fluid, and the pressure at the nodes nearest to the probes */
static PetscErrorCode ReportField(const Problem* p, Vec x) {
  const Scattering* s = &p->scattering;
  const PetscScalar* a;
  PetscReal sum[4 + 2 * PROBES] = {0}; /* nodes; squares of p, of p - p_in, of p_in; pressures at the probes */
  PetscInt node[3], at[PROBES][3];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3 * PROBES; i++) at[i / 3][i % 3] = (PetscInt)(probe[i / 3][i % 3] * s->cells[i % 3] + 0.5);
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt n = 0; n < p->grid.nnode; n++) {
    PetscComplex value, incident;

    if (!Contains(p->grid.own, p->grid.global[n])) continue;
    BoxGridPlace(&p->grid, n, node);
    value = Load(a, p->grid.global[n] - p->grid.own.first);
    incident = Incident(s, node, NULL, NULL);
    for (PetscInt i = 0; i < PROBES; i++) {
      if (at[i][0] != node[0] || at[i][1] != node[1] || at[i][2] != node[2]) continue;
      sum[4 + 2 * i] = PetscRealPartComplex(value);
      sum[5 + 2 * i] = PetscImaginaryPartComplex(value);
    }
    if (p->fixed[n]) continue;
    sum[0] += 1;
    sum[1] += PetscSqr(PetscAbsComplex(value));
    sum[2] += PetscSqr(PetscAbsComplex(value - incident));
    sum[3] += PetscSqr(PetscAbsComplex(incident));
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4 + 2 * PROBES, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "nodes in the fluid: %.0f\nroot mean square pressure: %.11e\nscattered field: %.11e\n",
      (double)sum[0], (double)PetscSqrtReal(sum[1] / sum[0]), (double)PetscSqrtReal(sum[2] / sum[3])));
  for (PetscInt i = 0; i < PROBES; i++)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pressure at (%g, %g, %g): %.11e %.11e\n", (double)(at[i][0] * s->h[0]),
                          (double)(at[i][1] * s->h[1]), (double)(at[i][2] * s->h[2]), (double)sum[4 + 2 * i],
                          (double)sum[5 + 2 * i]));
  PetscFunctionReturn(0);
}

/* A file for ParaView: the real and imaginary part of the pressure and of the incident field */
static PetscErrorCode WriteField(const Problem* p, Vec x) {
  const PetscInt* c = p->scattering.cells;
  const PetscScalar* a;
  PetscScalar* values;
  PetscInt n;
  Vec all;

  PetscFunctionBeginUser;
  PetscCall(BoxGridGather(&p->grid, x, &all));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(PetscMalloc1(4 * n / BLOCK, &values));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < n / BLOCK; i++) {
    const PetscInt node[3] = {i % (c[0] + 1), i / (c[0] + 1) % (c[1] + 1), i / ((c[0] + 1) * (c[1] + 1))};
    const PetscComplex in = Incident(&p->scattering, node, NULL, NULL), value = Load(a, i);

    values[4 * i] = PetscRealPartComplex(value);
    values[4 * i + 1] = PetscImaginaryPartComplex(value);
    values[4 * i + 2] = PetscRealPartComplex(in);
    values[4 * i + 3] = PetscImaginaryPartComplex(in);
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  if (n > 0)
    PetscCall(VtkWriteImage("-vti", p->vti, c, p->scattering.h, "pressure and incident field, Re Im each", 4, values));
  PetscCall(PetscFree(values));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Problem p = {0};
  PetscLogDouble t0, t1;
  Mat A;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ProblemCreate(&p));
  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(&p.grid, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetFromOptions(x)); /* -vec_type cuda */
  PetscCall(VecSetFromOptions(b));
  PetscCall(Assemble(&p, A, b));
  PetscCall(PetscTime(&t1));
  PetscCall(BlockMatrixReport(A, BLOCK, BLOCK == 1 ? " of 1x1" : " of 2x2"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(CheckLoad(&p.scattering, b));
  PetscCall(Solve(A, b, x));
  PetscCall(ReportField(&p, x));
  if (p.vti[0]) PetscCall(WriteField(&p, x));

  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(BoxGridDestroy(&p.grid));
  PetscCall(PetscFree(p.fixed));
  PetscCall(PetscFinalize());
  return 0;
}
