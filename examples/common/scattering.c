#include "scattering.h"

#include "input.h"

PetscBool IsInside(const Scattering* s, const PetscInt cell[3]) {
  PetscReal r2 = 0;

  for (PetscInt d = 0; d < 3; d++) r2 += PetscSqr((cell[d] + 0.5) * s->h[d] - s->center[d]);
  return (PetscBool)(s->obstacle != NONE && r2 < PetscSqr(s->radius));
}

PetscBool IsFixed(const Scattering* s, const PetscInt node[3]) {
  PetscInt inside = 0, touching = 0, c[3];

  for (PetscInt v = 0; v < 8; v++) {
    PetscBool exists = PETSC_TRUE;

    for (PetscInt d = 0; d < 3; d++) {
      c[d] = node[d] - (v >> d & 1);
      if (c[d] < 0 || c[d] >= s->cells[d]) exists = PETSC_FALSE;
    }
    if (!exists) continue;
    touching++;
    if (IsInside(s, c)) inside++;
  }
  return (PetscBool)((s->obstacle == SOFT && inside > 0) || (s->obstacle == HARD && inside == touching));
}

static PetscErrorCode GetCells(PetscInt scalars, Scattering* s) {
  char text[64] = "24,24,24";
  PetscReal unknowns = scalars;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-cells", text, sizeof(text), NULL));
  PetscCall(ParseExtents("-cells", text, 3, "three positive integers", "24,24,24", s->cells));
  for (PetscInt d = 0; d < 3; d++) unknowns *= s->cells[d] + 1.0;
  PetscCall(CheckIndexRange("-cells", 3, s->cells, unknowns, "scalar unknowns"));
  PetscFunctionReturn(0);
}

/* The sphere must leave a layer of fluid before the sides, where the absorbing condition knows no obstacle */
static PetscErrorCode CheckObstacle(const Scattering* s) {
  PetscInt cell[3];

  PetscFunctionBeginUser;
  if (s->obstacle == NONE) PetscFunctionReturn(0);
  for (PetscInt d = 0; d < 3; d++)
    CheckInput(s->center[d] - s->radius >= s->h[d] && s->center[d] + s->radius <= s->size[d] - s->h[d],
               "The sphere reaches from %g to %g m in direction %c; a layer of one cell (%g m) must stay free at the "
               "sides of the box (0 to %g m): change -center, -radius, -size or -cells",
               (double)(s->center[d] - s->radius), (double)(s->center[d] + s->radius), (char)('x' + d), (double)s->h[d],
               (double)s->size[d]);
  for (PetscInt d = 0; d < 3; d++) cell[d] = (PetscInt)(s->center[d] / s->h[d]); /* its centre is the nearest */
  CheckInput(IsInside(s, cell),
             "The sphere of radius %g m is too small for cells of %g x %g x %g m: it contains the centre of none, and "
             "would not be there. Give a larger -radius, or more -cells",
             (double)s->radius, (double)s->h[0], (double)s->h[1], (double)s->h[2]);
  PetscFunctionReturn(0);
}

