/*
  A triangle mesh of a surface: read from OBJ, OFF or PLY, or made; checked; renumbered; sent to all ranks; written as
  OBJ.

  Every rank holds the whole mesh: 100 bytes or so a vertex, little beside the matrices that come of it on a laptop.
  A mesh for thousands of ranks would be distributed instead, by DMPlex for instance.
*/
#pragma once

#include <petscsys.h>

typedef struct {
  PetscInt nvertex, nface, nedge;
  PetscReal* xyz;    /* 3 a vertex */
  PetscInt* face;    /* 3 vertices a triangle, all triangles oriented alike */
  PetscInt* edge;    /* 2 vertices an edge, the lower number first; in lexicographic order */
  PetscInt boundary; /* number of edges of one triangle only */
  /* on rank 0 alone */
  PetscReal* uv;   /* 6 a triangle: texture coordinates of its corners; NULL if some corner has none */
  PetscInt* order; /* vertices in the file's order; NULL: as they are */
  PetscInt unused; /* vertices of the file that belong to no triangle, left out */
} SurfaceMesh;

/* Rank 0 reads; polygons become triangles, all from the first corner */
PetscErrorCode SurfaceMeshRead(const char path[], SurfaceMesh* m);
/* Rank 0: the unit sphere, an icosahedron whose triangles were cut in four so many times; 10 * 4^cuts + 2 vertices */
PetscErrorCode SurfaceMeshCreateSphere(PetscInt cuts, SurfaceMesh* m);
/* Rank 0: leaves out unused vertices, lists the edges, refuses what is not one oriented manifold of true triangles */
PetscErrorCode SurfaceMeshFinish(SurfaceMesh* m, const char name[]);
/* Rank 0: renumbers the vertices in an order of MatGetOrdering, such as rcm */
PetscErrorCode SurfaceMeshRenumber(SurfaceMesh* m, const char ordering[]);
/* Rank 0: lists the edges; a name is for messages on edges of more than two triangles or of triangles oriented
   otherwise, which pass without a name */
PetscErrorCode SurfaceMeshBuildEdges(SurfaceMesh* m, const char name[]);
/* Orders pairs of integers, such as edges, for qsort() and bsearch() */
int SurfaceMeshComparePairs(const void* a, const void* b);
PetscErrorCode SurfaceMeshBroadcast(SurfaceMesh* m);
/* The mean of the vertices and the largest distance from it */
void SurfaceMeshExtent(PetscInt nvertex, const PetscReal xyz[], PetscReal centre[3], PetscReal* radius);
/* Rank 0 */
PetscErrorCode SurfaceMeshWrite(const SurfaceMesh* m, const PetscReal xyz[], const char path[]);
PetscErrorCode SurfaceMeshDestroy(SurfaceMesh* m);
