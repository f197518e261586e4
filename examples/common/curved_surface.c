#include "curved_surface.h"

#include <string.h>

#include "grey_image.h"
#include "input.h"

/* What the options say */
typedef struct {
  char mesh[PETSC_MAX_PATH_LEN], image[PETSC_MAX_PATH_LEN], rho[64], renumber[64];
  PetscBool is_mesh, is_sphere, is_image, is_rho, unit_radius;
  PetscInt cuts;
  PetscReal scale;
} Source;

/* Functions of the place on the surface: p = (position - centre) / radius */
static PetscReal RhoConstant(const PetscReal p[3]) {
  (void)p;
  return 1;
}

static PetscReal RhoHeight(const PetscReal p[3]) { return p[2]; }

static PetscReal RhoStripes(const PetscReal p[3]) { return PetscSinReal(8 * p[2]); }

static PetscReal RhoWaves(const PetscReal p[3]) {
  return PetscSinReal(5 * p[0]) * PetscSinReal(5 * p[1]) + PetscSinReal(5 * p[2]) * PetscSinReal(5 * p[0]) +
         PetscSinReal(5 * p[1]) * PetscSinReal(5 * p[2]);
}

static const struct {
  const char* name;
  PetscReal (*value)(const PetscReal[3]);
} rhos[] = {{"constant", RhoConstant}, {"height", RhoHeight}, {"stripes", RhoStripes}, {"waves", RhoWaves}};

