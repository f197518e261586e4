/*
  3-D linear elasticity with three unknowns a node, in plain PETSc: a matrix of dense 3 x 3 blocks, any type of it
  (-mat_type aij, baij, ...), and conjugate gradients.

  A body is clamped on one marked surface and loaded by a traction (force per area) on another.  Its mesh is one of
    - a Gmsh file of tetrahedra (-mesh FILE, -refine N), read, refined and distributed by DMPlex;
      the marked surfaces are the physical surfaces "clamp" and "load" unless told otherwise;
    - a box (-box nx,ny,nz) of equal bricks, or of tetrahedra with -box_tets, distributed by DMDA.

  Units are the user's; any consistent set does, such as N, mm and MPa:

    elasticity -mesh data/bracket.msh -refine 1 -young 210e3 -traction 0,0,-10 -vtu bracket.vtu
    mpirun -n 4 elasticity -box 40,40,40 -mat_type baij -ksp_rtol 1e-10 -log_view
    elasticity -box 8,8,64 -box_size 1,1,8 -clamp zmin -load zmax -traction 1e-4,0,0
    elasticity -mesh dragon.msh -clamp zmin -load zmax -select_fraction 0.05 -pc_type gamg
    elasticity -box 20,20,20 -dll_append PLUGIN -mat_type aijcompound -pc_type gamg
    elasticity -box 20,20,20 -mat_type baij -pmat_type aij -pc_type gamg
    elasticity -box 60,60,60 -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0 -assembly device

  The preconditioner is PBJACOBI unless -pc_type says otherwise; -mat_type sbaij wants -pc_type jacobi, GAMG and ML want
  aij or its subclasses.
  Build: docs/examples.md has the one line; what is not elasticity is in common/.
  PETSc 3.18 reads Gmsh files of format 4 only with their $Entities; format 2.2 always:
    meshio convert in.msh out.msh --output-format gmsh22 --ascii
*/
static char help[] =
    "3-D linear elasticity: one surface clamped, another under a traction.\n\
The body is a Gmsh mesh of tetrahedra (-mesh FILE) or a box (-box nx,ny,nz).\n\
A surface (-clamp, -load) is the name or the number of a physical surface of the mesh, or a side\n\
of the bounding box: xmin, xmax, ymin, ymax, zmin, zmax.\n\
  -mesh FILE           Gmsh file of tetrahedra\n\
  -refine n            uniform refinements of -mesh, each making 8 tetrahedra of one (0)\n\
  -box nx,ny,nz        numbers of cells of a box\n\
  -box_size lx,ly,lz   lengths of the box (cubes as cells, longest side 1)\n\
  -box_tets            cut each cell of the box into six tetrahedra\n\
  -young E             Young's modulus (1)\n\
  -poisson nu          Poisson's ratio (0.3)\n\
  -clamp SURFACE       surface that is held fixed (clamp; of a box xmin)\n\
  -load SURFACE        surface under traction (load; of a box xmax)\n\
  -traction tx,ty,tz   force per area on the loaded surface (0,0,-1e-3)\n\
  -select_fraction f   a side has all points within this part of the extent (0.02; of a box 1e-6)\n\
  -assembly WAY        insert: element by element; coordinates: all element matrices at once;\n\
                       device: the same, computed on a GPU (insert)\n\
  -set_up n            assemble the matrix and set up n more times, in the log stage Set up (0)\n\
  -repeat n            solve n more times, in the log stage Repeat (0)\n\
  -pmat_type TYPE      type of a copy of the matrix for the preconditioner (aij for gamg and ml;\n\
                       -mat_type aijcompound needs no copy)\n\
  -vtu FILE            write mesh and displacement to this file for ParaView\n\n";

#include "common/input.h"
#include "common/solver.h"
#include "common/volume_mesh.h"
#include "common/vtk.h"
#include "elasticity_device.h"

#include <petscdevice.h>

enum { CLAMP, LOAD, SURFACES }; /* of the mesh */

typedef enum { INSERT, COORDINATES, DEVICE } Way; /* of assembly */
static const char* const ways[] = {"insert", "coordinates", "device", "Way", "", NULL};

