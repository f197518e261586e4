/* Elements of a volume mesh: tetrahedra (4 vertices), linear; bricks (8 vertices, in VTK's order), trilinear */
#pragma once

#include <petscsys.h>

/* Vertex v of a brick is at brick_corner[v] */
extern const PetscInt brick_corner[8][3];

/* How many points integrate products of the functions' gradients exactly. */
PetscInt GradientPoints(PetscInt nv);

/* Gradients G [nv][3] of the nv functions at one of these points; returns the point's weight.  X [nv][3] are the
   vertices, the first at the origin; a brick's edges lie along the axes. */
PetscReal ElementGradients(PetscInt nv, PetscReal X[][3], PetscInt point, PetscReal G[][3]);
