/* Gmsh files of tetrahedra: formats 2.2 and 4.1, text or binary */
#pragma once

#include <petscsys.h>

typedef struct {
  int number;
  char name[128];
} GmshSurface;

/* On rank 0; empty elsewhere */
typedef struct {
  PetscInt nnode, ncell, nface, nsurface;
  PetscReal* xyz;        /* [nnode][3]: nodes of tetrahedra, in the order of the file */
  PetscInt *cell, *face; /* [ncell][4]; [nface][3]: triangles of physical surfaces, each a face of a tetrahedron */
  int* face_surface;     /* [nface] the number of its physical surface; a triangle of two surfaces is there twice */
  GmshSurface* surface;  /* [nsurface] named physical surfaces */
} GmshMesh;

/* Collective.  Ends all ranks with a message where the file is not right: what it says is checked, not believed. */
PetscErrorCode GmshMeshRead(const char path[], GmshMesh* m);
PetscErrorCode GmshMeshDestroy(GmshMesh* m);
