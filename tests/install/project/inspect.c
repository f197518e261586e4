/* A program that links the library: it registers the types itself and asks for the plan. */
#include <petsccompound.h>

#include "problem.h"

int main(int argc, char** argv) {
  Mat A;
  const char* plan;
  MatCompoundInfo info;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscCompoundInitialize());
  PetscCall(AssembleProblem(&A));
  PetscCall(MatConvert(A, MATBAIJCOMPOUND, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCompoundSetLayout(A, "sell"));
  PetscCall(SolveProblem(A));
  PetscCall(MatCompoundGetPlan(A, &plan));
  PetscCall(MatCompoundGetInfo(A, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "plan: %s\nproducts: %" PetscInt64_FMT "\n", plan, info.products));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
