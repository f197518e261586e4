/* A symmetric positive definite matrix of 3 x 3 blocks on a line of nodes, four neighbours each, and its solution. */
#include <petscksp.h>

#define NODES 400

static PetscErrorCode AssembleProblem(Mat* A) {
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 3 * NODES, 3 * NODES));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 15, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 15, NULL, 15, NULL));
  PetscCall(MatSeqBAIJSetPreallocation(*A, 3, 5, NULL));
  PetscCall(MatMPIBAIJSetPreallocation(*A, 3, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start / 3; i < end / 3; i++) {
    for (PetscInt j = PetscMax(i - 2, 0); j <= PetscMin(i + 2, NODES - 1); j++) {
      PetscScalar block[9];

      for (PetscInt k = 0; k < 9; k++)
        block[k] = (i == j ? (k % 4 ? 0.5 : 12.1) : -1.0 / (1 + (k / 3 - k % 3) * (k / 3 - k % 3)));
      PetscCall(MatSetValuesBlocked(*A, 1, &i, 1, &j, block, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveProblem(Mat A) {
  Vec x, b;
  KSP ksp;
  PC pc;
  PetscInt its;
  PetscReal norm;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecShift(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(MatGetType(A, &type));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "type: %s\niterations: %" PetscInt_FMT "\nnorm: %.15e\n", type, its, (double)norm));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}
