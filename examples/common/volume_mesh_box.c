#include "box_grid.h"
#include "element.h"
#include "input.h"
#include "volume_mesh.h"

/* Of each side in turn, its corners around */
static const PetscInt quad[6][4] = {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};

/* Kuhn's six tetrahedra share the diagonal 0-6, so neighbouring cells match; each side is cut alike */
static const PetscInt kuhn[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
static const PetscInt tri[6][6] = {{0, 4, 7, 0, 7, 3}, {1, 2, 6, 1, 6, 5}, {0, 1, 5, 0, 5, 4},
                                   {3, 7, 6, 3, 6, 2}, {0, 3, 2, 0, 2, 1}, {4, 5, 6, 4, 6, 7}};

/* Appends the elements of one cell with the corners v[], and its faces on the boundary */
static void AddCell(VolumeMesh* m, const PetscInt v[8], const PetscBool outside[6]) {
  const PetscBool bricks = (PetscBool)(m->nv == 8);

  for (PetscInt i = 0; i < (bricks ? 8 : 24); i++) m->elem[m->nelem * m->nv + i] = v[bricks ? i : kuhn[i / 4][i % 4]];
  m->nelem += bricks ? 1 : 6;
  for (PetscInt s = 0; s < 6; s++) {
    if (!outside[s]) continue;
    for (PetscInt i = 0; i < (bricks ? 4 : 6); i++) m->face[m->nface * m->nfv + i] = v[bricks ? quad[s][i] : tri[s][i]];
    m->nface += bricks ? 1 : 2;
  }
}

static PetscErrorCode CheckSides(PetscInt n, const Surface surfaces[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt side;

    PetscCall(FindSide(surfaces[i].name, &side));
    CheckInput(side >= 0, "%s: a box has no surface \"%s\"; give one of xmin, xmax, ymin, ymax, zmin, zmax",
               surfaces[i].option, surfaces[i].name);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshCreateBox(const PetscInt cells[3], const PetscReal size[3], PetscBool tetrahedra, PetscInt n,
                                   const Surface surfaces[], VolumeMesh* m) {
  BoxGrid g;
  PetscInt faces, *w = g.width, low[3];

  PetscFunctionBeginUser;
  PetscCall(CheckSides(n, surfaces));
  PetscCall(BoxGridCreate(cells, 1, &g));
  m->own = g.own;
  m->nnode = g.nnode;
  m->nv = tetrahedra ? 4 : 8;
  m->nfv = tetrahedra ? 3 : 4;
  faces = 2 * (w[0] * w[1] + w[1] * w[2] + w[2] * w[0]);
  PetscCall(
      VolumeMeshAllocate(m, (w[0] - 1) * (w[1] - 1) * (w[2] - 1) * (tetrahedra ? 6 : 1), faces * (tetrahedra ? 2 : 1)));
  PetscCall(PetscArraycpy(m->global, g.global, g.nnode));
  /* Coordinates are integers times h, so the differences within a cell, and with them the element matrices, are the
     same to the last bit everywhere. */
  for (PetscInt d = 0; d < 3; d++) m->h[d] = size[d] / cells[d];
  for (PetscInt i = 0; i < g.nnode; i++) {
    PetscInt corners[8], v[8];
    PetscBool outside[6];

    BoxGridPlace(&g, i, low);
    for (PetscInt d = 0; d < 3; d++) m->xyz[3 * i + d] = low[d];
    if (!BoxGridCell(&g, i, corners)) continue;
    for (PetscInt k = 0; k < 8; k++)
      v[k] = corners[BrickCorner((int)k, 0) + 2 * BrickCorner((int)k, 1) + 4 * BrickCorner((int)k, 2)];
    for (PetscInt s = 0; s < 6; s++) outside[s] = (PetscBool)(low[s / 2] == (s % 2 ? cells[s / 2] - 1 : 0));
    AddCell(m, v, outside);
  }
  PetscCall(BoxGridDestroy(&g));
  PetscCall(VolumeMeshOrient(m)); /* refuses tetrahedra of a box that is all but flat */
  PetscFunctionReturn(0);
}
