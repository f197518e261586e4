/*
  Quaternions, and how they are numbers of PETSc's vectors and blocks of its matrices.

  a + b i + c j + d k is four numbers where scalars are real, the two numbers a + b i, -c + d i where they are complex;
  multiplication from the left is a block of 4 x 4 or 2 x 2.
*/
#pragma once

#include <petscsys.h>

#if defined(PETSC_USE_COMPLEX)
enum { BS = 2 };
#else
enum { BS = 4 };
#endif

typedef struct {
  PetscReal a, b, c, d;
} Quaternion;

static inline Quaternion Times(Quaternion p, Quaternion q) {
  return (Quaternion){p.a * q.a - (p.b * q.b + p.c * q.c + p.d * q.d), p.a * q.b + p.b * q.a + (p.c * q.d - p.d * q.c),
                      p.a * q.c + p.c * q.a + (p.d * q.b - p.b * q.d), p.a * q.d + p.d * q.a + (p.b * q.c - p.c * q.b)};
}

static inline Quaternion Conjugate(Quaternion q) { return (Quaternion){q.a, -q.b, -q.c, -q.d}; }

/* p + s q */
static inline Quaternion PlusTimes(Quaternion p, PetscReal s, Quaternion q) {
  return (Quaternion){p.a + s * q.a, p.b + s * q.b, p.c + s * q.c, p.d + s * q.d};
}

static inline Quaternion Scaled(PetscReal s, Quaternion q) { return (Quaternion){s * q.a, s * q.b, s * q.c, s * q.d}; }

/* Product of vectors in space */
static inline PetscReal Dot(Quaternion p, Quaternion q) { return p.b * q.b + p.c * q.c + p.d * q.d; }

/* The block of multiplication by q from the left, in rows of the given length */
static inline void SetBlock(Quaternion q, PetscInt length, PetscScalar* block) {
#if defined(PETSC_USE_COMPLEX)
  block[0] = PetscCMPLX(q.a, q.b);
  block[1] = PetscCMPLX(q.c, q.d);
  block[length] = PetscCMPLX(-q.c, q.d);
  block[length + 1] = PetscCMPLX(q.a, -q.b);
#else
  const PetscScalar rows[4][4] = {
      {q.a, -q.b, -q.c, -q.d}, {q.b, q.a, -q.d, q.c}, {q.c, q.d, q.a, -q.b}, {q.d, -q.c, q.b, q.a}};

  for (PetscInt i = 0; i < 16; i++) block[i / 4 * length + i % 4] = rows[i / 4][i % 4];
#endif
}

/* A quaternion as numbers of a vector is the first column of its block */
static inline void SetNumbers(Quaternion q, PetscScalar* x) {
#if defined(PETSC_USE_COMPLEX)
  x[0] = PetscCMPLX(q.a, q.b);
  x[1] = PetscCMPLX(-q.c, q.d);
#else
  x[0] = q.a;
  x[1] = q.b;
  x[2] = q.c;
  x[3] = q.d;
#endif
}

static inline Quaternion GetNumbers(const PetscScalar* x) {
#if defined(PETSC_USE_COMPLEX)
  return (Quaternion){PetscRealPart(x[0]), PetscImaginaryPart(x[0]), -PetscRealPart(x[1]), PetscImaginaryPart(x[1])};
#else
  return (Quaternion){x[0], x[1], x[2], x[3]};
#endif
}
