#include <petscdmplex.h>
#include <stdlib.h>
#include <string.h>

#include "gmsh_file.h"
#include "input.h"
#include "volume_mesh.h"

/* Labels of our own, which travel with the mesh through distribution and refinement: the boundary, then the surfaces */
static const char* const own_label[1 + MOST_SURFACES] = {"example_boundary", "example_surface_0", "example_surface_1"};

/* The name of a physical surface, or "" */
static const char* NameOf(const GmshMesh* g, int number) {
  for (PetscInt s = 0; s < g->nsurface; s++)
    if (g->surface[s].number == number) return g->surface[s].name;
  return "";
}

/* Copies the triangles of the surface called name into the label own; lists all surfaces for the error message */
static PetscErrorCode MarkNamed(DM dm, const GmshMesh* g, const char name[], DMLabel own, char list[], size_t size) {
  char *end, entry[256];
  const long number = strtol(name, &end, 10);
  PetscInt vs, ve;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vs, &ve));
  for (PetscInt f = 0; f < g->nface; f++) {
    const int surface = g->face_surface[f];
    const char* text = NameOf(g, surface);
    const PetscInt* node = g->face + 3 * f;
    const PetscInt vertex[] = {vs + node[0], vs + node[1], vs + node[2]}, *join;
    PetscBool match;
    PetscInt n;

    PetscCall(PetscStrcmp(text, name, &match));
    if (match || (end != name && !*end && number == surface)) {
      PetscCall(DMPlexGetFullJoin(dm, 3, vertex, &n, &join));
      if (n == 1) PetscCall(DMLabelSetValue(own, join[0], 1));
      PetscCall(DMPlexRestoreJoin(dm, 3, vertex, &n, &join));
    }
    if (f > 0 && surface == g->face_surface[f - 1]) continue;
    PetscCall(PetscSNPrintf(entry, sizeof(entry), " \"%s\" (%d)", text, surface));
    if (!strstr(list, entry)) PetscCall(PetscStrlcat(list, entry, size));
  }
  PetscFunctionReturn(0);
}

/* Marks the boundary and the named surfaces; the mesh lies on rank 0 alone as yet */
static PetscErrorCode MarkFaces(DM dm, const GmshMesh* g, const char path[], PetscInt n, const Surface surfaces[]) {
  char list[2048] = "";
  DMLabel own;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i <= n; i++) PetscCall(DMCreateLabel(dm, own_label[i]));
  PetscCall(DMGetLabel(dm, own_label[0], &own));
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, own));
  for (PetscInt i = 0; i < n; i++) {
    PetscInt side, faces;

    PetscCall(FindSide(surfaces[i].name, &side));
    if (side >= 0) continue;
    PetscCall(DMGetLabel(dm, own_label[1 + i], &own));
    PetscCall(MarkNamed(dm, g, surfaces[i].name, own, list, sizeof(list)));
    PetscCall(DMLabelGetStratumSize(own, 1, &faces));
    PetscCallMPI(MPI_Bcast(&faces, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
    CheckInput(faces,
               "%s: the mesh %s has no surface \"%s\"; its surfaces are:%s. Give one of them by name or number, or a "
               "side of the bounding box such as xmin, or add the physical surface in Gmsh",
               surfaces[i].option, path, surfaces[i].name, list[0] ? list : " none");
  }
  PetscFunctionReturn(0);
}

/* Takes the new DM for the old one; on one rank there is none, since nothing is distributed */
static PetscErrorCode Replace(DM* dm, DM newdm) {
  PetscFunctionBeginUser;
  if (!newdm) PetscFunctionReturn(0);
  PetscCall(DMDestroy(dm));
  *dm = newdm;
  PetscFunctionReturn(0);
}

static PetscErrorCode Read(const char path[], PetscInt refine, PetscInt n, const Surface surfaces[], DM* dm) {
  PetscPartitioner part;
  GmshMesh g;
  DM newdm;

  PetscFunctionBeginUser;
  PetscCall(GmshMeshRead(path, &g));
  for (PetscInt c = 0; c < g.ncell; c++) { /* DMPlex looks at a tetrahedron from the other side */
    const PetscInt first = g.cell[4 * c];

    g.cell[4 * c] = g.cell[4 * c + 1];
    g.cell[4 * c + 1] = first;
  }
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 3, g.ncell, g.nnode, 4, PETSC_TRUE, g.cell, 3, g.xyz, dm));
  PetscCall(MarkFaces(*dm, &g, path, n, surfaces));
  PetscCall(GmshMeshDestroy(&g));
  PetscCall(DMPlexGetPartitioner(*dm, &part));
  PetscCall(PetscPartitionerSetFromOptions(part));
  PetscCall(DMPlexDistribute(*dm, 0, NULL, &newdm));
  PetscCall(Replace(dm, newdm));
  for (PetscInt i = 0; i < refine; i++) {
    PetscCall(DMPlexSetRefinementUniform(*dm, PETSC_TRUE));
    PetscCall(DMRefine(*dm, PETSC_COMM_WORLD, &newdm));
    PetscCall(Replace(dm, newdm));
  }
  PetscCall(DMPlexDistributeOverlap(*dm, 1, NULL, &newdm)); /* the neighbours' cells at the seams */
  PetscCall(Replace(dm, newdm));
  PetscFunctionReturn(0);
}

