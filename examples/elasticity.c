/*
  3-D linear elasticity with three unknowns a node, in plain PETSc.

  A body is clamped on one marked surface and loaded by a traction (force per area) on another.
  The mesh is one of
    - a Gmsh file of tetrahedra (-mesh FILE, -refine N), read, refined and distributed by DMPlex;
      the marked surfaces are the physical surfaces "clamp" and "load" unless told otherwise;
    - a box (-box nx,ny,nz) of equal bricks, or of tetrahedra with -box_tets, distributed by DMDA.
  Both fill the same small struct Mesh, and everything after that (matrix, load, solve, output) is
  one path.  The matrix has blocks of 3 x 3 numbers and any type: -mat_type aij, baij, ...

  Units are the user's; any consistent set does, such as N, mm and MPa:

    elasticity -mesh data/bracket.msh -refine 1 -young 210e3 -traction 0,0,-10 -vtu bracket.vtu
    mpirun -n 4 elasticity -box 40,40,40 -mat_type baij -ksp_rtol 1e-10 -log_view
    elasticity -box 8,8,64 -box_size 1,1,8 -clamp zmin -load zmax -traction 1e-4,0,0
    elasticity -mesh dragon.msh -clamp zmin -load zmax -select_fraction 0.05 -pc_type gamg
    elasticity -box 20,20,20 -mat_type baij -pmat_type aij -pc_type gamg
    elasticity -box 60,60,60 -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0

  The preconditioner is PBJACOBI unless -pc_type says otherwise; -mat_type sbaij wants -pc_type jacobi.
  Build: mpicc $(pkg-config --cflags PETSc) elasticity.c -o elasticity $(pkg-config --libs PETSc) -lm
  PETSc 3.18 reads Gmsh files of format 4 only with their $Entities; format 2.2 always:
    meshio convert in.msh out.msh --output-format gmsh22 --ascii

  Each rank keeps every element that touches a node it owns.  So it computes the rows of its own
  nodes alone, without sending matrix entries, and counts their nonzeros exactly beforehand.
*/
static char help[] =
    "3-D linear elasticity: one surface clamped, another under a traction.\n\
The body is a Gmsh mesh of tetrahedra (-mesh FILE) or a box (-box nx,ny,nz).\n\
A surface (-clamp, -load) is the name or the number of a physical surface of the mesh, or a side\n\
of the bounding box: xmin, xmax, ymin, ymax, zmin, zmax.\n\n";

#include <petscdmda.h>
#include <petscdmplex.h>
#include <petscksp.h>
#include <petscsf.h>

enum { CLAMP = 1, LOAD = 2 }; /* bits of Mesh.mark */

typedef struct {
  char mesh[PETSC_MAX_PATH_LEN], vtu[PETSC_MAX_PATH_LEN];
  char clamp[128], load[128], pmat_type[64];
  PetscInt box[3], refine, repeat;
  PetscReal box_size[3], traction[3], young, poisson, fraction;
  PetscBool is_box, box_tets;
} Options;

/* What a rank knows of the mesh: its own nodes, and all elements and faces that touch one of them */
typedef struct {
  PetscInt nv, nfv;        /* vertices of an element (4 or 8), of a face (3 or 4) */
  PetscInt nelem, *elem;   /* elements: nv local nodes each */
  PetscInt nface, *face;   /* boundary faces: nfv local nodes each */
  PetscInt* mark;          /* for each face, is it of the surface CLAMP, LOAD */
  PetscInt nnode, *global; /* local nodes, their global numbers */
  PetscInt first, nowned;  /* this rank owns the global numbers first ... first + nowned - 1 */
  PetscReal *xyz, h[3];    /* node n is at xyz[3 n + d] h[d] */
  PetscInt* clamped;       /* is the node clamped? */
} Mesh;

static const char* const sides[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};

static PetscBool IsOwned(const Mesh* m, PetscInt node) {
  return (PetscBool)(m->global[node] >= m->first && m->global[node] < m->first + m->nowned);
}

/* An element lies on several ranks; it counts for the one that owns its node of lowest number */
static PetscBool IsMine(const Mesh* m, PetscInt e) {
  PetscInt low = m->elem[e * m->nv];

  for (PetscInt i = 1; i < m->nv; i++)
    if (m->global[m->elem[e * m->nv + i]] < m->global[low]) low = m->elem[e * m->nv + i];
  return IsOwned(m, low);
}

static PetscErrorCode MeshAllocate(Mesh* m, PetscInt nelem, PetscInt nface) {
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(nelem * m->nv, &m->elem, nface * m->nfv, &m->face, nface, &m->mark));
  PetscCall(PetscMalloc3(m->nnode, &m->global, 3 * m->nnode, &m->xyz, m->nnode, &m->clamped));
  PetscCall(PetscArrayzero(m->mark, nface));
  PetscCall(PetscArrayzero(m->clamped, m->nnode));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeshDestroy(Mesh* m) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(m->elem, m->face, m->mark));
  PetscCall(PetscFree3(m->global, m->xyz, m->clamped));
  PetscFunctionReturn(0);
}

