/* A plain PETSc program: -mat_type decides. */
#include "problem.h"

int main(int argc, char** argv) {
  Mat A;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(AssembleProblem(&A));
  PetscCall(SolveProblem(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