static PetscErrorCode GetObstacle(Scattering* s) {
  static const char* const obstacles[] = {[NONE] = "none", [FLUID] = "fluid", [SOFT] = "soft", [HARD] = "hard"};
  PetscInt which = SOFT;

  PetscFunctionBeginUser;
  PetscCall(GetChoice("-obstacle", 4, obstacles, &which));
  s->obstacle = (Obstacle)which;
  s->radius = 0.2 * PetscMin(s->size[0], PetscMin(s->size[1], s->size[2]));
  for (PetscInt d = 0; d < 3; d++) s->center[d] = s->size[d] / 2;
  PetscCall(GetReals("-center", "x,y,z, the sphere's centre in m", PETSC_FALSE, 3, s->center, NULL));
  PetscCall(GetReals("-radius", "the sphere's radius in m", PETSC_TRUE, 1, &s->radius, NULL));
  s->inner_speed = s->speed / 2;
  PetscCall(GetReals("-inner_speed", "speed of sound in the sphere in m/s", PETSC_TRUE, 1, &s->inner_speed, NULL));
  PetscCall(CheckObstacle(s));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetIncident(Scattering* s) {
  PetscReal norm = 0, outside = 0;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(GetReals("-direction", "dx,dy,dz, where the plane wave goes", PETSC_FALSE, 3, s->direction, &set));
  PetscCall(GetReals("-source", "x,y,z, where the spherical wave comes from, in m", PETSC_FALSE, 3, s->source,
                     &s->spherical));
  CheckInput(!set || !s->spherical,
             "Found both -direction and -source; give -direction for a plane wave or -source for a spherical one");
  for (PetscInt d = 0; d < 3; d++) {
    norm = PetscMax(norm, PetscAbsReal(s->direction[d]));
    outside = PetscMax(outside, PetscMax(-s->source[d], s->source[d] - s->size[d]));
  }
  CheckInput(norm > 0, "-direction is 0,0,0; give a vector, such as -direction 1,0,0; its length does not matter");
  for (PetscInt d = 0; d < 3; d++) s->direction[d] /= norm; /* so that no square overflows */
  norm = PetscSqrtReal(PetscSqr(s->direction[0]) + PetscSqr(s->direction[1]) + PetscSqr(s->direction[2]));
  for (PetscInt d = 0; d < 3; d++) s->direction[d] /= norm;
  CheckInput(
      !s->spherical || outside > 0,
      "-source %g,%g,%g lies in the box, where the wave is infinite; put it outside of 0 to %g, 0 to %g, 0 to %g m",
      (double)s->source[0], (double)s->source[1], (double)s->source[2], (double)s->size[0], (double)s->size[1],
      (double)s->size[2]);
  PetscFunctionReturn(0);
}

PetscErrorCode ScatteringRead(PetscInt scalars, Scattering* s) {
  PetscReal width = 0, shortest;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->frequency = 686;
  s->speed = 343;
  s->direction[0] = 1;
  PetscCall(GetCells(scalars, s));
  for (PetscInt d = 0; d < 3; d++)
    s->size[d] = (PetscReal)s->cells[d] / PetscMax(s->cells[0], PetscMax(s->cells[1], s->cells[2]));
  PetscCall(GetReals("-size", "lx,ly,lz, the lengths of the box in m", PETSC_TRUE, 3, s->size, NULL));
  PetscCall(GetReals("-frequency", "the frequency in Hz", PETSC_TRUE, 1, &s->frequency, NULL));
  PetscCall(GetReals("-speed", "the speed of sound in m/s", PETSC_TRUE, 1, &s->speed, NULL));
  s->k = 2 * PETSC_PI * s->frequency / s->speed;
  for (PetscInt d = 0; d < 3; d++) s->h[d] = s->size[d] / s->cells[d];
  for (PetscInt d = 0; d < 3; d++) width = PetscMax(width, s->h[d]);
  PetscCall(GetObstacle(s));
  PetscCall(GetIncident(s));
  shortest = (s->obstacle == FLUID ? PetscMin(s->speed, s->inner_speed) : s->speed) / s->frequency;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wave number: %.6g\ncells a wavelength: %.3g\n", (double)s->k,
                        (double)(shortest / width)));
  CheckInput(shortest >= 4 * width,
             "The shortest wave is %g m long and a cell up to %g m: fewer than 4 cells a wavelength (10 are usual) "
             "show no wave. Raise -cells, or lower -frequency",
             (double)shortest, (double)width);
  PetscFunctionReturn(0);
}

PetscComplex Incident(const Scattering* s, const PetscInt node[3], const PetscReal normal[3], PetscComplex* g) {
  PetscReal phase = 0, r = 0, r0 = 0, along = 0;
  PetscComplex p, slope;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscReal x = node[d] * s->h[d], away = s->spherical ? x - s->source[d] : s->direction[d];

    phase += s->direction[d] * x;
    r += away * away;
    r0 += PetscSqr(s->size[d] / 2 - s->source[d]);
    if (normal) along += away * normal[d];
  }
  r = PetscSqrtReal(r);
  r0 = PetscSqrtReal(r0); /* amplitude 1 in the middle of the box */
  p = s->spherical ? r0 / r * PetscExpComplex(PETSC_i * s->k * (r - r0)) : PetscExpComplex(PETSC_i * s->k * phase);
  slope = s->spherical ? PETSC_i * s->k - 1 / r : PETSC_i * s->k;
  if (g) *g = (slope * along / r - PETSC_i * s->k) * p;
  return p;
}