/* Unknowns and the elements' nodes are numbered by PETSc's integers */
static PetscErrorCode CheckBoxSize(const Options* o) {
  PetscReal unknowns = 3, corners = o->box_tets ? 24 : 8;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    unknowns *= o->box[d] + (PetscReal)1;
    corners *= o->box[d];
  }
  PetscCheck(PetscMax(unknowns, corners) < PETSC_MAX_INT, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-box %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
             ": these are %g unknowns and elements with %g nodes in all, more than the %g that PETSc's integers of %d "
             "bits can number; give fewer cells, or use a PETSc with 64-bit indices",
             o->box[0], o->box[1], o->box[2], (double)unknowns, (double)corners, (double)PETSC_MAX_INT,
             (int)(8 * sizeof(PetscInt)));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Options* o) {
  PetscBool found;
  PetscMPIInt rank, ok = 1;
  FILE* file;

  PetscFunctionBeginUser;
  PetscCheck(o->is_box != (PetscBool)(o->mesh[0] != 0), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Found %s of -mesh and -box; give exactly one: -mesh FILE for a Gmsh mesh, or -box nx,ny,nz for a box",
             o->is_box ? "both" : "neither");
  if (o->is_box) {
    for (PetscInt d = 0; d < 3; d++) {
      PetscCheck(o->box[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
                 "-box: number %" PetscInt_FMT " is %" PetscInt_FMT
                 "; give three positive integers, such as -box 10,10,10",
                 d + 1, o->box[d]);
      PetscCheck(o->box_size[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
                 "-box_size: number %" PetscInt_FMT " is %g; give three positive lengths, such as -box_size 1,1,1",
                 d + 1, (double)o->box_size[d]);
    }
    PetscCall(CheckBoxSize(o));
    PetscCheck(o->refine == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-refine %" PetscInt_FMT " is for -mesh alone; for a finer box raise the numbers of -box", o->refine);
  } else {
    PetscCall(PetscTestFile(o->mesh, 'r', &found));
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
               "-mesh: cannot read the file %s; check the path and its permissions", o->mesh);
  }
  PetscCheck(o->young > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-young is %g; Young's modulus must be positive",
             (double)o->young);
  PetscCheck(o->poisson > -1 && o->poisson < 0.5, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-poisson is %g; Poisson's ratio must lie between -1 and 0.5, both excluded (steel: 0.3)",
             (double)o->poisson);
  if (!o->vtu[0]) PetscFunctionReturn(0);
  /* open the output now: a wrong path should not cost a solve */
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    file = fopen(o->vtu, "w");
    ok = file != NULL;
    if (file) fclose(file);
  }
  PetscCallMPI(MPI_Bcast(&ok, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(ok, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "-vtu: cannot write the file %s; its folder must exist and be writable", o->vtu);
  PetscFunctionReturn(0);
}

/* PETSc takes an option without its value as not given */
static PetscErrorCode CheckValues(PetscInt n, const char* const names[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    char text[8] = "";
    PetscBool set;

    PetscCall(PetscOptionsGetString(NULL, NULL, names[i], text, sizeof(text), &set));
    PetscCheck(!set || text[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: found no value; it needs a value (-help says which), or leave the option out", names[i]);
  }
  PetscFunctionReturn(0);
}

/* PETSc reads as many numbers as there is room for and drops the others */
static PetscErrorCode CheckThree(const char name[], const char example[]) {
  PetscReal number[4];
  PetscInt n = 4;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, number, &n, &set));
  PetscCheck(!set || n == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "%s: found %" PetscInt_FMT " numbers%s; give three, such as %s %s", name, n, n > 3 ? " or more" : "", name,
             example);
  PetscFunctionReturn(0);
}

static PetscErrorCode ParseBox(const char text[], PetscInt box[3]) {
  char rest;
  int c[3];

  PetscFunctionBeginUser;
  PetscCheck(sscanf(text, "%9d,%9d,%9d%c", &c[0], &c[1], &c[2], &rest) == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-box: found \"%s\"; give three positive integers below 10^9, such as -box 10,10,10", text);
  for (PetscInt d = 0; d < 3; d++) box[d] = c[d];
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Options* o) {
  static const char* const with_value[] = {"-mesh",    "-refine",    "-box",  "-box_size", "-young",
                                           "-poisson", "-clamp",     "-load", "-traction", "-select_fraction",
                                           "-repeat",  "-pmat_type", "-vtu"};
  char box[64] = "";
  PetscInt n, longest = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->young = 1;
  o->poisson = 0.3;
  o->traction[2] = -1e-3;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "3-D linear elasticity", NULL);
  PetscCall(PetscOptionsString("-mesh", "Gmsh file of tetrahedra", NULL, o->mesh, o->mesh, sizeof(o->mesh), NULL));
  PetscCall(PetscOptionsBoundedInt("-refine", "Uniform refinements of -mesh, each making 8 tetrahedra of one", NULL,
                                   o->refine, &o->refine, NULL, 0));
  PetscCall(PetscOptionsString("-box", "nx,ny,nz: numbers of cells of a box", NULL, box, box, sizeof(box), &o->is_box));
  if (o->is_box) PetscCall(ParseBox(box, o->box));
  for (PetscInt d = 1; d < 3; d++)
    if (o->box[d] > o->box[longest]) longest = d;
  for (PetscInt d = 0; d < 3; d++) o->box_size[d] = o->box[longest] > 0 ? (PetscReal)o->box[d] / o->box[longest] : 1;
  PetscCall(PetscOptionsRealArray("-box_size", "Lengths of the box (default: cubes as cells, longest side 1)", NULL,
                                  o->box_size, (n = 3, &n), NULL));
  PetscCall(PetscOptionsBool("-box_tets", "Cut each cell of the box into six tetrahedra", NULL, o->box_tets,
                             &o->box_tets, NULL));
  PetscCall(PetscOptionsReal("-young", "Young's modulus", NULL, o->young, &o->young, NULL));
  PetscCall(PetscOptionsReal("-poisson", "Poisson's ratio", NULL, o->poisson, &o->poisson, NULL));
  PetscCall(PetscStrncpy(o->clamp, o->is_box ? "xmin" : "clamp", sizeof(o->clamp)));
  PetscCall(PetscOptionsString("-clamp", "Surface held fixed: name, number or side (xmin, ...)", NULL, o->clamp,
                               o->clamp, sizeof(o->clamp), NULL));
  PetscCall(PetscStrncpy(o->load, o->is_box ? "xmax" : "load", sizeof(o->load)));
  PetscCall(PetscOptionsString("-load", "Surface under traction: name, number or side (xmin, ...)", NULL, o->load,
                               o->load, sizeof(o->load), NULL));
  PetscCall(
      PetscOptionsRealArray("-traction", "Force per area on the loaded surface", NULL, o->traction, (n = 3, &n), NULL));
  o->fraction = o->is_box ? 1e-6 : 0.02; /* a box has flat sides, a body from a file hardly */
  PetscCall(PetscOptionsReal("-select_fraction", "A side is what lies within this part of the extent from it", NULL,
                             o->fraction, &o->fraction, NULL));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Solve so many times more, in the log stage Repeat", NULL, o->repeat,
                                   &o->repeat, NULL, 0));
  PetscCall(PetscOptionsString("-pmat_type",
                               "Type of a copy of the matrix for the preconditioner (aij for gamg and ml)", NULL,
                               o->pmat_type, o->pmat_type, sizeof(o->pmat_type), NULL));
  PetscCall(PetscOptionsString("-vtu", "Write mesh and displacement to this file for ParaView", NULL, o->vtu, o->vtu,
                               sizeof(o->vtu), NULL));
  PetscOptionsEnd();
  PetscCall(CheckValues(PETSC_STATIC_ARRAY_LENGTH(with_value), with_value));
  PetscCall(CheckThree("-box_size", "1,1,1"));
  PetscCall(CheckThree("-traction", "0,0,-1"));
  PetscFunctionReturn(0);
}

