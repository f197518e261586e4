#include "volume_mesh.h"

#include <petscsf.h>

#include "input.h"

PetscErrorCode VolumeMeshAllocate(VolumeMesh* m, PetscInt nelem, PetscInt nface) {
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(nelem * m->nv, &m->elem, nface * m->nfv, &m->face, nface, &m->mark));
  PetscCall(PetscMalloc3(m->nnode, &m->global, 3 * m->nnode, &m->xyz, m->nnode, &m->node_mark));
  PetscCall(PetscArrayzero(m->mark, nface));
  PetscCall(PetscArrayzero(m->node_mark, m->nnode));
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshDestroy(VolumeMesh* m) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(m->elem, m->face, m->mark));
  PetscCall(PetscFree3(m->global, m->xyz, m->node_mark));
  PetscFunctionReturn(0);
}

/* The volume of a tetrahedron, negative if it is left-handed, and the longest of the edges at its first node */
static PetscReal SignedVolume(const VolumeMesh* m, const PetscInt n[4], PetscReal* longest) {
  PetscReal a[3][3];

  *longest = 0;
  for (PetscInt i = 0; i < 3; i++) {
    VolumeMeshEdge(m, n[0], n[i + 1], a[i]);
    *longest = PetscMax(*longest, PetscSqrtReal(a[i][0] * a[i][0] + a[i][1] * a[i][1] + a[i][2] * a[i][2]));
  }
  return (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) + a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
          a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) /
         6;
}

PetscErrorCode VolumeMeshOrient(VolumeMesh* m) {
  PetscMPIInt rank, size, mine, first;
  PetscReal volume = 0, longest = 0, *x = m->xyz;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  mine = size;
  for (PetscInt e = 0; m->nv == 4 && e < m->nelem; e++) {
    PetscInt *n = m->elem + 4 * e, third = n[2];

    volume = SignedVolume(m, n, &longest);
    if (PetscAbsReal(volume) <= 1e-12 * longest * longest * longest) {
      mine = rank;
      x += 3 * n[0];
      break;
    }
    if (volume > 0) continue;
    n[2] = n[3];
    n[3] = third;
  }
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD)); /* one rank alone complains */
  PetscCheck(
      first != rank, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
      "The tetrahedron with a vertex at (%g, %g, %g) is flat: volume %g with an edge of %g; repair the mesh, for "
      "example with gmsh -3 -optimize",
      (double)x[0], (double)x[1], (double)x[2], (double)volume, (double)longest);
  PetscFunctionReturn(0);
}

