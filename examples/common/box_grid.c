#include "box_grid.h"

PetscErrorCode BoxGridCreate(const PetscInt cells[3], PetscInt dof, BoxGrid* g) {
  ISLocalToGlobalMapping map;
  const PetscInt* index;
  PetscInt *s = g->start, *w = g->width, owned[3];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         cells[0] + 1, cells[1] + 1, cells[2] + 1, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1,
                         NULL, NULL, NULL, &g->da));
  PetscCall(DMSetUp(g->da));
  PetscCall(DMDAGetGhostCorners(g->da, &s[0], &s[1], &s[2], &w[0], &w[1], &w[2]));
  PetscCall(DMDAGetCorners(g->da, NULL, NULL, NULL, &owned[0], &owned[1], &owned[2]));
  PetscCall(RangeCreate(owned[0] * owned[1] * owned[2], &g->own));
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

void BoxGridCountBlocks(const BoxGrid* g, const BlockCounts* counts) {
  PetscInt at[3], next[3];

  for (PetscInt n = 0; n < g->nnode; n++) {
    if (!Contains(g->own, g->global[n])) continue;
    BoxGridPlace(g, n, at);
    for (PetscInt k = 0; k < 27; k++) { /* all neighbours of an own node are local */
      PetscBool exists = PETSC_TRUE;

      for (PetscInt d = 0; d < 3; d++) {
        next[d] = at[d] - g->start[d] + (d == 0 ? k % 3 : d == 1 ? k / 3 % 3 : k / 9) - 1;
        if (next[d] < 0 || next[d] >= g->width[d]) exists = PETSC_FALSE;
      }
      if (exists)
        CountBlock(g->own, g->global[n], g->global[next[0] + g->width[0] * (next[1] + g->width[1] * next[2])], counts);
    }
  }
}

PetscErrorCode BoxGridGather(const BoxGrid* g, Vec v, Vec* all) {
  Vec copy, natural;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(g->da, &copy)); /* whatever the type of v */
  PetscCall(VecCopy(v, copy));
  PetscCall(DMDACreateNaturalVector(g->da, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(g->da, copy, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(g->da, copy, INSERT_VALUES, natural));
  PetscCall(VectorGather(natural, PETSC_FALSE, all));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(0);
}
