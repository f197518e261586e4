/*
  A gauge field of lattice QCD: an SU(3) matrix, a link, from each site of a periodic lattice of T x Z x Y x X sites in
  each of the four directions T, Z, Y, X.  Sites are numbered with X fastest and T slowest; lengths are in lattice
  spacings.

  The ranks share out the time slices.  A rank keeps the links of its own and of the one before and the one after.
*/
#pragma once

#include "block_matrix.h"

enum { DIRECTIONS = 4, LINK = 9 }; /* LINK: numbers of a link, row by row */

typedef struct {
  PetscInt dim[DIRECTIONS], slice; /* extents T, Z, Y, X; sites of a time slice */
  Range own;                       /* time slices of this rank: ranks beyond the last slice own none */
  PetscComplex* link;              /* [own.count + 2][slice][DIRECTIONS][LINK], from slice own.first - 1 on */
} GaugeField;

/* A site as a rank sees it: a slice of its links (1 is the first own one) and a site in it */
typedef struct {
  PetscInt slice, site;
} Place;

/* Makes random links, or reads them from the file of -gauge, and prints lattice and mean plaquette (the mean of
   Re tr U U U^+ U^+ over all sites and pairs of directions: 3 where all links are 1).  Random ones, on a lattice of
   -lattice sites, are 1 plus -disorder times a Gaussian matrix, made unitary: the same on any number of ranks. */
PetscErrorCode GaugeFieldFromOptions(PetscInt seed, GaugeField* g);

/* Reads a file: little endian, 4 integers of 32 bits T, Z, Y, X, the mean plaquette as a double, then the links, each
   number as two doubles (Re, Im).  Ends with PETSC_ERR_FILE_UNEXPECTED where it is damaged or a link is not unitary. */
PetscErrorCode GaugeFieldRead(const char path[], GaugeField* g, PetscReal* plaquette);
PetscErrorCode GaugeFieldDestroy(GaugeField* g);

/* For those that make fields: shares out the slices, with room for their links.  Refuses a lattice of more quark
   numbers, 12 a site, than a PetscInt can count. */
PetscErrorCode GaugeFieldCreate(const PetscInt dim[DIRECTIONS], GaugeField* g);

/* The largest element of U U^+ - 1, or their sum; not finite where U is not. */
PetscReal FarFromUnitary(const PetscComplex U[LINK]);

/* Fills v with complex Gaussian numbers of variance 1 (their real parts, where scalars are real), the same on any
   number of ranks. */
PetscErrorCode FillGaussian(PetscInt seed, Vec v);

/* The place one step from another, forward (1) or backward (-1). */
Place Neighbour(const GaugeField* g, Place p, PetscInt direction, PetscInt step);

static inline PetscInt TimeOf(const GaugeField* g, PetscInt slice) {
  return (g->own.first + slice - 1 + g->dim[0]) % g->dim[0];
}

/* The number of the site among those of the whole lattice. */
static inline PetscInt SiteOf(const GaugeField* g, Place p) { return TimeOf(g, p.slice) * g->slice + p.site; }

static inline PetscComplex* Link(const GaugeField* g, Place p, PetscInt direction) {
  return g->link + (((size_t)p.slice * g->slice + p.site) * DIRECTIONS + direction) * LINK;
}