typedef struct {
  char mesh[PETSC_MAX_PATH_LEN], vtu[PETSC_MAX_PATH_LEN], clamp[128], load[128], pmat_type[64];
  PetscInt box[3], refine, set_up, repeat;
  PetscReal box_size[3], traction[3], young, poisson, fraction;
  PetscBool is_box, box_tets;
  Way way;
  Material material;
} Options;

#if defined(ELASTICITY_HAS_DEVICE) && PetscDefined(HAVE_CUDA) && PetscDefined(USE_REAL_DOUBLE)
#define HAS_DEVICE 1
#else
#define HAS_DEVICE 0
#endif

/* -------------------------------------------- options -------------------------------------------- */

/* A box's cells are cubes and its longest side is 1, unless -box_size says otherwise */
static PetscErrorCode ReadBox(Options* o) {
  char text[64] = "";
  PetscInt longest;
  PetscReal unknowns, corners;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-box", text, sizeof(text), &o->is_box));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-box_tets", &o->box_tets, NULL));
  if (!o->is_box) PetscFunctionReturn(0);
  PetscCall(ParseExtents("-box", text, 3, "three positive integers", "10,10,10", o->box));
  unknowns = 3 * (o->box[0] + (PetscReal)1) * (o->box[1] + (PetscReal)1) * (o->box[2] + (PetscReal)1);
  corners = (PetscReal)o->box[0] * o->box[1] * o->box[2] * (o->box_tets ? 24 : 8);
  PetscCall(CheckIndexRange("-box", 3, o->box, PetscMax(unknowns, corners), "unknowns or corners of elements"));
  longest = PetscMax(o->box[0], PetscMax(o->box[1], o->box[2]));
  for (PetscInt d = 0; d < 3; d++) o->box_size[d] = (PetscReal)o->box[d] / longest;
  PetscCall(GetReals("-box_size", "the lengths of the box", PETSC_TRUE, 3, o->box_size, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Options* o) {
  static const char* const with_value[] = {
      "-mesh", "-refine", "-box",    "-box_size",        "-young",     "-poisson", "-clamp",
      "-load", "-set_up", "-repeat", "-select_fraction", "-pmat_type", "-vtu",     "-assembly"};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(RequireValues(PETSC_STATIC_ARRAY_LENGTH(with_value), with_value));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", o->mesh, sizeof(o->mesh), NULL));
  PetscCall(GetCount("-refine", &o->refine));
  PetscCall(ReadBox(o));
  o->young = 1;
  PetscCall(GetReals("-young", "Young's modulus", PETSC_TRUE, 1, &o->young, NULL));
  o->poisson = 0.3;
  PetscCall(GetReals("-poisson", "Poisson's ratio", PETSC_FALSE, 1, &o->poisson, NULL));
  PetscCall(PetscStrncpy(o->clamp, o->is_box ? "xmin" : "clamp", sizeof(o->clamp)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-clamp", o->clamp, sizeof(o->clamp), NULL));
  PetscCall(PetscStrncpy(o->load, o->is_box ? "xmax" : "load", sizeof(o->load)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-load", o->load, sizeof(o->load), NULL));
  o->traction[2] = -1e-3;
  PetscCall(GetReals("-traction", "the force per area", PETSC_FALSE, 3, o->traction, NULL));
  o->fraction = o->is_box ? 1e-6 : 0.02; /* a box has flat sides, a body from a file hardly */
  PetscCall(GetReals("-select_fraction", "a part of the extent", PETSC_FALSE, 1, &o->fraction, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-assembly", ways, (PetscEnum*)&o->way, NULL));
  PetscCall(GetCount("-set_up", &o->set_up));
  PetscCall(GetCount("-repeat", &o->repeat));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pmat_type", o->pmat_type, sizeof(o->pmat_type), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vtu", o->vtu, sizeof(o->vtu), NULL));
  o->material.lambda = o->young * o->poisson / ((1 + o->poisson) * (1 - 2 * o->poisson));
  o->material.mu = o->young / (2 * (1 + o->poisson));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Options* o) {
  PetscFunctionBeginUser;
  CheckInput(o->is_box != (PetscBool)(o->mesh[0] != 0),
             "Found %s of -mesh and -box; give exactly one: -mesh FILE for a Gmsh mesh, or -box nx,ny,nz for a box",
             o->is_box ? "both" : "neither");
  CheckInput(!o->is_box || o->refine == 0,
             "-refine %" PetscInt_FMT " is for -mesh alone; for a finer box raise the numbers of -box", o->refine);
  CheckInput(o->poisson > -1 && o->poisson < 0.5,
             "-poisson is %g; Poisson's ratio must lie between -1 and 0.5, both excluded (steel: 0.3)",
             (double)o->poisson);
  CheckInput(o->way != DEVICE || HAS_DEVICE,
             "-assembly device is not in this program: build it with nvcc, for a PETSc with CUDA and double precision; "
             "or choose insert or coordinates");
  PetscCall(CheckWritable("-vtu", o->vtu)); /* now: a wrong path should not cost a solve */
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMesh(const Options* o, VolumeMesh* m) {
  const Surface surfaces[SURFACES] = {[CLAMP] = {"-clamp", o->clamp}, [LOAD] = {"-load", o->load}};

  PetscFunctionBeginUser;
  if (o->is_box)
    PetscCall(VolumeMeshCreateBox(o->box, o->box_size, o->box_tets, SURFACES, surfaces, m));
  else
    PetscCall(VolumeMeshReadGmsh(o->mesh, o->refine, SURFACES, surfaces, m));
  PetscCall(VolumeMeshMark(m, SURFACES, surfaces, o->fraction));
  PetscFunctionReturn(0);
}

/* -------------------------------------------- matrix -------------------------------------------- */

static PetscBool IsClamped(const VolumeMesh* m, PetscInt node) { return (PetscBool)(m->node_mark[node] >> CLAMP & 1); }

/* K: nv x nv blocks of 3 x 3, stored as 3 nv rows */
static void ElementStiffness(const Options* o, PetscInt nv, PetscReal X[][3], PetscScalar K[]) {
  const int points = GradientPoints((int)nv);
  PetscReal G[8][8][3], w[8];

  for (int p = 0; p < points; p++) w[p] = ElementGradients((int)nv, X, p, G[p]);
  for (PetscInt a = 0; a < nv; a++) {
    for (PetscInt b = 0; b < nv; b++) {
      PetscReal block[9] = {0};

      for (int p = 0; p < points; p++) AddStiffness(o->material, w[p], G[p][a], G[p][b], block);
      for (PetscInt k = 0; k < 9; k++) K[(3 * a + k / 3) * 3 * nv + 3 * b + k % 3] = block[k];
    }
  }
}

/* Eliminates the clamped nodes from an element matrix: rows and columns become zero but stay in the pattern,
   and the diagonal keeps its mean, so that the matrix stays symmetric and well scaled */
static void ElementClamp(const VolumeMesh* m, const PetscInt nodes[], PetscScalar K[]) {
  const PetscInt nv = m->nv, n = 3 * nv;

  for (PetscInt a = 0; a < nv; a++) {
    const PetscInt r = 3 * a;
    const PetscScalar mean = (K[r * n + r] + K[(r + 1) * n + r + 1] + K[(r + 2) * n + r + 2]) / 3.0;

    if (!IsClamped(m, nodes[a])) continue;
    for (PetscInt i = 0; i < 3; i++)
      for (PetscInt j = 0; j < n; j++) K[(r + i) * n + j] = K[j * n + r + i] = 0;
    for (PetscInt i = 0; i < 3; i++) K[(r + i) * n + r + i] = mean;
  }
}

/* One block for each pair of nodes of an element; other ranks' rows are theirs to set */
static PetscErrorCode SetCoordinates(const VolumeMesh* m, Mat A) {
  const PetscInt nv = m->nv;
  PetscCount n = 0;
  PetscInt *rows, *columns;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((PetscCount)m->nelem * nv * nv, &rows, (PetscCount)m->nelem * nv * nv, &columns));
  for (PetscInt e = 0; e < m->nelem; e++) {
    const PetscInt* nodes = m->elem + nv * e;

    for (PetscInt a = 0; a < nv; a++) {
      for (PetscInt b = 0; b < nv; b++, n++) {
        rows[n] = IsOwned(m, nodes[a]) ? m->global[nodes[a]] : -1;
        columns[n] = m->global[nodes[b]];
      }
    }
  }
  PetscCall(BlockMatrixSetCoordinates(A, n, rows, columns));
  PetscCall(PetscFree2(rows, columns));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrix(const Options* o, const VolumeMesh* m, Mat* A) {
  ISLocalToGlobalMapping map;
  BlockCounts counts;

  PetscFunctionBeginUser;
  PetscCall(BlockMatrixCreate(3, m->own, NULL, NULL, A));
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 3, m->nnode, m->global, PETSC_COPY_VALUES, &map));
  PetscCall(MatSetLocalToGlobalMapping(*A, map, map));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  if (o->way == INSERT) {
    PetscCall(BlockCountsCreate(m->own.count, &counts));
    PetscCall(VolumeMeshCountBlocks(m, &counts));
    PetscCall(BlockMatrixPreallocate(*A, &counts));
  } else {
    PetscCall(SetCoordinates(m, *A));
  }
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE)); /* not MAT_SPD: MPIBAIJ of PETSc 3.18 refuses it */
  PetscFunctionReturn(0);
}

/* Of element e, with clamped nodes eliminated.  Bricks are all equal: K [nv][nv] blocks of the first serves them all.
 */
static void ComputeElement(const Options* o, const VolumeMesh* m, PetscInt e, PetscScalar K[], PetscScalar clamped[]) {
  const PetscInt nv = m->nv, *nodes = m->elem + nv * e;
  PetscReal X[8][3];

  if (nv == 4 || e == 0) {
    for (PetscInt i = 0; i < nv; i++) VolumeMeshEdge(m, nodes[0], nodes[i], X[i]);
    ElementStiffness(o, nv, X, K);
  }
  (void)PetscArraycpy(clamped, K, 9 * nv * nv);
  ElementClamp(m, nodes, clamped);
}

static PetscErrorCode InsertElements(const Options* o, const VolumeMesh* m, Mat A) {
  const PetscInt nv = m->nv;
  PetscScalar K[24 * 24], Kc[24 * 24];

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < m->nelem; e++) {
    const PetscInt* nodes = m->elem + nv * e;

    ComputeElement(o, m, e, K, Kc);
    for (PetscInt a = 0; a < nv; a++) /* the rows of a node: 3 rows of nv blocks */
      if (IsOwned(m, nodes[a]))
        PetscCall(MatSetValuesBlockedLocal(A, 1, &nodes[a], nv, nodes, &Kc[9 * nv * a], ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetElements(const Options* o, const VolumeMesh* m, Mat A) {
  const PetscInt nv = m->nv;
  PetscScalar K[24 * 24], Kc[24 * 24], *values, *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((PetscCount)m->nelem * nv * nv * 9, &values));
  v = values;
  for (PetscInt e = 0; e < m->nelem; e++) {
    ComputeElement(o, m, e, K, Kc);
    for (PetscInt block = 0; block < nv * nv; block++)
      for (PetscInt k = 0; k < 9; k++) *v++ = Kc[(3 * (block / nv) + k / 3) * 3 * nv + 3 * (block % nv) + k % 3];
  }
  PetscCall(BlockMatrixSetValues(A, values));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

#if HAS_DEVICE
static PetscErrorCode CheckDevice(const char error[]) {
  PetscFunctionBeginUser;
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_LIB, "-assembly device: %s", error);
  PetscFunctionReturn(0);
}

static PetscErrorCode ComputeElementsOnDevice(const Options* o, const VolumeMesh* m, Mat A) {
  ElementInput in = {.nv = (int)m->nv,
                     .nelem = m->nelem,
                     .nnode = (int)m->nnode,
                     .xyz = m->xyz,
                     .h = {m->h[0], m->h[1], m->h[2]},
                     .material = o->material,
                     .parts = sizeof(PetscScalar) / sizeof(PetscReal)};
  DeviceElements* elements = NULL;
  int* elem;
  unsigned char* clamped;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* this rank's */
  PetscCall(PetscMalloc2(m->nelem * m->nv, &elem, m->nnode, &clamped));
  for (PetscInt i = 0; i < m->nelem * m->nv; i++) elem[i] = (int)m->elem[i];
  for (PetscInt i = 0; i < m->nnode; i++) clamped[i] = (unsigned char)IsClamped(m, i);
  in.elem = elem;
  in.clamped = clamped;
  PetscCall(CheckDevice(DeviceElementsCreate(&in, &elements)));
  PetscCall(CheckDevice(DeviceElementsCompute(elements)));
  PetscCall(BlockMatrixSetValues(A, (const PetscScalar*)DeviceElementsValues(elements)));
  DeviceElementsDestroy(elements);
  PetscCall(PetscFree2(elem, clamped));
  PetscFunctionReturn(0);
}
#else
#define ComputeElementsOnDevice SetElements
#endif

static PetscErrorCode AssembleMatrix(const Options* o, const VolumeMesh* m, Mat A) {
  PetscErrorCode (*const assemble[])(const Options*, const VolumeMesh*, Mat) = {InsertElements, SetElements,
                                                                                ComputeElementsOnDevice};

  PetscFunctionBeginUser;
  PetscCall(assemble[o->way](o, m, A));
  PetscFunctionReturn(0);
}

/* --------------------------------------------- load --------------------------------------------- */

static PetscReal FaceArea(const VolumeMesh* m, const PetscInt n[]) {
  PetscReal a[3], b[3], c[3];

  VolumeMeshEdge(m, n[0], n[1], a);
  VolumeMeshEdge(m, n[0], n[m->nfv - 1], b);
  for (PetscInt d = 0; d < 3; d++) c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
  return PetscSqrtReal(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) * (m->nfv == 3 ? 0.5 : 1);
}

/* Each face spreads its force evenly over its nodes */
static PetscErrorCode AssembleLoad(const Options* o, const VolumeMesh* m, Vec b) {
  PetscScalar* load;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecGetArray(b, &load));
  for (PetscInt f = 0; f < m->nface; f++) {
    const PetscInt* n = m->face + m->nfv * f;
    const PetscReal area = m->mark[f] >> LOAD & 1 ? FaceArea(m, n) : 0;

    for (PetscInt i = 0; i < m->nfv && area > 0; i++) {
      if (!IsOwned(m, n[i]) || IsClamped(m, n[i])) continue;
      for (PetscInt d = 0; d < 3; d++) load[3 * (m->global[n[i]] - m->own.first) + d] += o->traction[d] * area / m->nfv;
    }
  }
  PetscCall(VecRestoreArray(b, &load));
  PetscCall(VecNorm(b, NORM_2, &norm));
  CheckInput(norm > 0,
             "The load is zero: -traction is %g,%g,%g, and only nodes that are not clamped take it; check -traction, "
             "-load and -clamp",
             (double)o->traction[0], (double)o->traction[1], (double)o->traction[2]);
  PetscFunctionReturn(0);
}

/* -------------------------------------------- solve -------------------------------------------- */

/* What the preconditioner is made of: A, or a copy of the type of -pmat_type.  Algebraic multigrid needs aij or a
   subclass of it (aijcompound); a baij beside still runs the products with A.  And it must know how the body moves
   without being deformed. */
static PetscErrorCode CreatePreconditionerMatrix(const Options* o, Mat A, Vec coords, Mat* P) {
  MatNullSpace rigid;

  PetscFunctionBeginUser;
  if (o->pmat_type[0]) {
    PetscCall(MatConvert(A, o->pmat_type, MAT_INITIAL_MATRIX, P));
  } else {
    PetscCall(PetscObjectReference((PetscObject)A));
    *P = A;
  }
  PetscCall(MatNullSpaceCreateRigidBody(coords, &rigid));
  PetscCall(MatSetNearNullSpace(*P, rigid));
  PetscCall(MatNullSpaceDestroy(&rigid));
  PetscFunctionReturn(0);
}

/* The matrix assembled anew, as in steps in time or of Newton's method, the set-up for it, and in the end a solve */
static PetscErrorCode SetUpAgain(const Options* o, const VolumeMesh* m, KSP ksp, Mat A, Mat P, Vec b, Vec u) {
  PetscLogDouble t0, t1, seconds = 0;
  PetscLogStage stage;

  PetscFunctionBeginUser;
  if (!o->set_up) PetscFunctionReturn(0);
  PetscCall(PetscLogStageRegister("Set up", &stage));
  for (PetscInt i = 0; i < o->set_up; i++) {
    PetscCall(MatZeroEntries(A));
    PetscCall(AssembleMatrix(o, m, A));
    if (P != A) PetscCall(MatConvert(A, o->pmat_type, MAT_REUSE_MATRIX, &P));
    PetscCall(PetscLogStagePush(stage));
    PetscCall(PetscTime(&t0));
    PetscCall(KSPSetOperators(ksp, A, P));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PetscTime(&t1));
    PetscCall(PetscLogStagePop());
    seconds += t1 - t0;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up seconds each: %.3f\n", seconds / o->set_up));
  PetscCall(VecSet(u, 0));
  PetscCall(KSPSolve(ksp, b, u));
  PetscFunctionReturn(0);
}

/* The largest displacement of a node, and the work of the load, u . b */
static PetscErrorCode ReportSolution(Vec b, Vec u) {
  const PetscScalar* a;
  PetscReal largest = 0;
  PetscScalar work;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecDot(u, b, &work));
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  for (PetscInt i = 0; i < n; i += 3) {
    const PetscScalar square = a[i] * PetscConj(a[i]) + a[i + 1] * PetscConj(a[i + 1]) + a[i + 2] * PetscConj(a[i + 2]);

    largest = PetscMax(largest, PetscRealPart(square));
  }
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest displacement: %.11e\ncompliance: %.11e\n",
                        (double)PetscSqrtReal(largest), (double)PetscRealPart(work)));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveAndReport(const Options* o, const VolumeMesh* m, Mat A, Mat P, Vec b, Vec u) {
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(A, P, b, NULL, KSPCG, PCPBJACOBI, 1e-8, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SolveTimed(ksp, b, u, "solve"));
  PetscCall(SetUpAgain(o, m, ksp, A, P, b, u));
  PetscCall(SolveRepeated(o->repeat, ksp, b, u));
  PetscCall(ReportSolve(ksp, A, b, u, ""));
  PetscCall(ReportSolution(b, u));
  PetscCall(
      CheckConverged(ksp, "", "try another -pc_type (gamg), or check that the clamp holds every part of the body"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* The body with all that is to be solved: the matrix, its copy for the preconditioner, the load, coordinates */
static PetscErrorCode Run(const Options* o) {
  VolumeMesh m = {0};
  PetscInt nelem;
  PetscLogDouble t0, t1;
  Mat A, P;
  Vec u, b, coords, elements;

  PetscFunctionBeginUser;
  PetscCall(CreateMesh(o, &m));
  PetscCall(PetscTime(&t0));
  PetscCall(CreateMatrix(o, &m, &A));
  PetscCall(AssembleMatrix(o, &m, A));
  PetscCall(PetscTime(&t1));
  PetscCall(VolumeMeshElements(&m, &elements));
  PetscCall(VecGetSize(elements, &nelem));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "elements: %" PetscInt_FMT "\n", nelem / m.nv));
  PetscCall(BlockMatrixReport(A, 1, ""));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembly seconds: %.3f\n", t1 - t0));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecSetFromOptions(u)); /* -vec_type cuda */
  PetscCall(VecSetFromOptions(b));
  PetscCall(VecDuplicate(b, &coords));
  PetscCall(AssembleLoad(o, &m, b));
  PetscCall(VolumeMeshCoordinates(&m, coords));
  PetscCall(CreatePreconditionerMatrix(o, A, coords, &P));
  PetscCall(SolveAndReport(o, &m, A, P, b, u));
  if (o->vtu[0]) PetscCall(VtkWriteMesh("-vtu", o->vtu, coords, m.nv, elements, "displacement", u));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&coords));
  PetscCall(VecDestroy(&elements));
  PetscCall(VolumeMeshDestroy(&m));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Options o;
  PetscBool asked;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o));
  PetscCall(PetscOptionsHasHelp(NULL, &asked));
  if (!asked || o.is_box || o.mesh[0]) { /* not -help alone; with a mesh that shows the solver's options too */
    PetscCall(CheckOptions(&o));
    PetscCall(Run(&o));
  }
  PetscCall(PetscFinalize());
  return 0;
}
