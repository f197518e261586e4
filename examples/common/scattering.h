/*
  A sphere in a box of fluid, and a wave that comes in: geometry and data of an acoustic scattering problem.

  Lengths are in m, frequencies in Hz, speeds in m/s; pressure in units of the incident wave's amplitude.
*/
#pragma once

#include <petscsys.h>

typedef enum { NONE, FLUID, SOFT, HARD } Obstacle;

typedef struct {
  PetscInt cells[3];                        /* of the box */
  PetscReal size[3], h[3];                  /* lengths of the box, of a cell */
  PetscReal frequency, speed, k;            /* k: wave number of the free fluid, in 1/m */
  PetscBool spherical;                      /* a spherical wave from `source` comes in, or a plane one */
  PetscReal direction[3], source[3];        /* direction: of length 1 */
  PetscReal center[3], radius, inner_speed; /* of the sphere; inner_speed if it is fluid */
  Obstacle obstacle;
} Scattering;

/* Reads -cells, -size, -frequency, -speed, -direction, -source, -obstacle, -center, -radius and -inner_speed; prints
   wave number and cells a wavelength.  Refuses a sphere at the sides or without a cell, a source in the box, and fewer
   than 4 cells a wavelength.  `scalars`: of an unknown, to see whether they can be numbered. */
PetscErrorCode ScatteringRead(PetscInt scalars, Scattering* s);

/* Does the obstacle have the cell?  It is made of those whose centre lies in the sphere. */
PetscBool IsInside(const Scattering* s, const PetscInt cell[3]);

/* Is there no pressure at the node?  On a soft body, its surface and all; in a hard one, where no fluid touches it. */
PetscBool IsFixed(const Scattering* s, const PetscInt node[3]);

/* The incident field p at a node, of amplitude 1 (a spherical wave: in the middle of the box).  With a normal and g,
   also g = dp/dn - i k p. */
PetscComplex Incident(const Scattering* s, const PetscInt node[3], const PetscReal normal[3], PetscComplex* g);
