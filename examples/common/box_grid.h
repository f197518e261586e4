/*
  The nodes of a box of nx x ny x nz cells, shared out by DMDA.

  A rank holds its own nodes and all next to them: every cell that touches an own node.  So it computes its own rows of
  a matrix alone, without sending entries.
*/
#pragma once

#include <petscdmda.h>

#include "block_matrix.h"

typedef struct {
  DM da;
  PetscInt start[3], width[3]; /* local nodes: the first, and how many in each direction; x runs fastest */
  PetscInt nnode, *global;     /* local nodes, their global numbers */
  Range own;                   /* the global numbers of own nodes */
} BoxGrid;

/* `cells` in each direction, vectors of `dof` scalars a node. */
PetscErrorCode BoxGridCreate(const PetscInt cells[3], PetscInt dof, BoxGrid* g);
PetscErrorCode BoxGridDestroy(BoxGrid* g);

/* The node with a local number, in nodes from the box's corner. */
static inline void BoxGridPlace(const BoxGrid* g, PetscInt n, PetscInt node[3]) {
  node[0] = g->start[0] + n % g->width[0];
  node[1] = g->start[1] + n / g->width[0] % g->width[1];
  node[2] = g->start[2] + n / (g->width[0] * g->width[1]);
}

/* If the local node n is the lowest corner of a local cell: its corners, of which number v lies at (v & 1, v >> 1 & 1,
   v >> 2) from it. */
PetscBool BoxGridCell(const BoxGrid* g, PetscInt n, PetscInt corners[8]);

/* Counts the blocks of own rows: one for each pair of nodes of a cell. */
void BoxGridCountBlocks(const BoxGrid* g, const BlockCounts* counts);

/* The whole of a vector of `dof` scalars a node, x fastest, on rank 0 (others: an empty one). */
PetscErrorCode BoxGridGather(const BoxGrid* g, Vec v, Vec* all);
