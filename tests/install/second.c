/* A second library that PETSc loads, beside the plugin: it says that it was. */
#include <petscsys.h>

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_second(void) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "second library: loaded\n"));
  PetscFunctionReturn(0);
}