/* Stores the vertices of a cell or face as local nodes, unless none of them is owned */
static PetscErrorCode Add(DM dm, PetscInt point, PetscInt vs, const VolumeMesh* m, PetscInt nodes[], PetscInt* count) {
  PetscInt size, k = 0, *closure = NULL;
  PetscBool owned = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  for (PetscInt i = 0; i < size; i++) {
    if (closure[2 * i] < vs || closure[2 * i] >= vs + m->nnode) continue;
    nodes[k] = closure[2 * i] - vs;
    if (IsOwned(m, nodes[k++])) owned = PETSC_TRUE;
  }
  PetscCall(DMPlexRestoreTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  if (owned) (*count)++;
  PetscFunctionReturn(0);
}

/* Numbers and coordinates of the nodes */
static PetscErrorCode SetNodes(DM dm, PetscInt vs, VolumeMesh* m) {
  const PetscInt* number;
  const PetscScalar* x;
  PetscInt offset, owned = 0;
  PetscSection section;
  IS numbering;
  Vec coords;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetVertexNumbering(dm, &numbering));
  PetscCall(DMGetCoordinateSection(dm, &section));
  PetscCall(DMGetCoordinatesLocal(dm, &coords));
  PetscCall(ISGetIndices(numbering, &number));
  PetscCall(VecGetArrayRead(coords, &x));
  for (PetscInt n = 0; n < m->nnode; n++) {
    m->global[n] = number[n] < 0 ? -(number[n] + 1) : number[n]; /* negative: another rank's */
    if (number[n] >= 0) owned++;
    PetscCall(PetscSectionGetOffset(section, vs + n, &offset));
    for (PetscInt d = 0; d < 3; d++) m->xyz[3 * n + d] = PetscRealPart(x[offset + d]);
  }
  PetscCall(VecRestoreArrayRead(coords, &x));
  PetscCall(ISRestoreIndices(numbering, &number));
  PetscCall(RangeCreate(owned, &m->own));
  PetscFunctionReturn(0);
}

/* The faces on the boundary, and marked ones inside the body */
static PetscErrorCode AddFaces(DM dm, PetscInt vs, PetscInt n, VolumeMesh* m) {
  PetscInt fs, fe;
  DMLabel own[1 + MOST_SURFACES];

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fs, &fe));
  for (PetscInt i = 0; i <= n; i++) PetscCall(DMGetLabel(dm, own_label[i], &own[i]));
  for (PetscInt f = fs; f < fe; f++) {
    PetscInt value, bits = 0;

    for (PetscInt i = 0; i <= n; i++) {
      PetscCall(DMLabelGetValue(own[i], f, &value));
      if (value == 1) bits |= 1 << i;
    }
    if (!bits) continue;
    m->mark[m->nface] = bits >> 1;
    PetscCall(Add(dm, f, vs, m, m->face + 3 * m->nface, &m->nface));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshReadGmsh(const char path[], PetscInt refine, PetscInt n, const Surface surfaces[],
                                  VolumeMesh* m) {
  PetscInt vs, ve, fs, fe, cs, ce;
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(Read(path, refine, n, surfaces, &dm));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vs, &ve));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cs, &ce));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fs, &fe));
  m->nv = 4;
  m->nfv = 3;
  m->nnode = ve - vs;
  m->h[0] = m->h[1] = m->h[2] = 1;
  PetscCall(VolumeMeshAllocate(m, ce - cs, fe - fs));
  PetscCall(SetNodes(dm, vs, m));
  for (PetscInt c = cs; c < ce; c++) PetscCall(Add(dm, c, vs, m, m->elem + 4 * m->nelem, &m->nelem));
  PetscCall(AddFaces(dm, vs, n, m));
  PetscCall(DMDestroy(&dm));
  PetscCall(VolumeMeshOrient(m));
  PetscFunctionReturn(0);
}