/* ---------------------------------------- the box ---------------------------------------- */

/* Vertex v of a cell is at corner[v], in the order that VTK wants.  A face is listed with its side. */
static const PetscInt corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const PetscInt quad[6][4] = {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};
/* Kuhn's six tetrahedra share the diagonal 0-6, so neighbouring cells match; each side is cut alike */
static const PetscInt kuhn[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
static const PetscInt tri[6][2][3] = {{{0, 4, 7}, {0, 7, 3}}, {{1, 2, 6}, {1, 6, 5}}, {{0, 1, 5}, {0, 5, 4}},
                                      {{3, 7, 6}, {3, 6, 2}}, {{0, 3, 2}, {0, 2, 1}}, {{4, 5, 6}, {4, 6, 7}}};

/* Appends the elements of one cell, whose vertices are the local nodes v[], and its faces on the boundary */
static void BoxAddCell(Mesh* m, const PetscInt v[8], const PetscBool outside[6]) {
  PetscInt *e = m->elem + m->nelem * m->nv, *f = m->face + m->nface * m->nfv;

  if (m->nv == 8)
    for (PetscInt i = 0; i < 8; i++) *e++ = v[i];
  else
    for (PetscInt i = 0; i < 24; i++) *e++ = v[kuhn[i / 4][i % 4]];
  m->nelem += m->nv == 8 ? 1 : 6;
  for (PetscInt s = 0; s < 6; s++) {
    if (!outside[s]) continue;
    if (m->nv == 8)
      for (PetscInt i = 0; i < 4; i++) *f++ = v[quad[s][i]];
    else
      for (PetscInt i = 0; i < 6; i++) *f++ = v[tri[s][i / 3][i % 3]];
    m->nface += m->nv == 8 ? 1 : 2;
  }
}

static PetscErrorCode MeshCreateBox(const Options* o, Mesh* m) {
  const PetscInt* n = o->box;
  const PetscInt* index;
  PetscInt s[3], w[3], c[3], cells, faces; /* start and width of the local box with ghosts */
  ISLocalToGlobalMapping map;
  Vec v;
  DM da;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX,
                         n[0] + 1, n[1] + 1, n[2] + 1, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL,
                         &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetGhostCorners(da, &s[0], &s[1], &s[2], &w[0], &w[1], &w[2]));
  PetscCall(DMGetLocalToGlobalMapping(da, &map));
  PetscCall(DMGetGlobalVector(da, &v));
  PetscCall(VecGetOwnershipRange(v, &m->first, &m->nowned));
  m->nowned -= m->first;
  PetscCall(DMRestoreGlobalVector(da, &v));
  m->nnode = w[0] * w[1] * w[2];
  m->nv = o->box_tets ? 4 : 8;
  m->nfv = o->box_tets ? 3 : 4;
  cells = (w[0] - 1) * (w[1] - 1) * (w[2] - 1);
  faces = 2 * (w[0] * w[1] + w[1] * w[2] + w[2] * w[0]);
  PetscCall(MeshAllocate(m, cells * (o->box_tets ? 6 : 1), faces * (o->box_tets ? 2 : 1)));
  PetscCall(ISLocalToGlobalMappingGetIndices(map, &index));
  PetscCall(PetscArraycpy(m->global, index, m->nnode));
  PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &index));
  PetscCall(DMDestroy(&da));
  /* Coordinates are integers times h, so the differences within a cell, and with them the
     element matrices, are the same to the last bit everywhere */
  for (PetscInt d = 0; d < 3; d++) m->h[d] = o->box_size[d] / n[d];
  for (PetscInt i = 0; i < m->nnode; i++) {
    m->xyz[3 * i] = s[0] + i % w[0];
    m->xyz[3 * i + 1] = s[1] + i / w[0] % w[1];
    m->xyz[3 * i + 2] = s[2] + i / (w[0] * w[1]);
  }
  for (c[2] = 0; c[2] < w[2] - 1; c[2]++) {
    for (c[1] = 0; c[1] < w[1] - 1; c[1]++) {
      for (c[0] = 0; c[0] < w[0] - 1; c[0]++) {
        PetscInt vertex[8];
        PetscBool outside[6];

        for (PetscInt i = 0; i < 8; i++)
          vertex[i] = c[0] + corner[i][0] + w[0] * (c[1] + corner[i][1] + w[1] * (c[2] + corner[i][2]));
        for (PetscInt i = 0; i < 6; i++) outside[i] = (PetscBool)(s[i / 2] + c[i / 2] == (i % 2 ? n[i / 2] - 1 : 0));
        BoxAddCell(m, vertex, outside);
      }
    }
  }
  PetscFunctionReturn(0);
}

/* --------------------------------------- Gmsh meshes --------------------------------------- */

/* Labels of our own, which travel with the mesh through distribution and refinement */
static const char* const own_label[3] = {"elasticity_boundary", "elasticity_clamp", "elasticity_load"};

static PetscErrorCode IsSurfaceLabel(const char label[], PetscBool* is) {
  const char* const others[] = {"depth", "celltype", own_label[0], own_label[1], own_label[2]};
  PetscInt which;

  PetscFunctionBeginUser;
  PetscCall(PetscEListFind(5, others, label, &which, is));
  *is = (PetscBool) !*is;
  PetscFunctionReturn(0);
}

