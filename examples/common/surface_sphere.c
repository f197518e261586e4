#include <stdlib.h>

#include "surface_mesh.h"

/* The number of the edge from a to b */
static PetscInt FindEdge(const SurfaceMesh* m, PetscInt a, PetscInt b) {
  const PetscInt key[2] = {PetscMin(a, b), PetscMax(a, b)};
  const PetscInt* edge = bsearch(key, m->edge, (size_t)m->nedge, sizeof(key), SurfaceMeshComparePairs);

  return (PetscInt)(edge - m->edge) / 2;
}

/* Cuts each triangle in four; the middle of an edge becomes a vertex, moved out to the unit sphere */
static PetscErrorCode CutInFour(SurfaceMesh* m) {
  SurfaceMesh fine = *m;

  PetscFunctionBeginUser;
  PetscCall(SurfaceMeshBuildEdges(m, NULL));
  fine.nvertex = m->nvertex + m->nedge;
  fine.nface = 4 * m->nface;
  PetscCall(PetscMalloc1(3 * fine.nvertex, &fine.xyz));
  PetscCall(PetscMalloc1(3 * fine.nface, &fine.face));
  PetscCall(PetscArraycpy(fine.xyz, m->xyz, 3 * m->nvertex));
  for (PetscInt e = 0; e < m->nedge; e++) {
    PetscReal *x = fine.xyz + 3 * (m->nvertex + e), length;

    for (PetscInt d = 0; d < 3; d++) x[d] = m->xyz[3 * m->edge[2 * e] + d] + m->xyz[3 * m->edge[2 * e + 1] + d];
    length = PetscSqrtReal(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (PetscInt d = 0; d < 3; d++) x[d] /= length;
  }
  for (PetscInt f = 0; f < m->nface; f++) {
    const PetscInt* v = m->face + 3 * f;
    PetscInt middle[3], *out = fine.face + 12 * f;

    for (PetscInt i = 0; i < 3; i++) middle[i] = m->nvertex + FindEdge(m, v[i], v[(i + 1) % 3]);
    for (PetscInt i = 0; i < 3; i++) {
      out[3 * i] = v[i];
      out[3 * i + 1] = middle[i];
      out[3 * i + 2] = middle[(i + 2) % 3];
      out[9 + i] = middle[i];
    }
  }
  PetscCall(SurfaceMeshDestroy(m));
  *m = fine;
  m->edge = NULL;
  PetscFunctionReturn(0);
}

/* Longitude and latitude as texture coordinates from 0 to 1, bottom left to top right */
static PetscErrorCode MapSphere(SurfaceMesh* m) {
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(6 * m->nface, &m->uv));
  for (PetscInt f = 0; f < m->nface; f++) {
    PetscReal *uv = m->uv + 6 * f, most = 0;

    for (PetscInt i = 0; i < 3; i++) {
      const PetscReal* x = m->xyz + 3 * m->face[3 * f + i];

      uv[2 * i] = 0.5 + PetscAtan2Real(x[1], x[0]) / (2 * PETSC_PI);
      uv[2 * i + 1] = 0.5 + PetscAsinReal(x[2]) / PETSC_PI;
      most = PetscMax(most, uv[2 * i]);
    }
    for (PetscInt i = 0; i < 3; i++) /* a triangle across the date line lies at the right margin */
      if (uv[2 * i] < most - 0.5) uv[2 * i] += 1;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshCreateSphere(PetscInt cuts, SurfaceMesh* m) {
  static const PetscInt faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                        {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                        {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                        {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const PetscReal golden = (1 + PetscSqrtReal(5)) / 2, radius = PetscSqrtReal(1 + golden * golden);

  PetscFunctionBeginUser;
  m->nvertex = 12;
  m->nface = 20;
  PetscCall(PetscCalloc1(36, &m->xyz));
  PetscCall(PetscMalloc1(60, &m->face));
  PetscCall(PetscArraycpy(m->face, faces[0], 60));
  for (PetscInt v = 0; v < 12; v++) { /* cyclic permutations of (+-1, +-golden, 0) */
    m->xyz[3 * v + v / 4] = (v % 2 ? 1 : -1) / radius;
    m->xyz[3 * v + (v / 4 + 1) % 3] = (v % 4 < 2 ? golden : -golden) / radius;
  }
  for (PetscInt i = 0; i < cuts; i++) PetscCall(CutInFour(m));
  PetscCall(MapSphere(m));
  PetscFunctionReturn(0);
}
