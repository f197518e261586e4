/* Elements of a volume mesh: tetrahedra (4 vertices), linear; bricks (8 vertices, in VTK's order), trilinear.  For the
   host, and for kernels of a GPU. */
#pragma once

#if defined(__CUDACC__)
#include <math.h>
typedef double PetscReal; /* that of the program must be the same */
#define ELEMENT_FN static __host__ __device__ inline
#else
#include <petscsys.h>
#define ELEMENT_FN static inline
#endif

/* Vertex v of a brick is at 0 or 1 of direction d. */
ELEMENT_FN int BrickCorner(int v, int d) { return d == 0 ? (v + 1) / 2 % 2 : d == 1 ? v / 2 % 2 : v / 4; }

/* How many points integrate products of the functions' gradients exactly. */
ELEMENT_FN int GradientPoints(int nv) { return nv == 4 ? 1 : 8; }

/* Constant: one point has the whole volume */
ELEMENT_FN PetscReal TetrahedronGradients(PetscReal X[][3], PetscReal G[][3]) {
  PetscReal det = 0;

  for (int d = 0; d < 3; d++) G[0][d] = 0;
  for (int i = 1; i < 4; i++) { /* rows of the inverse: cross products of two edges over the determinant */
    PetscReal *p = X[i % 3 + 1], *q = X[(i + 1) % 3 + 1];

    for (int d = 0; d < 3; d++) G[i][d] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
  }
  for (int d = 0; d < 3; d++) det += X[1][d] * G[1][d];
  for (int i = 1; i < 4; i++) {
    for (int d = 0; d < 3; d++) {
      G[i][d] /= det;
      G[0][d] -= G[i][d];
    }
  }
  return det / 6;
}

/* At one of 2 x 2 x 2 Gauss points */
ELEMENT_FN PetscReal BrickGradients(PetscReal X[][3], int point, PetscReal G[][3]) {
  const PetscReal *size = X[6], gauss = 0.5 - 0.5 / sqrt((PetscReal)3);

  for (int v = 0; v < 8; v++) {
    for (int d = 0; d < 3; d++) {
      G[v][d] = (BrickCorner(v, d) ? 1 : -1) / size[d];
      for (int k = 0; k < 3; k++) /* the other two directions are at a distance of gauss or 1 - gauss */
        if (k != d) G[v][d] *= BrickCorner(v, k) == BrickCorner(point, k) ? 1 - gauss : gauss;
    }
  }
  return size[0] * size[1] * size[2] / 8;
}

/* Gradients G [nv][3] of the nv functions at one of these points; returns the point's weight.  X [nv][3] are the
   vertices, the first at the origin; a brick's edges lie along the axes. */
ELEMENT_FN PetscReal ElementGradients(int nv, PetscReal X[][3], int point, PetscReal G[][3]) {
  return nv == 4 ? TetrahedronGradients(X, G) : BrickGradients(X, point, G);
}