/* Copies the faces of the surface called name into the label own; lists all surfaces for the error message */
static PetscErrorCode PlexMarkSurface(DM dm, const char name[], DMLabel own, char list[], size_t size) {
  char *end, entry[256];
  const long number = strtol(name, &end, 10);
  PetscBool is, match;
  PetscInt nlabel, fs, fe;

  PetscFunctionBeginUser;
  PetscCall(DMGetNumLabels(dm, &nlabel));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fs, &fe));
  for (PetscInt l = 0; l < nlabel; l++) {
    DMLabel label;
    const char* text;
    PetscInt value, last = -1;

    PetscCall(DMGetLabelByNum(dm, l, &label));
    PetscCall(DMGetLabelName(dm, l, &text));
    PetscCall(IsSurfaceLabel(text, &is));
    PetscCall(PetscStrcmp(text, name, &match));
    for (PetscInt f = fs; is && f < fe; f++) {
      PetscCall(DMLabelGetValue(label, f, &value));
      if (value < 0) continue; /* the face is not in this label */
      if (match || (end != name && !*end && number == (long)value)) PetscCall(DMLabelSetValue(own, f, 1));
      PetscCall(PetscSNPrintf(entry, sizeof(entry), " \"%s\" (%" PetscInt_FMT ")", text, value));
      if (value != last && !strstr(list, entry)) PetscCall(PetscStrlcat(list, entry, size));
      last = value;
    }
  }
  PetscFunctionReturn(0);
}

/* Marks the boundary and the surfaces to clamp and to load; the mesh lies on rank 0 alone as yet */
static PetscErrorCode PlexMark(DM dm, const Options* o) {
  const char *wanted[3] = {NULL, o->clamp, o->load}, *option[3] = {NULL, "-clamp", "-load"}, *text;
  char list[2048] = "";
  DMLabel own[3], label;
  PetscInt nlabel, side;
  PetscMPIInt found;
  PetscBool is;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) {
    PetscCall(DMCreateLabel(dm, own_label[i]));
    PetscCall(DMGetLabel(dm, own_label[i], &own[i]));
  }
  PetscCall(DMPlexMarkBoundaryFaces(dm, 1, own[0]));
  for (PetscInt i = 1; i < 3; i++) {
    PetscInt faces;

    PetscCall(PetscEListFind(6, sides, wanted[i], &side, &is));
    if (is) continue;
    PetscCall(PlexMarkSurface(dm, wanted[i], own[i], list, sizeof(list)));
    PetscCall(DMLabelGetStratumSize(own[i], 1, &faces));
    found = faces > 0;
    PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, PETSC_COMM_WORLD));
    PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: the mesh %s has no surface \"%s\"; its surfaces are:%s. Give one of them by name or number, or a "
               "side of the bounding box such as xmin, or add the physical surface in Gmsh",
               option[i], o->mesh, wanted[i], list[0] ? list : " none");
  }
  /* The reader's labels have done their duty; some of them are on rank 0 alone */
  PetscCall(DMGetNumLabels(dm, &nlabel));
  for (PetscInt l = nlabel - 1; l >= 0; l--) {
    PetscCall(DMGetLabelName(dm, l, &text));
    PetscCall(IsSurfaceLabel(text, &is));
    if (!is) continue;
    PetscCall(DMRemoveLabel(dm, text, &label));
    PetscCall(DMLabelDestroy(&label));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PlexReplace(DM* dm, DM newdm) {
  PetscFunctionBeginUser;
  if (!newdm) PetscFunctionReturn(0); /* on one rank there is nothing to distribute */
  PetscCall(DMDestroy(dm));
  *dm = newdm;
  PetscFunctionReturn(0);
}

static PetscErrorCode PlexRead(const Options* o, DM* dm) {
  PetscInt dim, cs, ce, other = 0;
  PetscPartitioner part;
  DM newdm;

  PetscFunctionBeginUser;
  /* surfaces by their names; curved elements as straight ones */
  PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_gmsh_use_regions", "1"));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_gmsh_highorder", "0"));
  PetscCall(DMPlexCreateGmshFromFile(PETSC_COMM_WORLD, o->mesh, PETSC_TRUE, dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCheck(dim == 3, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-mesh: the cells of %s have dimension %" PetscInt_FMT
             ", not 3; mesh the volume with gmsh -3 and save its elements (Physical Volume)",
             o->mesh, dim);
  PetscCall(DMPlexGetHeightStratum(*dm, 0, &cs, &ce));
  for (PetscInt c = cs; c < ce; c++) {
    DMPolytopeType type;

    PetscCall(DMPlexGetCellType(*dm, c, &type));
    if (type != DM_POLYTOPE_TETRAHEDRON) other++;
  }
  PetscCallMPI(MPI_Bcast(&other, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(other == 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-mesh: %" PetscInt_FMT " cells of %s are not tetrahedra; mesh with gmsh -3 and without Recombine", other,
             o->mesh);
  PetscCall(PlexMark(*dm, o));
  PetscCall(DMPlexGetPartitioner(*dm, &part));
  PetscCall(PetscPartitionerSetFromOptions(part));
  PetscCall(DMPlexDistribute(*dm, 0, NULL, &newdm));
  PetscCall(PlexReplace(dm, newdm));
  for (PetscInt i = 0; i < o->refine; i++) {
    PetscCall(DMPlexSetRefinementUniform(*dm, PETSC_TRUE));
    PetscCall(DMRefine(*dm, PETSC_COMM_WORLD, &newdm));
    PetscCall(PlexReplace(dm, newdm));
  }
  PetscCall(DMPlexDistributeOverlap(*dm, 1, NULL, &newdm)); /* the neighbours' cells at the seams */
  PetscCall(PlexReplace(dm, newdm));
  PetscFunctionReturn(0);
}

/* Stores the vertices of a cell or face as local nodes, unless none of them is owned */
static PetscErrorCode PlexAdd(DM dm, PetscInt point, PetscInt vs, PetscInt ve, const Mesh* m, PetscInt nodes[],
                              PetscInt* count) {
  PetscInt size, k = 0, *closure = NULL;
  PetscBool owned = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  for (PetscInt i = 0; i < size; i++) {
    if (closure[2 * i] < vs || closure[2 * i] >= ve) continue;
    nodes[k] = closure[2 * i] - vs;
    if (IsOwned(m, nodes[k++])) owned = PETSC_TRUE;
  }
  PetscCall(DMPlexRestoreTransitiveClosure(dm, point, PETSC_TRUE, &size, &closure));
  if (owned) (*count)++;
  PetscFunctionReturn(0);
}

static PetscErrorCode PlexNodes(DM dm, PetscInt vs, Mesh* m) {
  const PetscInt* number;
  const PetscScalar* x;
  PetscInt offset, last;
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
    if (number[n] >= 0) m->nowned++;
    PetscCall(PetscSectionGetOffset(section, vs + n, &offset));
    for (PetscInt d = 0; d < 3; d++) m->xyz[3 * n + d] = PetscRealPart(x[offset + d]);
  }
  PetscCall(VecRestoreArrayRead(coords, &x));
  PetscCall(ISRestoreIndices(numbering, &number));
  PetscCallMPI(MPI_Scan(&m->nowned, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  m->first = last - m->nowned;
  PetscFunctionReturn(0);
}

static PetscErrorCode MeshCreatePlex(const Options* o, Mesh* m) {
  PetscInt vs, ve, fs, fe, cs, ce, in[3];
  DMLabel own[3];
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(PlexRead(o, &dm));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vs, &ve));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cs, &ce));
  PetscCall(DMPlexGetHeightStratum(dm, 1, &fs, &fe));
  m->nv = 4;
  m->nfv = 3;
  m->nnode = ve - vs;
  m->h[0] = m->h[1] = m->h[2] = 1;
  PetscCall(MeshAllocate(m, ce - cs, fe - fs));
  PetscCall(PlexNodes(dm, vs, m));
  for (PetscInt c = cs; c < ce; c++) PetscCall(PlexAdd(dm, c, vs, ve, m, m->elem + 4 * m->nelem, &m->nelem));
  for (PetscInt i = 0; i < 3; i++) PetscCall(DMGetLabel(dm, own_label[i], &own[i]));
  for (PetscInt f = fs; f < fe; f++) {
    for (PetscInt i = 0; i < 3; i++) PetscCall(DMLabelGetValue(own[i], f, &in[i]));
    if (in[0] < 1 && in[1] < 1 && in[2] < 1) continue; /* inside the body and not marked */
    m->mark[m->nface] = (in[1] == 1 ? CLAMP : 0) | (in[2] == 1 ? LOAD : 0);
    PetscCall(PlexAdd(dm, f, vs, ve, m, m->face + 3 * m->nface, &m->nface));
  }
  if (m->nface < fe - fs) m->mark[m->nface] = 0;
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

/* ------------------------------- from here on, both kinds of mesh ------------------------------- */

/* Makes all tetrahedra right-handed and refuses flat ones */
static PetscErrorCode MeshCheckElements(Mesh* m) {
  PetscMPIInt rank, size, mine, first;
  PetscReal volume = 0, longest = 0, *x = m->xyz;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  mine = size;
  for (PetscInt e = 0; m->nv == 4 && e < m->nelem; e++) {
    PetscInt* n = m->elem + 4 * e;
    PetscReal a[3][3];

    longest = 0;
    for (PetscInt i = 0; i < 3; i++) {
      for (PetscInt d = 0; d < 3; d++) a[i][d] = (m->xyz[3 * n[i + 1] + d] - m->xyz[3 * n[0] + d]) * m->h[d];
      longest = PetscMax(longest, PetscSqrtReal(a[i][0] * a[i][0] + a[i][1] * a[i][1] + a[i][2] * a[i][2]));
    }
    volume = (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) + a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
              a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) /
             6;
    if (PetscAbsReal(volume) <= 1e-12 * longest * longest * longest) {
      mine = rank;
      x += 3 * n[0];
      break;
    }
    if (volume < 0) {
      PetscInt swap = n[2];

      n[2] = n[3];
      n[3] = swap;
    }
  }
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD)); /* one rank alone complains */
  PetscCheck(first != rank, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "The tetrahedron with a vertex at (%g, %g, %g) is flat: volume %g with an edge of %g; repair the mesh, "
             "for example with gmsh -3 -optimize",
             (double)x[0], (double)x[1], (double)x[2], (double)volume, (double)longest);
  PetscFunctionReturn(0);
}

