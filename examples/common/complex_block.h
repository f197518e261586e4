/*
  Complex numbers in PETSc's scalars, whichever these are.

  Where scalars are complex, a number is one of them.  Where they are real, it is a pair (Re, Im) of a vector, and an
  entry a + ib of a matrix is the block [[a, -b], [b, a]].
*/
#pragma once

#include <petscsys.h>

enum { COMPLEX_SIZE = PetscDefined(USE_COMPLEX) ? 1 : 2 }; /* scalars a number */

/* The entry z of a matrix, whose rows are `stride` scalars long. */
static inline void StoreEntry(PetscScalar a[], PetscInt stride, PetscComplex z) {
#if defined(PETSC_USE_COMPLEX)
  (void)stride;
  a[0] = z;
#else
  a[0] = a[stride + 1] = PetscRealPartComplex(z);
  a[stride] = PetscImaginaryPartComplex(z);
  a[1] = -a[stride];
#endif
}

/* Adds z to number i of a vector. */
static inline void AddTo(PetscScalar a[], PetscInt i, PetscComplex z) {
#if defined(PETSC_USE_COMPLEX)
  a[i] += z;
#else
  a[2 * i] += PetscRealPartComplex(z);
  a[2 * i + 1] += PetscImaginaryPartComplex(z);
#endif
}

/* Number i of a vector. */
static inline PetscComplex Load(const PetscScalar a[], PetscInt i) {
#if defined(PETSC_USE_COMPLEX)
  return a[i];
#else
  return a[2 * i] + PETSC_i * a[2 * i + 1];
#endif
}
