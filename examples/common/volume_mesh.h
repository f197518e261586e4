/*
  A mesh of a body, of tetrahedra or of equal bricks, spread over the ranks, with marked parts of its surface.

  A rank knows its own nodes, and all elements and boundary faces that touch one of them.  So it computes its own rows
  of a matrix alone, without sending entries, and counts their blocks exactly beforehand.
*/
#pragma once

#include "block_matrix.h"

typedef struct {
  PetscInt nv, nfv;      /* vertices of an element (4 or 8), of a face (3 or 4) */
  PetscInt nelem, *elem; /* [nelem][nv] local nodes, right-handed; those of a brick in VTK's order */
  PetscInt nface, *face; /* [nface][nfv] local nodes, around the face: those on the boundary, and marked ones inside */
  PetscInt* mark;        /* [nface] bit i: is the face of surface i? */
  PetscInt nnode, *global; /* local nodes, their global numbers */
  PetscInt* node_mark;     /* [nnode] the same bits: does a face of surface i touch the node, on whatever rank? */
  Range own;               /* the global numbers of own nodes */
  PetscReal *xyz, h[3];    /* node n is at xyz[3 n + d] h[d], in the user's unit of length */
} VolumeMesh;

/* A part of the surface: a name or number that the mesh file gives it, or a side of the bounding box, xmin ... zmax */
typedef struct {
  const char *option, *name; /* the option that chose it, for messages */
} Surface;

enum { MOST_SURFACES = 2 };

/* A box from the origin on, of equal bricks, or each of them cut into six tetrahedra; its surfaces are sides alone. */
PetscErrorCode VolumeMeshCreateBox(const PetscInt cells[3], const PetscReal size[3], PetscBool tetrahedra, PetscInt n,
                                   const Surface surfaces[], VolumeMesh* m);

/* A Gmsh file of tetrahedra, each cut into eight `refine` times.  Surfaces but sides are its physical surfaces. */
PetscErrorCode VolumeMeshReadGmsh(const char path[], PetscInt refine, PetscInt n, const Surface surfaces[],
                                  VolumeMesh* m);
PetscErrorCode VolumeMeshDestroy(VolumeMesh* m);

/* Marks those of the n surfaces that are sides: boundary faces within that fraction of the extent; then the nodes. */
PetscErrorCode VolumeMeshMark(VolumeMesh* m, PetscInt n, const Surface surfaces[], PetscReal fraction);

/* The side that is called so, 0 ... 5, or -1. */
PetscErrorCode FindSide(const char name[], PetscInt* side);

/* The edge from local node a to b. */
static inline void VolumeMeshEdge(const VolumeMesh* m, PetscInt a, PetscInt b, PetscReal edge[3]) {
  for (PetscInt d = 0; d < 3; d++) edge[d] = (m->xyz[3 * b + d] - m->xyz[3 * a + d]) * m->h[d];
}

static inline PetscBool IsOwned(const VolumeMesh* m, PetscInt node) { return Contains(m->own, m->global[node]); }

/* Counts the blocks of own rows: one for each pair of nodes that share an element. */
PetscErrorCode VolumeMeshCountBlocks(const VolumeMesh* m, const BlockCounts* counts);

/* Fills v [own node][3] with the own nodes' coordinates. */
PetscErrorCode VolumeMeshCoordinates(const VolumeMesh* m, Vec v);

/* All elements once, on the rank that owns the node of lowest global number: a vector [element][nv] of global nodes. */
PetscErrorCode VolumeMeshElements(const VolumeMesh* m, Vec* elements);

/* For those that make meshes: room for nelem elements, nface faces and nnode nodes, and nothing marked. */
PetscErrorCode VolumeMeshAllocate(VolumeMesh* m, PetscInt nelem, PetscInt nface);

/* For those that make meshes: turns left-handed tetrahedra over, and refuses flat ones. */
PetscErrorCode VolumeMeshOrient(VolumeMesh* m);
