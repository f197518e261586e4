/* A part of a program that was compiled with another petsccompound.h: its MatCompoundInfo has a member less or more. */
#include <petsccompound.h>

PetscErrorCode INFO_CALLER(Mat A, PetscInt64 numbers[], size_t* known);

/* numbers: room for MatCompoundInfo of any release. known: how many members it has here. */
PetscErrorCode INFO_CALLER(Mat A, PetscInt64 numbers[], size_t* known) {
  *known = sizeof(MatCompoundInfo) / sizeof(PetscInt64);
  return MatCompoundGetInfo(A, (MatCompoundInfo*)numbers);
}