static PetscErrorCode RhoOfFunction(const Source* o, CurvedSurface* s) {
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(rhos);
  PetscReal centre[3], radius;
  size_t r = 0;

  PetscFunctionBeginUser;
  while (r < n && strcmp(o->rho, rhos[r].name)) r++;
  PetscCheck(r < n, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-rho %s; choose constant, height, stripes or waves, or give an -image", o->rho);
  SurfaceMeshExtent(s->m.nvertex, s->m.xyz, centre, &radius);
  for (PetscInt f = 0; f < s->m.nface; f++) {
    PetscReal p[3] = {0, 0, 0};

    for (PetscInt i = 0; i < 9; i++)
      p[i % 3] += (s->m.xyz[3 * s->m.face[3 * f + i / 3] + i % 3] - centre[i % 3]) / (3 * radius);
    s->rho[f] = o->scale * rhos[r].value(p);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RhoOfImage(const Source* o, CurvedSurface* s) {
  GreyImage image;

  PetscFunctionBeginUser;
  PetscCheck(s->m.uv, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-image needs texture coordinates at every corner; %s has not all of them. OBJ: faces v/vt; PLY: vertices "
             "with u, v or s, t; OFF: none. Or use a function: -rho waves",
             o->mesh);
  PetscCall(GreyImageRead(o->image, &image));
  for (PetscInt f = 0; f < s->m.nface; f++) {
    const PetscReal* uv = s->m.uv + 6 * f;
    PetscReal sum = 0;

    for (PetscInt i = 0; i < 3; i++) sum += GreyImageSample(&image, uv[2 * i], uv[2 * i + 1]) / 3;
    s->rho[f] = (2 * sum - 1) * o->scale;
    PetscCheck(!PetscIsInfOrNanReal(s->rho[f]), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "%s: texture coordinates (%g, %g), (%g, %g), (%g, %g) of a triangle; they must be finite numbers",
               o->mesh, (double)uv[0], (double)uv[1], (double)uv[2], (double)uv[3], (double)uv[4], (double)uv[5]);
  }
  PetscCall(GreyImageDestroy(&image));
  PetscFunctionReturn(0);
}

/* Rank 0 does what needs the files */
static PetscErrorCode PrepareSurface(const Source* o, CurvedSurface* s) {
  PetscReal centre[3], radius;

  PetscFunctionBeginUser;
  if (o->is_sphere)
    PetscCall(SurfaceMeshCreateSphere(o->cuts, &s->m));
  else
    PetscCall(SurfaceMeshRead(o->mesh, &s->m));
  PetscCall(SurfaceMeshFinish(&s->m, o->is_sphere ? "-sphere" : o->mesh));
  if (o->unit_radius) {
    SurfaceMeshExtent(s->m.nvertex, s->m.xyz, centre, &radius);
    for (PetscInt i = 0; i < 3 * s->m.nvertex; i++) s->m.xyz[i] = (s->m.xyz[i] - centre[i % 3]) / radius;
  }
  if (o->renumber[0]) PetscCall(SurfaceMeshRenumber(&s->m, o->renumber));
  PetscCall(PetscMalloc1(s->m.nface, &s->rho));
  if (o->is_image)
    PetscCall(RhoOfImage(o, s));
  else
    PetscCall(RhoOfFunction(o, s));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Source* o) {
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", o->mesh, sizeof(o->mesh), &o->is_mesh));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sphere", &o->is_sphere));
  PetscCall(GetCount("-sphere", &o->cuts));
  CheckInput(o->is_sphere != o->is_mesh,
             "Found %s of -mesh and -sphere; give exactly one: -mesh FILE for an OBJ, OFF or PLY mesh, or -sphere CUTS "
             "for a sphere",
             o->is_mesh ? "both" : "neither");
  CheckInput(o->cuts <= 10,
             "-sphere %" PetscInt_FMT
             "; the icosahedron's triangles are cut in four 0 to 10 times (10 * 4^n + 2 vertices)",
             o->cuts);
  PetscCall(PetscStrncpy(o->rho, "waves", sizeof(o->rho)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-image", o->image, sizeof(o->image), &o->is_image));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rho", o->rho, sizeof(o->rho), &o->is_rho));
  CheckInput(!o->is_image || !o->is_rho, "Found both of -image and -rho; give the change of curvature by one of them");
  o->scale = o->is_image ? 5 : 2;
  PetscCall(GetReals("-scale", "a factor in 1 / length", PETSC_FALSE, 1, &o->scale, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-unit_radius", &o->unit_radius, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-renumber", o->renumber, sizeof(o->renumber), NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode CurvedSurfaceFromOptions(CurvedSurface* s) {
  const SurfaceMesh* m = &s->m;
  PetscReal low = PETSC_MAX_REAL, high = PETSC_MIN_REAL;
  PetscInt count = PETSC_DECIDE;
  PetscMPIInt rank;
  Source o;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(ReadOptions(&o));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(PrepareSurface(&o, s));
  PetscCall(SurfaceMeshBroadcast(&s->m));
  if (rank) PetscCall(PetscMalloc1(m->nface, &s->rho));
  PetscCallMPI(MPI_Bcast(s->rho, (PetscMPIInt)m->nface, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &count, &s->m.nvertex));
  PetscCall(RangeCreate(count, &s->own));
  for (PetscInt f = 0; f < m->nface; f++) {
    low = PetscMin(low, s->rho[f]);
    high = PetscMax(high, s->rho[f]);
  }
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "vertices: %" PetscInt_FMT "\ntriangles: %" PetscInt_FMT "\nboundary edges: %" PetscInt_FMT
      "\nunused vertices left out: %" PetscInt_FMT "\neuler characteristic: %" PetscInt_FMT "\nrho: %g to %g\n",
      m->nvertex, m->nface, m->boundary, m->unused, m->nvertex - m->nedge + m->nface, (double)low, (double)high));
  PetscFunctionReturn(0);
}

/* Of a triangle's map with singular values p >= q, p / q + q / p is the sum of cot |edge|^2 over twice the new area */
PetscErrorCode CurvedSurfaceReport(const CurvedSurface* s, const PetscReal xyz[]) {
  PetscReal mean = 0, most = 1, total = 0, smallest = PETSC_MAX_REAL, largest = 0;

  PetscFunctionBeginUser;
  for (PetscInt f = 0; f < s->m.nface; f++) {
    Quaternion before[3], after[3];
    PetscReal area[2], sum = 0, ratio;

    Triangle(&s->m, s->m.xyz, f, before, &area[0]);
    Triangle(&s->m, xyz, f, after, &area[1]);
    for (PetscInt i = 0; i < 3; i++) sum += HalfCotangent(before, area[0], i) * Dot(after[i], after[i]);
    sum = area[1] > 0 ? PetscMax(2, sum / area[1]) : PETSC_MAX_REAL;
    ratio = (sum + PetscSqrtReal(sum * sum - 4)) / 2;
    most = PetscMax(most, ratio);
    smallest = PetscMin(smallest, PetscSqrtReal(area[1] / area[0]));
    largest = PetscMax(largest, PetscSqrtReal(area[1] / area[0]));
    mean += ratio * area[0];
    total += area[0];
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "length factors: %.6g to %.6g\nmean distortion: %.8g\nlargest distortion: %.6g\n",
                        (double)smallest, (double)largest, (double)(mean / total), (double)most));
  PetscFunctionReturn(0);
}

PetscErrorCode CurvedSurfaceDestroy(CurvedSurface* s) {
  PetscFunctionBeginUser;
  PetscCall(SurfaceMeshDestroy(&s->m));
  PetscCall(PetscFree(s->rho));
  PetscFunctionReturn(0);
}
