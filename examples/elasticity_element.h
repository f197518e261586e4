/* What linear elasticity adds to an element matrix: for the host, and for kernels of a GPU */
#pragma once

#include "common/element.h"

/* Lame's constants, force per area */
typedef struct {
  PetscReal lambda, mu;
} Material;

/* At a point of weight w, of functions with the gradients a and b, to the block K of 3 x 3 numbers, by rows.  Symmetric
   to the last bit: it pairs the products alike. */
ELEMENT_FN void AddStiffness(Material m, PetscReal w, const PetscReal a[], const PetscReal b[], PetscReal K[]) {
  const PetscReal dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      K[3 * i + j] += w * (m.lambda * (a[i] * b[j]) + m.mu * (a[j] * b[i]) + (i == j ? m.mu * dot : 0));
}
