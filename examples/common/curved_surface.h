/*
  A surface whose curvature is to change: a triangle mesh, and a number rho for each triangle.  Every rank holds all of
  both, and owns the vertices of a range.
*/
#pragma once

#include "block_matrix.h"
#include "quaternion.h"
#include "surface_mesh.h"

typedef struct {
  SurfaceMesh m;
  PetscReal* rho; /* [nface] wanted change of mean curvature, in 1 / length */
  Range own;      /* vertices of this rank */
} CurvedSurface;

/* Reads -mesh or makes the -sphere, moved by -unit_radius, renumbered by -renumber; rho is -scale times the grey of
   -image at texture coordinates, or times the function -rho of the place.  Prints what it has. */
PetscErrorCode CurvedSurfaceFromOptions(CurvedSurface* s);
/* Prints how lengths grew from the mesh to the positions xyz, by areas, and how far angles were kept: the longer by the
   shorter axis of what became of a small circle. */
PetscErrorCode CurvedSurfaceReport(const CurvedSurface* s, const PetscReal xyz[]);
PetscErrorCode CurvedSurfaceDestroy(CurvedSurface* s);

/* From vertex v to vertex w, as an imaginary quaternion; xyz: positions. */
static inline Quaternion Edge(const PetscReal xyz[], PetscInt v, PetscInt w) {
  const PetscReal *x = xyz + 3 * v, *y = xyz + 3 * w;

  return (Quaternion){0, y[0] - x[0], y[1] - x[1], y[2] - x[2]};
}

/* The edges of triangle f, each opposite the corner of its number, and the triangle's area. */
static inline void Triangle(const SurfaceMesh* m, const PetscReal xyz[], PetscInt f, Quaternion e[3], PetscReal* area) {
  const PetscInt* v = m->face + 3 * f;
  Quaternion normal;

  for (PetscInt i = 0; i < 3; i++) e[i] = Edge(xyz, v[(i + 1) % 3], v[(i + 2) % 3]);
  normal = Times(e[0], e[1]);
  *area = PetscSqrtReal(Dot(normal, normal)) / 2;
}

/* Half the cotangent of the angle at corner i. */
static inline PetscReal HalfCotangent(const Quaternion e[3], PetscReal area, PetscInt i) {
  return -Dot(e[(i + 1) % 3], e[(i + 2) % 3]) / (4 * area);
}
