/*
  Files for ParaView, as text of one piece, which rank 0 writes.

  PETSc's own VTK viewers do not serve here: that of DMDA refuses complex scalars, that of DMPlex has no DM of a box of
  bricks, and the pictures of the documentation are drawn from text.
*/
#pragma once

#include <petscvec.h>

/* A mesh with one field, as an UnstructuredGrid.  Distributed vectors: `points` [point][3], `cells` [cell][corners]
   with the points' global numbers, `field` [point][3].  Cells have 4 corners (tetrahedra) or 8 (bricks, in VTK's
   order). `option` names the file in messages. */
PetscErrorCode VtkWriteMesh(const char option[], const char path[], Vec points, PetscInt corners, Vec cells,
                            const char name[], Vec field);

/* For rank 0 alone: real parts of values [node][width] at the nodes of a box of equal cells, x fastest, as ImageData;
   `spacing` in units of length, the first node at the origin. */
PetscErrorCode VtkWriteImage(const char option[], const char path[], const PetscInt cells[3],
                             const PetscReal spacing[3], const char name[], PetscInt width, const PetscScalar values[]);