/* Marks the boundary faces all of whose nodes lie within a part of the extent from a side of the bounding box */
static PetscErrorCode MarkSide(const Options* o, PetscInt side, PetscInt bit, Mesh* m) {
  const PetscInt d = side / 2;
  PetscReal low[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}, all[2]; /* lowest coordinate, lowest of the negative one */

  PetscFunctionBeginUser;
  for (PetscInt n = 0; n < m->nnode; n++) {
    low[0] = PetscMin(low[0], m->xyz[3 * n + d]);
    low[1] = PetscMin(low[1], -m->xyz[3 * n + d]);
  }
  PetscCallMPI(MPI_Allreduce(low, all, 2, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  for (PetscInt f = 0; f < m->nface; f++) {
    PetscBool within = PETSC_TRUE;

    for (PetscInt i = 0; i < m->nfv; i++) {
      const PetscReal x = m->xyz[3 * m->face[m->nfv * f + i] + d], away = side % 2 ? -all[1] - x : x - all[0];

      if (away > o->fraction * (-all[1] - all[0])) within = PETSC_FALSE;
    }
    if (within) m->mark[f] |= bit;
  }
  PetscFunctionReturn(0);
}

/* A node is clamped if a clamped face touches it.  Its owner sees all those faces and tells the others. */
static PetscErrorCode ClampNodes(Mesh* m) {
  PetscLayout layout;
  PetscSF sf;
  PetscInt* root;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < m->nface * m->nfv; i++)
    if (m->mark[i / m->nfv] & CLAMP) m->clamped[m->face[i]] = 1;
  PetscCall(PetscMalloc1(m->nowned, &root));
  for (PetscInt n = 0; n < m->nnode; n++)
    if (IsOwned(m, n)) root[m->global[n] - m->first] = m->clamped[n];
  PetscCall(PetscLayoutCreateFromSizes(PETSC_COMM_WORLD, m->nowned, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, m->nnode, NULL, PETSC_OWN_POINTER, m->global));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, root, m->clamped, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, root, m->clamped, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(0);
}

static PetscErrorCode SelectSurfaces(const Options* o, Mesh* m) {
  const char *wanted[2] = {o->clamp, o->load}, *option[2] = {"-clamp", "-load"};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 2; i++) {
    const PetscInt bit = i ? LOAD : CLAMP;
    PetscInt side, faces = 0;
    PetscBool is;

    PetscCall(PetscEListFind(6, sides, wanted[i], &side, &is));
    PetscCheck(is || !o->is_box, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: a box has no surface \"%s\"; give one of xmin, xmax, ymin, ymax, zmin, zmax", option[i], wanted[i]);
    if (!is) continue; /* a named surface is marked since the mesh was read */
    PetscCall(MarkSide(o, side, bit, m));
    for (PetscInt f = 0; f < m->nface; f++)
      if (m->mark[f] & bit) faces++;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &faces, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
    PetscCheck(faces, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s: no boundary face lies within %g of the extent from %s; raise -select_fraction", option[i],
               (double)o->fraction, wanted[i]);
  }
  PetscCall(ClampNodes(m));
  PetscFunctionReturn(0);
}

