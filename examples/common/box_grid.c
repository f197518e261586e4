#include "box_grid.h"

PetscErrorCode BoxGridCreate(const PetscInt cells[3], PetscInt dof, BoxGrid* g) {
  ISLocalToGlobalMapping map;
  const PetscInt* index;
  PetscInt *s = g->start, *w = g->width, *os = g->own_start, *ow = g->own_width;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         cells[0] + 1, cells[1] + 1, cells[2] + 1, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1,
                         NULL, NULL, NULL, &g->da));
  PetscCall(DMSetUp(g->da));
  PetscCall(DMDAGetGhostCorners(g->da, &s[0], &s[1], &s[2], &w[0], &w[1], &w[2]));
  PetscCall(DMDAGetCorners(g->da, &os[0], &os[1], &os[2], &ow[0], &ow[1], &ow[2]));
  PetscCall(RangeCreate(ow[0] * ow[1] * ow[2], &g->own));
  g->nnode = w[0] * w[1] * w[2];
  PetscCall(PetscMalloc1(g->nnode, &g->global));
  PetscCall(DMGetLocalToGlobalMapping(g->da, &map));
  PetscCall(ISLocalToGlobalMappingGetBlockIndices(map, &index));
  PetscCall(PetscArraycpy(g->global, index, g->nnode));
  PetscCall(ISLocalToGlobalMappingRestoreBlockIndices(map, &index));
  PetscFunctionReturn(0);
}

PetscErrorCode BoxGridDestroy(BoxGrid* g) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(g->global));
  PetscCall(DMDestroy(&g->da));
  PetscFunctionReturn(0);
}

PetscBool BoxGridCell(const BoxGrid* g, PetscInt n, PetscInt corners[8]) {
  PetscInt node[3];

  BoxGridPlace(g, n, node);
  for (PetscInt d = 0; d < 3; d++)
    if (node[d] == g->start[d] + g->width[d] - 1) return PETSC_FALSE;
  for (PetscInt v = 0; v < 8; v++) corners[v] = n + (v & 1) + g->width[0] * ((v >> 1 & 1) + g->width[1] * (v >> 2));
  return PETSC_TRUE;
}
