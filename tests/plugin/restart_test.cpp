// PETSc started, ended and started again in one process: types and events register anew. A program of its own, because
// the other tests share one PetscInitialize().
#include <petscmat.h>

#include <cstdio>

namespace {

PetscErrorCode multiply_once() {
  PetscFunctionBegin;
  Mat A;
  Vec x, y;
  PetscReal norm;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(A, 2));
  PetscCall(MatSetType(A, "baijcompound"));
  PetscCall(MatSetUp(A));
  PetscInt first, last;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; ++i) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.5));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCheck(norm == 3.0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "2 * 1.5 gave %g", static_cast<double>(norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  for (int round = 0; round < 3 && !failed; ++round) {
    int count = argc;
    failed = PetscInitialize(&count, &argv, nullptr, nullptr) || multiply_once() || PetscFinalize();
    std::printf("round %d: %s\n", round, failed ? "failed" : "passed");
  }
  MPI_Finalize();
  return failed;
}