PetscErrorCode FindSide(const char name[], PetscInt* side) {
  static const char* const sides[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  PetscBool found;

  PetscFunctionBeginUser;
  PetscCall(PetscEListFind(6, sides, name, side, &found));
  if (!found) *side = -1;
  PetscFunctionReturn(0);
}

/* Marks the boundary faces whose nodes all lie within a fraction of the extent from a side; counts them on all ranks */
static PetscErrorCode MarkSide(VolumeMesh* m, PetscInt side, PetscReal fraction, PetscInt bit, PetscInt* faces) {
  const PetscInt d = side / 2;
  PetscReal low[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}; /* lowest coordinate, lowest of the negative one */

  PetscFunctionBeginUser;
  for (PetscInt n = 0; n < m->nnode; n++) {
    low[0] = PetscMin(low[0], m->xyz[3 * n + d]);
    low[1] = PetscMin(low[1], -m->xyz[3 * n + d]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, low, 2, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  *faces = 0;
  for (PetscInt f = 0; f < m->nface; f++) {
    PetscBool within = PETSC_TRUE;

    for (PetscInt i = 0; i < m->nfv; i++) {
      const PetscReal x = m->xyz[3 * m->face[m->nfv * f + i] + d], away = side % 2 ? -low[1] - x : x - low[0];

      if (away > fraction * (-low[1] - low[0])) within = PETSC_FALSE;
    }
    if (within) m->mark[f] |= bit;
    if (m->mark[f] & bit) ++*faces;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, faces, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* The owner of a node sees all faces at it, and tells the other ranks */
static PetscErrorCode MarkNodes(VolumeMesh* m) {
  PetscLayout layout;
  PetscSF sf;
  PetscInt* root;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < m->nface * m->nfv; i++) m->node_mark[m->face[i]] |= m->mark[i / m->nfv];
  PetscCall(PetscMalloc1(m->own.count, &root));
  for (PetscInt n = 0; n < m->nnode; n++)
    if (IsOwned(m, n)) root[m->global[n] - m->own.first] = m->node_mark[n];
  PetscCall(PetscLayoutCreateFromSizes(PETSC_COMM_WORLD, m->own.count, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, m->nnode, NULL, PETSC_OWN_POINTER, m->global));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, root, m->node_mark, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, root, m->node_mark, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshMark(VolumeMesh* m, PetscInt n, const Surface surfaces[], PetscReal fraction) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt side, faces;

    PetscCall(FindSide(surfaces[i].name, &side));
    if (side < 0) continue; /* a named surface is marked since the mesh was read */
    PetscCall(MarkSide(m, side, fraction, 1 << i, &faces));
    CheckInput(faces, "%s: no boundary face lies within %g of the extent from %s; raise -select_fraction",
               surfaces[i].option, (double)fraction, surfaces[i].name);
  }
  PetscCall(MarkNodes(m));
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshCountBlocks(const VolumeMesh* m, const BlockCounts* counts) {
  PetscInt *start, *list, *seen;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(m->nnode + 2, &start));
  PetscCall(PetscMalloc2(m->nelem * m->nv, &list, m->nnode, &seen));
  for (PetscInt i = 0; i < m->nelem * m->nv; i++) start[m->elem[i] + 2]++;
  for (PetscInt n = 0; n < m->nnode; n++) start[n + 2] += start[n + 1];
  for (PetscInt i = 0; i < m->nelem * m->nv; i++) list[start[m->elem[i] + 1]++] = i / m->nv;
  for (PetscInt n = 0; n < m->nnode; n++) seen[n] = -1;
  for (PetscInt n = 0; n < m->nnode; n++) { /* its elements are list[start[n]] ... list[start[n + 1] - 1] */
    if (!IsOwned(m, n)) continue;
    PetscCheck(start[n] < start[n + 1], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "The node at (%g, %g, %g) belongs to no element; remove it from the mesh", (double)m->xyz[3 * n],
               (double)m->xyz[3 * n + 1], (double)m->xyz[3 * n + 2]);
    for (PetscInt k = start[n] * m->nv; k < start[n + 1] * m->nv; k++) {
      const PetscInt column = m->elem[list[k / m->nv] * m->nv + k % m->nv];

      if (seen[column] == n) continue;
      seen[column] = n;
      CountBlock(m->own, m->global[n], m->global[column], counts);
    }
  }
  PetscCall(PetscFree(start));
  PetscCall(PetscFree2(list, seen));
  PetscFunctionReturn(0);
}

PetscErrorCode VolumeMeshCoordinates(const VolumeMesh* m, Vec v) {
  PetscScalar* x;

  PetscFunctionBeginUser;
  PetscCall(VecGetArray(v, &x));
  for (PetscInt i = 0; i < 3 * m->nnode; i++)
    if (IsOwned(m, i / 3)) x[3 * (m->global[i / 3] - m->own.first) + i % 3] = m->xyz[i] * m->h[i % 3];
  PetscCall(VecRestoreArray(v, &x));
  PetscFunctionReturn(0);
}

/* Does this rank own the node of lowest number? */
static PetscBool IsMine(const VolumeMesh* m, PetscInt e) {
  PetscInt low = m->global[m->elem[e * m->nv]];

  for (PetscInt i = 1; i < m->nv; i++) low = PetscMin(low, m->global[m->elem[e * m->nv + i]]);
  return Contains(m->own, low);
}

PetscErrorCode VolumeMeshElements(const VolumeMesh* m, Vec* elements) {
  PetscScalar* a;
  PetscInt mine = 0;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < m->nelem; e++) mine += IsMine(m, e) ? 1 : 0;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, m->nv * mine, PETSC_DETERMINE, elements));
  PetscCall(VecGetArrayWrite(*elements, &a));
  mine = 0;
  for (PetscInt i = 0; i < m->nelem * m->nv; i++)
    if (IsMine(m, i / m->nv)) a[mine++] = (PetscReal)m->global[m->elem[i]];
  PetscCall(VecRestoreArrayWrite(*elements, &a));
  PetscFunctionReturn(0);
}
