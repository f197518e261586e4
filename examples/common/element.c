#include "element.h"

const PetscInt brick_corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

PetscInt GradientPoints(PetscInt nv) { return nv == 4 ? 1 : 8; }

/* Constant: one point has the whole volume */
static PetscReal TetrahedronGradients(PetscReal X[][3], PetscReal G[][3]) {
  PetscReal det = 0;

  for (PetscInt d = 0; d < 3; d++) G[0][d] = 0;
  for (PetscInt i = 1; i < 4; i++) { /* rows of the inverse: cross products of two edges over the determinant */
    PetscReal *p = X[i % 3 + 1], *q = X[(i + 1) % 3 + 1];

    for (PetscInt d = 0; d < 3; d++) G[i][d] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
  }
  for (PetscInt d = 0; d < 3; d++) det += X[1][d] * G[1][d];
  for (PetscInt i = 1; i < 4; i++) {
    for (PetscInt d = 0; d < 3; d++) {
      G[i][d] /= det;
      G[0][d] -= G[i][d];
    }
  }
  return det / 6;
}

/* At one of 2 x 2 x 2 Gauss points */
static PetscReal BrickGradients(PetscReal X[][3], PetscInt point, PetscReal G[][3]) {
  const PetscReal *size = X[6], gauss = 0.5 - 0.5 / PetscSqrtReal(3.0);

  for (PetscInt v = 0; v < 8; v++) {
    for (PetscInt d = 0; d < 3; d++) {
      G[v][d] = (brick_corner[v][d] ? 1 : -1) / size[d];
      for (PetscInt k = 0; k < 3; k++) /* the other two directions are at a distance of gauss or 1 - gauss */
        if (k != d) G[v][d] *= brick_corner[v][k] == brick_corner[point][k] ? 1 - gauss : gauss;
    }
  }
  return size[0] * size[1] * size[2] / 8;
}

PetscReal ElementGradients(PetscInt nv, PetscReal X[][3], PetscInt point, PetscReal G[][3]) {
  return nv == 4 ? TetrahedronGradients(X, G) : BrickGradients(X, point, G);
}