/* Gradients of the four linear functions of a tetrahedron (vertex 0 at the origin); returns the volume */
static PetscReal TetGradients(PetscReal X[][3], PetscReal G[][3]) {
  PetscReal det = 0;

  for (PetscInt d = 0; d < 3; d++) G[0][d] = 0;
  for (PetscInt i = 1; i < 4; i++) { /* rows of the inverse: cross products of two edges over the determinant */
    PetscReal *p = X[i % 3 + 1], *q = X[(i + 1) % 3 + 1];

    for (PetscInt d = 0; d < 3; d++) G[i][d] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
  }
  for (PetscInt d = 0; d < 3; d++) det += X[1][d] * G[1][d];
  for (PetscInt i = 1; i < 4; i++) {
    for (PetscInt d = 0; d < 3; d++) {
      G[i][d] /= det;
      G[0][d] -= G[i][d];
    }
  }
  return det / 6;
}

/* Gradients of the eight trilinear functions of a brick at one of 2 x 2 x 2 Gauss points; returns its weight */
static PetscReal BrickGradients(PetscReal X[][3], PetscInt point, PetscReal G[][3]) {
  const PetscReal *size = X[6], gauss = 0.5 - 0.5 / PetscSqrtReal(3.0);

  for (PetscInt v = 0; v < 8; v++) {
    for (PetscInt d = 0; d < 3; d++) {
      G[v][d] = (corner[v][d] ? 1 : -1) / size[d];
      for (PetscInt k = 0; k < 3; k++) /* the other two directions are at a distance of gauss or 1 - gauss */
        if (k != d) G[v][d] *= corner[v][k] == corner[point][k] ? 1 - gauss : gauss;
    }
  }
  return size[0] * size[1] * size[2] / 8;
}

/* K: nv x nv blocks of 3 x 3, stored as 3 nv rows.  Symmetric to the last bit: it pairs the products alike. */
static void ElementStiffness(const Options* o, PetscInt nv, PetscReal X[][3], PetscScalar K[]) {
  const PetscReal lambda = o->young * o->poisson / ((1 + o->poisson) * (1 - 2 * o->poisson));
  const PetscReal mu = o->young / (2 * (1 + o->poisson));
  PetscReal G[8][3];

  for (PetscInt i = 0; i < 9 * nv * nv; i++) K[i] = 0;
  for (PetscInt point = 0; point < (nv == 4 ? 1 : 8); point++) {
    const PetscReal w = nv == 4 ? TetGradients(X, G) : BrickGradients(X, point, G);

    for (PetscInt a = 0; a < nv; a++) {
      for (PetscInt b = 0; b < nv; b++) {
        const PetscReal dot = G[a][0] * G[b][0] + G[a][1] * G[b][1] + G[a][2] * G[b][2];

        for (PetscInt i = 0; i < 3; i++) {
          for (PetscInt j = 0; j < 3; j++)
            K[(3 * a + i) * 3 * nv + 3 * b + j] +=
                w * (lambda * (G[a][i] * G[b][j]) + mu * (G[a][j] * G[b][i]) + (i == j ? mu * dot : 0));
        }
      }
    }
  }
}

/* Eliminates the clamped nodes from an element matrix: rows and columns become zero but stay in the pattern,
   and the diagonal keeps its mean, so that the matrix stays symmetric and well scaled */
static void ElementClamp(const Mesh* m, const PetscInt nodes[], PetscScalar K[]) {
  const PetscInt nv = m->nv, n = 3 * nv;

  for (PetscInt a = 0; a < nv; a++) {
    const PetscInt r = 3 * a;
    const PetscScalar mean = (K[r * n + r] + K[(r + 1) * n + r + 1] + K[(r + 2) * n + r + 2]) / 3.0;

    if (!m->clamped[nodes[a]]) continue;
    for (PetscInt i = 0; i < 3; i++) {
      for (PetscInt j = 0; j < n; j++) K[(r + i) * n + j] = K[j * n + r + i] = 0;
    }
    for (PetscInt i = 0; i < 3; i++) K[(r + i) * n + r + i] = mean;
  }
}

