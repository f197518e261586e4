/* Results of products and solves by each plan, for config/measure_bits.py: writes the vectors one after the other, and
   says of each whether all repeats gave its bits.

   Options: -plans "PLAN;PLAN;...", -nodes N on an edge of a grid of 27 points, -repeat N, -to FILE. */
#include <petscksp.h>
#include <string.h>

enum { block = 3, iterations = 10 };

/* In [-1, 1), the same for (i, j) and (j, i): by a hash, so that any process can make it. */
static PetscReal value_of(PetscInt i, PetscInt j) {
  unsigned long long z =
      (unsigned long long)PetscMin(i, j) * 0x9e3779b97f4a7c15ull + (unsigned long long)PetscMax(i, j);
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  }
  return (PetscReal)(z >> 11) / 4503599627370496.0 - 1;
}

/* Symmetric, with eigenvalues of about 2 to 22: ten iterations are far from the end. absolute: of absolute values, in
   PETSc's own type. */
static PetscErrorCode make_matrix(PetscInt nodes, PetscBool absolute, Mat* A) {
  const PetscInt rows = nodes * nodes * nodes;
  PetscInt first, end;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, block * rows, block * rows));
  PetscCall(MatSetBlockSize(*A, block));
  PetscCall(MatSetType(*A, MATBAIJ));
  if (!absolute) PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqBAIJSetPreallocation(*A, block, 27, NULL));
  PetscCall(MatMPIBAIJSetPreallocation(*A, block, 27, NULL, 18, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first / block; i < end / block; ++i)
    for (PetscInt near = 0; near < 27; ++near) {
      const PetscInt x = i % nodes + near % 3 - 1, y = i / nodes % nodes + near / 3 % 3 - 1,
                     z = i / nodes / nodes + near / 9 - 1, j = x + nodes * (y + nodes * z);
      PetscScalar values[block * block];
      if (x < 0 || x >= nodes || y < 0 || y >= nodes || z < 0 || z >= nodes) continue;
      for (PetscInt k = 0; k < block * block; ++k) {
        const PetscInt row = block * i + k / block, col = block * j + k % block;
        const PetscReal v = value_of(row, col) + (row == col ? 12 : 0);
        values[k] = absolute ? PetscAbsReal(v) : v;
      }
      PetscCall(MatSetValuesBlocked(*A, 1, &i, 1, &j, values, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  return 0;
}

static PetscErrorCode fill(Vec x, PetscInt seed) {
  PetscInt first, end;
  PetscCall(VecGetOwnershipRange(x, &first, &end));
  for (PetscInt i = first; i < end; ++i) PetscCall(VecSetValue(x, i, value_of(i, -seed), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  return 0;
}

/* Products, and after them Krylov methods. */
static const char* const operations[] = {"mult", "transpose", "add", "cg", "cgcompound", "bcgs", "bcgscompound"};
enum { mult, transpose, add, products, all = sizeof operations / sizeof *operations };

static PetscErrorCode run(int operation, Mat A, KSP ksp, Vec x, Vec z, Vec y) {
  switch (operation) {
    case mult:
      return MatMult(A, x, y);
    case transpose:
      return MatMultTranspose(A, x, y);
    case add:
      return MatMultAdd(A, x, z, y);
    default:
      return KSPSolve(ksp, x, y);
  }
}

static PetscErrorCode one(int operation, PetscInt repeat, PetscViewer to, Mat A, Vec x, Vec z) {
  KSP ksp = NULL;
  Vec y, again;
  PC pc;
  PetscBool same = PETSC_TRUE;
  if (operation >= products) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, operations[operation]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-300, PETSC_DEFAULT, iterations));
  }
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &again));
  PetscCall(run(operation, A, ksp, x, z, y));
  for (PetscInt n = 1; n < repeat && same; ++n) {
    PetscCall(VecSet(again, 0));
    PetscCall(run(operation, A, ksp, x, z, again));
    PetscCall(VecEqual(y, again, &same));
  }
  PetscCall(VecView(y, to));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s\n", operations[operation], same ? "same" : "other"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&again));
  return 0;
}

int main(int argc, char** argv) {
  char plans[8192] = "auto", to_file[PETSC_MAX_PATH_LEN] = "bits.bin";
  PetscInt nodes = 10, repeat = 100;
  PetscViewer to;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-plans", plans, sizeof plans, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-to", to_file, sizeof to_file, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nodes", &nodes, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, to_file, FILE_MODE_WRITE, &to));

  /* First what errors are measured by: abs(A) abs(x). */
  Mat A;
  Vec x, z, y;
  PetscCall(make_matrix(nodes, PETSC_TRUE, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(fill(x, 1));
  PetscCall(VecAbs(x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecView(y, to));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));

  for (const char* plan = strtok(plans, ";"); plan; plan = strtok(NULL, ";")) {
    PetscCall(PetscOptionsSetValue(NULL, "-mat_compound_plan", plan));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "plan %s\n", plan));
    PetscCall(make_matrix(nodes, PETSC_FALSE, &A));
    PetscCall(MatCreateVecs(A, &x, &z));
    PetscCall(fill(x, 1));
    PetscCall(fill(z, 2));
    for (int n = 0; n < all; ++n) PetscCall(one(n, repeat, to, A, x, z));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscViewerDestroy(&to));
  return PetscFinalize();
}
