/* Small systems of the kinds that docs/choosing.md tells apart, solved as the options say: choosing_test.py gives it
   the page's lines of options.

   -system NAME   of blocks of 3 unknowns, on a grid of -n nodes a side:
     spd          symmetric and positive definite
     nonsymmetric with convection
     scalars      one unknown a node, symmetric and positive definite
     unmarked     as spd, but the matrix has block size 1
     kept         as spd, with clamped components whose rows stay
     eliminated   as spd, without the rows of clamped components
     coordinates  as spd, with values by MatSetValuesCOO()
   -systems k     solves k systems with the same pattern
   Prints the type, the iterations and the error of the solution of the last one. */
#include <petscksp.h>

typedef struct {
  PetscInt n, width;                               /* nodes a side, unknowns a node */
  PetscBool marked, by_coordinates, clamps, drops; /* what the matrix is told and keeps */
  PetscReal convection, scale;
} System;

static PetscErrorCode ReadSystem(System* s) {
  const char* const names[] = {"spd", "nonsymmetric", "scalars", "unmarked", "kept", "eliminated", "coordinates"};
  PetscInt which = 0;
  PetscBool found = PETSC_FALSE;

  PetscFunctionBeginUser;
  s->n = 6;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &s->n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-system", names, 7, &which, &found));
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-system is missing");
  s->width = which == 2 ? 1 : 3;
  s->marked = (PetscBool)(which != 3 && which != 5);
  s->clamps = (PetscBool)(which == 4);
  s->drops = (PetscBool)(which == 5);
  s->by_coordinates = (PetscBool)(which == 6);
  s->convection = which == 1 ? 0.4 : 0;
  s->scale = 1;
  PetscFunctionReturn(0);
}

/* The coefficient between component a of a node and b of itself (step 0) or of a neighbour (1 to 3 upwards, -1 to -3
   downwards). */
static PetscScalar Coefficient(const System* s, PetscInt step, PetscInt a, PetscInt b) {
  if (step == 0) return s->scale * (a == b ? 6.6 : 0.2);
  if (a == b) return s->scale * (-1 + (step > 0 ? s->convection : -s->convection));
  return s->scale * ((PetscAbsInt(step) == a + 1 ? 0.05 : 0) + (PetscAbsInt(step) == b + 1 ? 0.05 : 0));
}

/* The first component of nodes on one side is clamped. */
static PetscBool IsClamped(const System* s, PetscInt node, PetscInt component) {
  return (PetscBool)((s->clamps || s->drops) && component == 0 && node % s->n == 0);
}

/* Number of a row, or -1 of one that is left out. */
static PetscInt RowOf(const System* s, PetscInt node, PetscInt component) {
  PetscInt row = node * s->width + component;

  if (s->drops) row = IsClamped(s, node, component) ? -1 : row - (node + s->n - 1) / s->n - (node % s->n == 0 ? 1 : 0);
  return row;
}

/* Nodes beside a node, and itself as step 0; -1 where there is none. */
static PetscInt Neighbour(const System* s, PetscInt node, PetscInt step) {
  const PetscInt stride[] = {0, 1, s->n, s->n * s->n}, by = PetscAbsInt(step);
  const PetscInt place = by ? node / stride[by] % s->n : 0;

  if ((step > 0 && place == s->n - 1) || (step < 0 && place == 0)) return -1;
  return node + (step > 0 ? stride[by] : -stride[by]);
}

static PetscErrorCode Create(const System* s, Mat* A) {
  PetscInt nodes = s->n * s->n * s->n, rows = nodes * s->width - (s->drops ? s->n * s->n : 0);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, rows, rows, rows, rows));
  if (s->marked) PetscCall(MatSetBlockSize(*A, s->width));
  PetscCall(MatSetFromOptions(*A));
  if (!s->by_coordinates) {
    PetscInt bs = s->marked ? s->width : 1, *lengths;

    PetscCall(PetscMalloc1(rows / bs, &lengths));
    for (PetscInt i = 0; i < rows / bs; i++) lengths[i] = 7 * s->width / bs;
    PetscCall(MatXAIJSetPreallocation(*A, bs, lengths, NULL, lengths, NULL));
    PetscCall(PetscFree(lengths));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Fill(const System* s, Mat A, PetscBool first) {
  PetscInt nodes = s->n * s->n * s->n, k = 0, *rows, *columns;
  PetscScalar* values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(nodes * 7 * 9, &rows, nodes * 7 * 9, &columns, nodes * 7 * 9, &values));
  for (PetscInt node = 0; node < nodes; node++) {
    for (PetscInt step = -3; step <= 3; step++) {
      PetscInt other = Neighbour(s, node, step);

      for (PetscInt ab = 0; other >= 0 && ab < s->width * s->width; ab++) {
        PetscInt a = ab / s->width, b = ab % s->width;

        if (IsClamped(s, node, a) || IsClamped(s, other, b)) {
          if (s->drops) continue;
          values[k] = node == other && a == b ? s->scale : 0;
        } else
          values[k] = Coefficient(s, step, a, b);
        rows[k] = RowOf(s, node, a);
        columns[k++] = RowOf(s, other, b);
      }
    }
  }
  if (s->by_coordinates) {
    if (first) PetscCall(MatSetPreallocationCOO(A, k, rows, columns));
    PetscCall(MatSetValuesCOO(A, values, INSERT_VALUES));
  } else {
    for (PetscInt i = 0; i < k; i++) PetscCall(MatSetValue(A, rows[i], columns[i], values[i], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(rows, columns, values));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  System s;
  Mat A;
  KSP ksp;
  Vec x, b, wanted;
  PetscInt iterations, systems = 1;
  PetscReal error, size;
  MatType type;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(ReadSystem(&s));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-systems", &systems, NULL));
  PetscCall(Create(&s, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt k = 0; k < systems; k++) {
    s.scale = 1 + k;
    PetscCall(Fill(&s, A, (PetscBool)(k == 0)));
    if (k == 0) {
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(x, &wanted));
      PetscCall(VecSet(wanted, 1));
    }
    PetscCall(MatMult(A, wanted, b));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatGetType(A, &type));
  PetscCall(VecAXPY(x, -1, wanted));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(VecNorm(wanted, NORM_INFINITY, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type: %s\niterations: %" PetscInt_FMT "\nreason: %s\nerror: %.1e\n", type,
                        iterations, KSPConvergedReasons[reason], (double)(error / size)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&wanted));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