/* Counts the blocks of each row of the matrix: own columns and others', and the same right of the diagonal */
static PetscErrorCode CountBlocks(const Mesh* m, PetscInt* count[4]) {
  PetscInt *start, *list, *seen;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(m->nnode + 2, &start));
  PetscCall(PetscMalloc2(m->nelem * m->nv, &list, m->nnode, &seen));
  for (PetscInt i = 0; i < m->nelem * m->nv; i++) start[m->elem[i] + 2]++;
  for (PetscInt n = 0; n < m->nnode; n++) start[n + 2] += start[n + 1];
  for (PetscInt i = 0; i < m->nelem * m->nv; i++) list[start[m->elem[i] + 1]++] = i / m->nv;
  for (PetscInt n = 0; n < m->nnode; n++) seen[n] = -1;
  for (PetscInt n = 0; n < m->nnode; n++) { /* the elements of node n are list[start[n]] ... list[start[n + 1] - 1] */
    const PetscInt row = m->global[n] - m->first;

    if (!IsOwned(m, n)) continue;
    PetscCheck(start[n] < start[n + 1], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "The node at (%g, %g, %g) belongs to no element; remove it from the mesh", (double)m->xyz[3 * n],
               (double)m->xyz[3 * n + 1], (double)m->xyz[3 * n + 2]);
    for (PetscInt k = start[n]; k < start[n + 1]; k++) {
      for (PetscInt i = 0; i < m->nv; i++) {
        const PetscInt col = m->elem[list[k] * m->nv + i];

        if (seen[col] == n) continue;
        seen[col] = n;
        count[IsOwned(m, col) ? 0 : 1][row]++;
        if (m->global[col] >= m->global[n]) count[IsOwned(m, col) ? 2 : 3][row]++;
      }
    }
  }
  PetscCall(PetscFree(start));
  PetscCall(PetscFree2(list, seen));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(const Mesh* m, Mat* A) {
  PetscInt* count[4];
  ISLocalToGlobalMapping map;
  PetscBool sbaij;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, 3 * m->nowned, 3 * m->nowned, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 3, m->nnode, m->global, PETSC_COPY_VALUES, &map));
  PetscCall(MatSetLocalToGlobalMapping(*A, map, map));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  PetscCall(PetscCalloc4(m->nowned, &count[0], m->nowned, &count[1], m->nowned, &count[2], m->nowned, &count[3]));
  PetscCall(CountBlocks(m, count));
  PetscCall(MatXAIJSetPreallocation(*A, 3, count[0], count[1], count[2], count[3]));
  PetscCall(PetscFree4(count[0], count[1], count[2], count[3]));
  PetscCall(MatSetUp(*A)); /* for types without preallocation */
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE)); /* not MAT_SPD: MPIBAIJ of PETSc 3.18 refuses it */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*A, &sbaij, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (sbaij) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode AssembleMatrix(const Options* o, const Mesh* m, Mat A) {
  const PetscInt nv = m->nv;
  PetscScalar K[24 * 24], Kc[24 * 24];
  PetscReal X[8][3];

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < m->nelem; e++) {
    const PetscInt* nodes = m->elem + nv * e;

    if (nv == 4 || e == 0) { /* bricks are all equal: one element matrix serves them all */
      for (PetscInt i = 0; i < nv; i++) {
        for (PetscInt d = 0; d < 3; d++) X[i][d] = (m->xyz[3 * nodes[i] + d] - m->xyz[3 * nodes[0] + d]) * m->h[d];
      }
      ElementStiffness(o, nv, X, K);
    }
    PetscCall(PetscArraycpy(Kc, K, 9 * nv * nv));
    ElementClamp(m, nodes, Kc);
    for (PetscInt a = 0; a < nv; a++) /* the rows of a node: 3 rows of nv blocks */
      if (IsOwned(m, nodes[a]))
        PetscCall(MatSetValuesBlockedLocal(A, 1, &nodes[a], nv, nodes, &Kc[9 * nv * a], ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The load: each face spreads its force evenly over its nodes.  Coordinates of the own nodes on the way. */
static PetscErrorCode AssembleLoad(const Options* o, const Mesh* m, Vec b, Vec coords) {
  PetscScalar *load, *x;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecGetArray(b, &load));
  for (PetscInt f = 0; f < m->nface; f++) {
    const PetscInt* n = m->face + m->nfv * f;
    PetscReal a[2][3], c[3], area;

    if (!(m->mark[f] & LOAD)) continue;
    for (PetscInt i = 0; i < 2; i++) { /* from node 0 to its neighbours, 1 and the last */
      for (PetscInt d = 0; d < 3; d++)
        a[i][d] = (m->xyz[3 * n[i ? m->nfv - 1 : 1] + d] - m->xyz[3 * n[0] + d]) * m->h[d];
    }
    for (PetscInt d = 0; d < 3; d++)
      c[d] = a[0][(d + 1) % 3] * a[1][(d + 2) % 3] - a[0][(d + 2) % 3] * a[1][(d + 1) % 3];
    area = PetscSqrtReal(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) * (m->nfv == 3 ? 0.5 : 1);
    for (PetscInt i = 0; i < m->nfv; i++) {
      if (!IsOwned(m, n[i]) || m->clamped[n[i]]) continue;
      for (PetscInt d = 0; d < 3; d++) load[3 * (m->global[n[i]] - m->first) + d] += o->traction[d] * area / m->nfv;
    }
  }
  PetscCall(VecRestoreArray(b, &load));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCheck(norm > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "The load is zero: -traction is %g,%g,%g, and only nodes that are not clamped take it; check -traction, "
             "-load and -clamp",
             (double)o->traction[0], (double)o->traction[1], (double)o->traction[2]);
  PetscCall(VecGetArray(coords, &x));
  for (PetscInt i = 0; i < 3 * m->nnode; i++)
    if (IsOwned(m, i / 3)) x[3 * (m->global[i / 3] - m->first) + i % 3] = m->xyz[i] * m->h[i % 3];
  PetscCall(VecRestoreArray(coords, &x));
  PetscFunctionReturn(0);
}

/* What the preconditioner is made of: A, or a copy of the type of -pmat_type.  Algebraic multigrid needs aij, while
   products with A, the most of the work, run on A's own type. */
static PetscErrorCode CreatePreconditionerMatrix(const Options* o, Mat A, Mat* P) {
  PetscFunctionBeginUser;
  if (o->pmat_type[0]) {
    PetscCall(MatConvert(A, o->pmat_type, MAT_INITIAL_MATRIX, P));
  } else {
    PetscCall(PetscObjectReference((PetscObject)A));
    *P = A;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SetNearNullSpace(Mat A, Vec coords) {
  MatNullSpace rigid;

  PetscFunctionBeginUser;
  PetscCall(MatNullSpaceCreateRigidBody(coords, &rigid));
  PetscCall(MatSetNearNullSpace(A, rigid)); /* what an algebraic multigrid must know of elasticity */
  PetscCall(MatNullSpaceDestroy(&rigid));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(const Options* o, Mat A, Mat P, Vec b, Vec u, KSP* ksp) {
  PetscLogStage stage;
  PetscLogDouble t0, t1;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCPBJACOBI));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSolve(*ksp, b, u));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve seconds: %.3f\n", t1 - t0));
  if (!o->repeat) PetscFunctionReturn(0);
  /* once more with everything set up and in place: what a second load case would cost */
  PetscCall(PetscLogStageRegister("Repeat", &stage));
  PetscCall(PetscLogStagePush(stage));
  PetscCall(PetscTime(&t0));
  for (PetscInt i = 0; i < o->repeat; i++) {
    PetscCall(VecSet(u, 0));
    PetscCall(KSPSolve(*ksp, b, u));
  }
  PetscCall(PetscTime(&t1));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "repeat seconds each: %.3f\n", (t1 - t0) / o->repeat));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportMatrix(const Mesh* m, Mat A) {
  PetscInt nelem = 0, n;
  MatInfo info;
  MatType type;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < m->nelem; e++)
    if (IsMine(m, e)) nelem++;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &nelem, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "elements: %" PetscInt_FMT "\nmatrix type: %s\nunknowns: %" PetscInt_FMT "\nblocks: %.0f\n",
                        nelem, type, n, info.nz_used / 9));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportSolution(KSP ksp, Mat A, Vec b, Vec u) {
  const PetscScalar* a;
  const char* reason_name;
  KSPConvergedReason reason;
  PetscReal bnorm, rnorm, largest = 0;
  PetscScalar work;
  PetscInt its, n;
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDot(u, b, &work));
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  for (PetscInt i = 0; i < n; i += 3)
    largest = PetscMax(largest, PetscRealPart(a[i] * PetscConj(a[i]) + a[i + 1] * PetscConj(a[i + 1]) +
                                              a[i + 2] * PetscConj(a[i + 2])));
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(ksp, &reason_name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "iterations: %" PetscInt_FMT "\nconvergence reason: %s\nrelative residual: %.3e\n", its,
                        reason_name, (double)(rnorm / bnorm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest displacement: %.11e\ncompliance: %.11e\n",
                        (double)PetscSqrtReal(largest), (double)PetscRealPart(work)));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "The solve did not converge: %s after %" PetscInt_FMT
             " iterations, relative residual %.3e. Raise -ksp_max_it, try another -pc_type (gamg), or check that the "
             "clamp holds every part of the body",
             reason_name, its, (double)(rnorm / bnorm));
  PetscFunctionReturn(0);
}

