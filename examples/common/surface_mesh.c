#include "surface_mesh.h"
#include <petscmat.h>
#include <stdlib.h>

int SurfaceMeshComparePairs(const void* a, const void* b) {
  const PetscInt *p = (const PetscInt*)a, *q = (const PetscInt*)b;

  return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

/* A side of a triangle: it runs from low to high (forward) or back */
typedef struct {
  PetscInt low, high, forward;
} Side;

/* The triangles with these sides meet at one edge: two at most, which turn the same way */
static PetscErrorCode CheckEdge(const SurfaceMesh* m, const char name[], const Side sides[], PetscInt n) {
  const PetscReal *a = m->xyz + 3 * sides->low, *b = m->xyz + 3 * sides->high;

  PetscFunctionBeginUser;
  PetscCheck(n <= 2, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s: %" PetscInt_FMT
             " triangles meet at the edge from (%g, %g, %g) to (%g, %g, %g); two may, or one at a boundary. Remove "
             "the others (MeshLab: Repair Non Manifold Edges)",
             name, n, (double)a[0], (double)a[1], (double)a[2], (double)b[0], (double)b[1], (double)b[2]);
  PetscCheck(n == 1 || sides[0].forward != sides[1].forward, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s: the two triangles at the edge from (%g, %g, %g) to (%g, %g, %g) are oriented inconsistently; all "
             "must turn the same way seen from outside. Orient them alike (MeshLab: Re-Orient all faces coherently); "
             "a one-sided surface cannot be",
             name, (double)a[0], (double)a[1], (double)a[2], (double)b[0], (double)b[1], (double)b[2]);
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshBuildEdges(SurfaceMesh* m, const char name[]) {
  PetscErrorCode code = 0;
  Side* sides;
  PetscInt next;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(3 * m->nface, &sides));
  for (PetscInt i = 0; i < 3 * m->nface; i++) {
    const PetscInt a = m->face[i], b = m->face[i % 3 == 2 ? i - 2 : i + 1];

    sides[i] = (Side){PetscMin(a, b), PetscMax(a, b), a < b};
  }
  qsort(sides, (size_t)(3 * m->nface), sizeof(Side), SurfaceMeshComparePairs);
  PetscCall(PetscFree(m->edge));
  PetscCall(PetscMalloc1(6 * m->nface, &m->edge));
  m->nedge = m->boundary = 0;
  for (PetscInt i = 0; i < 3 * m->nface && !code; i = next) {
    const PetscInt a = sides[i].low, b = sides[i].high;

    for (next = i + 1; next < 3 * m->nface && sides[next].low == a && sides[next].high == b;) next++;
    if (name) code = CheckEdge(m, name, sides + i, next - i);
    m->edge[2 * m->nedge] = a;
    m->edge[2 * m->nedge++ + 1] = b;
    if (next - i == 1) m->boundary++;
  }
  PetscCall(PetscFree(sides));
  PetscCall(code);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckNumbers(const SurfaceMesh* m, const char name[]) {
  PetscFunctionBeginUser;
  PetscCheck(m->nface > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s: %" PetscInt_FMT " vertices and no face; a surface needs triangles", name, m->nvertex);
  for (PetscInt v = 0; v < m->nvertex; v++) {
    const PetscReal* x = m->xyz + 3 * v;

    PetscCheck(!PetscIsInfOrNanReal(x[0]) && !PetscIsInfOrNanReal(x[1]) && !PetscIsInfOrNanReal(x[2]), PETSC_COMM_SELF,
               PETSC_ERR_USER_INPUT,
               "%s: vertex %" PetscInt_FMT " (the first is 0) is at (%g, %g, %g); coordinates must be finite numbers",
               name, v, (double)x[0], (double)x[1], (double)x[2]);
  }
  for (PetscInt f = 0; f < m->nface; f++) {
    const PetscInt* v = m->face + 3 * f;

    for (PetscInt i = 0; i < 3; i++)
      PetscCheck(v[i] >= 0 && v[i] < m->nvertex, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
                 "%s: a triangle has vertex %" PetscInt_FMT ", its corners are %" PetscInt_FMT ", %" PetscInt_FMT
                 ", %" PetscInt_FMT "; the %" PetscInt_FMT
                 " vertices of the file are counted from 0 here (OBJ files count from 1)",
                 name, v[i], v[0], v[1], v[2], m->nvertex);
    PetscCheck(v[0] != v[1] && v[1] != v[2] && v[2] != v[0], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "%s: a triangle has the corners %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
               " (the first vertex is 0); they must differ. Remove it (MeshLab: Remove Duplicate Faces, Remove Zero "
               "Area Faces)",
               name, v[0], v[1], v[2]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAreas(const SurfaceMesh* m, const char name[]) {
  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < m->nface; f++) {
    const PetscReal *x = m->xyz + 3 * m->face[3 * f], *y = m->xyz + 3 * m->face[3 * f + 1],
                    *z = m->xyz + 3 * m->face[3 * f + 2];
    PetscReal area2 = 0, longest2 = 0, to_y = 0, to_z = 0, across = 0;

    for (PetscInt d = 0; d < 3; d++) {
      const PetscInt p = (d + 1) % 3, q = (d + 2) % 3;
      const PetscReal c = (y[p] - x[p]) * (z[q] - x[q]) - (y[q] - x[q]) * (z[p] - x[p]);

      area2 += c * c;
      to_y += (y[d] - x[d]) * (y[d] - x[d]);
      to_z += (z[d] - x[d]) * (z[d] - x[d]);
      across += (z[d] - y[d]) * (z[d] - y[d]);
    }
    longest2 = PetscMax(to_y, PetscMax(to_z, across));
    PetscCheck(area2 > 1e-20 * longest2 * longest2, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "%s: the triangle (%g, %g, %g), (%g, %g, %g), (%g, %g, %g) has no area; its angles are needed. Remove "
               "it (MeshLab: Remove Zero Area Faces) or move a corner",
               name, (double)x[0], (double)x[1], (double)x[2], (double)y[0], (double)y[1], (double)y[2], (double)z[0],
               (double)z[1], (double)z[2]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOnePart(const SurfaceMesh* m, const char name[]) {
  PetscInt *root, parts = m->nvertex;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(m->nvertex, &root));
  for (PetscInt v = 0; v < m->nvertex; v++) root[v] = v;
  for (PetscInt e = 0; e < m->nedge; e++) { /* joins the parts of both ends */
    PetscInt end[2];

    for (PetscInt i = 0; i < 2; i++) {
      PetscInt v = m->edge[2 * e + i];

      while (root[v] != v) v = root[v] = root[root[v]];
      end[i] = v;
    }
    if (end[0] != end[1]) parts--;
    root[PetscMax(end[0], end[1])] = PetscMin(end[0], end[1]);
  }
  PetscCall(PetscFree(root));
  PetscCheck(parts == 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s: %" PetscInt_FMT
             " separate parts; give one connected surface. Keep the largest (MeshLab: Remove Isolated pieces), or run "
             "once for each",
             name, parts);
  PetscFunctionReturn(0);
}

/* Gives each vertex v the number number[v]; -1 leaves it out */
static void Renumber(SurfaceMesh* m, PetscInt nvertex, const PetscInt number[], const PetscReal old[]) {
  for (PetscInt v = 0; v < m->nvertex; v++) {
    for (PetscInt d = 0; d < 3 && number[v] >= 0; d++) m->xyz[3 * number[v] + d] = old[3 * v + d];
  }
  for (PetscInt i = 0; i < 3 * m->nface; i++) m->face[i] = number[m->face[i]];
  m->nvertex = nvertex;
}

PetscErrorCode SurfaceMeshFinish(SurfaceMesh* m, const char name[]) {
  PetscInt *number, n = 0;

  PetscFunctionBeginUser;
  PetscCall(CheckNumbers(m, name));
  PetscCall(PetscMalloc1(m->nvertex, &number));
  for (PetscInt v = 0; v < m->nvertex; v++) number[v] = -1;
  for (PetscInt i = 0; i < 3 * m->nface; i++) number[m->face[i]] = 0;
  for (PetscInt v = 0; v < m->nvertex; v++)
    if (number[v] >= 0) number[v] = n++;
  m->unused = m->nvertex - n;
  Renumber(m, n, number, m->xyz);
  PetscCall(PetscFree(number));
  PetscCall(CheckAreas(m, name));
  PetscCall(SurfaceMeshBuildEdges(m, name));
  PetscCall(CheckOnePart(m, name));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshRenumber(SurfaceMesh* m, const char ordering[]) {
  const PetscInt* place;
  PetscInt *count, *number;
  PetscReal* old;
  IS rows, columns;
  Mat graph;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(m->nvertex, &count, m->nvertex, &number, 3 * m->nvertex, &old));
  for (PetscInt v = 0; v < m->nvertex; v++) count[v] = 1;
  for (PetscInt i = 0; i < 2 * m->nedge; i++) count[m->edge[i]]++;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m->nvertex, m->nvertex, 0, count, &graph));
  for (PetscInt v = 0; v < m->nvertex; v++) PetscCall(MatSetValue(graph, v, v, 1, INSERT_VALUES));
  for (PetscInt i = 0; i < 2 * m->nedge; i++)
    PetscCall(MatSetValue(graph, m->edge[i], m->edge[i ^ 1], 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(graph, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(graph, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetOrdering(graph, ordering, &rows, &columns));
  PetscCall(ISGetIndices(rows, &place));
  for (PetscInt v = 0; v < m->nvertex; v++) number[place[v]] = v;
  PetscCall(ISRestoreIndices(rows, &place));
  PetscCall(PetscMalloc1(m->nvertex, &m->order));
  PetscCall(PetscArraycpy(m->order, number, m->nvertex));
  PetscCall(PetscArraycpy(old, m->xyz, 3 * m->nvertex));
  Renumber(m, m->nvertex, number, old);
  PetscCall(SurfaceMeshBuildEdges(m, NULL));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&graph));
  PetscCall(PetscFree3(count, number, old));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceMeshBroadcast(SurfaceMesh* m) {
  PetscInt n[4] = {m->nvertex, m->nface, m->nedge, m->boundary};
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Bcast(n, 4, MPIU_INT, 0, PETSC_COMM_WORLD));
  if (rank) {
    m->nvertex = n[0];
    m->nface = n[1];
    m->nedge = n[2];
    m->boundary = n[3];
    PetscCall(PetscMalloc1(3 * m->nvertex, &m->xyz));
    PetscCall(PetscMalloc1(3 * m->nface, &m->face));
    PetscCall(PetscMalloc1(2 * m->nedge, &m->edge));
  }
  PetscCallMPI(MPI_Bcast(m->xyz, (PetscMPIInt)(3 * m->nvertex), MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(m->face, (PetscMPIInt)(3 * m->nface), MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(m->edge, (PetscMPIInt)(2 * m->nedge), MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

void SurfaceMeshExtent(PetscInt nvertex, const PetscReal xyz[], PetscReal centre[3], PetscReal* radius) {
  *radius = centre[0] = centre[1] = centre[2] = 0;
  for (PetscInt i = 0; i < 3 * nvertex; i++) centre[i % 3] += xyz[i] / nvertex;
  for (PetscInt v = 0; v < nvertex; v++) {
    PetscReal square = 0;

    for (PetscInt d = 0; d < 3; d++) square += (xyz[3 * v + d] - centre[d]) * (xyz[3 * v + d] - centre[d]);
    *radius = PetscMax(*radius, PetscSqrtReal(square));
  }
}

PetscErrorCode SurfaceMeshDestroy(SurfaceMesh* m) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(m->xyz));
  PetscCall(PetscFree(m->face));
  PetscCall(PetscFree(m->edge));
  PetscCall(PetscFree(m->uv));
  PetscCall(PetscFree(m->order));
  PetscFunctionReturn(0);
}