/* ------------------------------------- output for ParaView ------------------------------------- */

/* Writes a whole distributed vector as text, as width numbers a line, from rank 0 */
static PetscErrorCode WriteArray(FILE* file, const char header[], Vec v, PetscInt width) {
  const PetscScalar* a;
  VecScatter scatter;
  PetscInt n;
  Vec all;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToZero(v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  if (file) {
    fprintf(file, "<DataArray %s format=\"ascii\">\n", header);
    for (PetscInt i = 0; i < n; i++)
      fprintf(file, "%.10g%c", (double)PetscRealPart(a[i]), (i + 1) % width ? ' ' : '\n');
    fprintf(file, "</DataArray>\n");
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

/* The global node numbers of the elements, as a vector: so one function gathers them and the displacement */
static PetscErrorCode CreateCells(const Mesh* m, Vec* cells) {
  PetscScalar* a;
  PetscInt mine = 0;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < m->nelem; e++)
    if (IsMine(m, e)) mine++;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, m->nv * mine, PETSC_DETERMINE, cells));
  PetscCall(VecGetArray(*cells, &a));
  for (PetscInt e = 0; e < m->nelem; e++) {
    if (!IsMine(m, e)) continue;
    for (PetscInt i = 0; i < m->nv; i++) *a++ = (PetscReal)m->global[m->elem[m->nv * e + i]];
  }
  a -= m->nv * mine;
  PetscCall(VecRestoreArray(*cells, &a));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteVTU(const Options* o, const Mesh* m, Vec coords, Vec u) {
  PetscInt nnode, ncell;
  PetscMPIInt rank;
  FILE* file = NULL;
  Vec cells;

  PetscFunctionBeginUser;
  PetscCall(CreateCells(m, &cells));
  PetscCall(VecGetSize(cells, &ncell));
  PetscCall(VecGetSize(u, &nnode));
  nnode /= 3;
  ncell /= m->nv;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    file = fopen(o->vtu, "w");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-vtu: cannot write the file %s", o->vtu);
    fprintf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\n<UnstructuredGrid>\n");
    fprintf(file, "<Piece NumberOfPoints=\"%" PetscInt_FMT "\" NumberOfCells=\"%" PetscInt_FMT "\">\n<Points>\n", nnode,
            ncell);
  }
  PetscCall(WriteArray(file, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", coords, 3));
  if (file) fprintf(file, "</Points>\n<PointData Vectors=\"displacement\">\n");
  PetscCall(WriteArray(file, "type=\"Float64\" Name=\"displacement\" NumberOfComponents=\"3\"", u, 3));
  if (file) fprintf(file, "</PointData>\n<Cells>\n");
  PetscCall(WriteArray(file, "type=\"Int64\" Name=\"connectivity\"", cells, m->nv));
  if (file) {
    fprintf(file, "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n");
    for (PetscInt i = 1; i <= ncell; i++) fprintf(file, "%" PetscInt_FMT "\n", i * m->nv);
    fprintf(file, "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n");
    for (PetscInt i = 0; i < ncell; i++) fprintf(file, "%d\n", m->nv == 4 ? 10 : 12); /* VTK_TETRA, VTK_HEXAHEDRON */
    fprintf(file, "</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    PetscCheck(!ferror(file) && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "-vtu: writing %s failed; is the disk full?", o->vtu);
  }
  PetscCall(VecDestroy(&cells));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Options o;
  Mesh m = {0};
  PetscBool asked;
  PetscLogDouble t0, t1;
  Mat A, P;
  Vec u, b, coords;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(PetscOptionsHasHelp(NULL, &asked));
  if (asked && !o.is_box && !o.mesh[0]) { /* -help alone; with a mesh it goes on and shows the solver's options too */
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(CheckOptions(&o));
  if (o.is_box)
    PetscCall(MeshCreateBox(&o, &m));
  else
    PetscCall(MeshCreatePlex(&o, &m));
  PetscCall(MeshCheckElements(&m));
  PetscCall(SelectSurfaces(&o, &m));

  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(&m, &A));
  PetscCall(AssembleMatrix(&o, &m, A));
  PetscCall(PetscTime(&t1));
  PetscCall(ReportMatrix(&m, A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecSetFromOptions(u)); /* -vec_type cuda */
  PetscCall(VecSetFromOptions(b));
  PetscCall(VecDuplicate(b, &coords));
  PetscCall(AssembleLoad(&o, &m, b, coords));
  PetscCall(CreatePreconditionerMatrix(&o, A, &P));
  PetscCall(SetNearNullSpace(P, coords));
  PetscCall(Solve(&o, A, P, b, u, &ksp));
  PetscCall(ReportSolution(ksp, A, b, u));
  if (o.vtu[0]) PetscCall(WriteVTU(&o, &m, coords, u));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&coords));
  PetscCall(MeshDestroy(&m));
  PetscCall(PetscFinalize());
  return 0;
}
