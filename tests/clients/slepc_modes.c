/*
  The lowest vibration modes of a clamped block of springs and lumps, K x = lambda M x with SLEPc: a program that knows
  nothing of the plugin. K and M come from one DMDA with three unknowns a node; -dm_mat_type decides on their type.
  -standard solves K x = lambda x. -load FILE takes that K from a file of PETSc's; -mat_type decides on its type.
*/
#include <petscdmda.h>
#include <slepceps.h>

/* Springs along and across the line to each neighbour; M couples neighbours too, as consistent mass does. */
static PetscErrorCode Fill(DM da, Mat A, PetscReal own, PetscReal along, PetscReal across, PetscReal turn) {
  DMDALocalInfo at;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &at));
  for (PetscInt k = at.zs; k < at.zs + at.zm; k++) {
    for (PetscInt j = at.ys; j < at.ys + at.ym; j++) {
      for (PetscInt i = at.xs; i < at.xs + at.xm; i++) {
        const MatStencil row = {.k = k, .j = j, .i = i, .c = 0};
        PetscScalar diagonal[9] = {own, 0, 0, 0, own * 1.1, 0, 0, 0, own * 1.3};

        for (PetscInt d = 0; d < 3; d++) {
          for (PetscInt side = -1; side < 2; side += 2) {
            const MatStencil column = {
                .k = k + side * (d == 2), .j = j + side * (d == 1), .i = i + side * (d == 0), .c = 0};
            PetscScalar block[9];

            if (column.i < 0 || column.j < 0 || column.k < 0 || column.i >= at.mx || column.j >= at.my ||
                column.k >= at.mz)
              continue;
            for (PetscInt a = 0; a < 3; a++)
              for (PetscInt b = 0; b < 3; b++) block[3 * a + b] = a != b ? 0.05 * across : a == d ? along : across;
#if defined(PETSC_USE_COMPLEX)
            block[1] += turn * side * PETSC_i; /* Hermitian: the neighbour's block is the conjugate transpose */
            block[3] += turn * side * PETSC_i;
#else
            (void)turn;
#endif
            PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &column, block, ADD_VALUES));
          }
        }
        PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &row, diagonal, ADD_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode Make(Mat* K, Mat* M) {
  DM da;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 7,
                         5, 4, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, K));
  PetscCall(DMCreateMatrix(da, M));
  PetscCall(Fill(da, *K, 9, -1.5, -0.7, 0.1));
  PetscCall(Fill(da, *M, 2, 0.1, 0.1, 0));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(const char* file, Mat* K) {
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, K));
  PetscCall(MatSetFromOptions(*K));
  PetscCall(MatLoad(*K, viewer));
  PetscCall(MatSetOption(*K, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat K, M = NULL;
  EPS eps;
  PetscInt found;
  MatType type;
  char file[PETSC_MAX_PATH_LEN] = "";
  PetscBool loads, standard = PETSC_FALSE;

  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-load", file, sizeof(file), &loads));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-standard", &standard, NULL));
  if (loads)
    PetscCall(Load(file, &K));
  else
    PetscCall(Make(&K, &M));
  standard = standard || loads ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, K, standard ? NULL : M));
  PetscCall(EPSSetProblemType(eps, standard ? EPS_HEP : EPS_GHEP));
  PetscCall(EPSSetDimensions(eps, 6, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetTolerances(eps, 1e-11, 500));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &found));
  PetscCall(MatGetType(K, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type: %s\nconverged: %" PetscInt_FMT "\n", type, found));
  for (PetscInt i = 0; i < PetscMin(found, 6); i++) {
    PetscScalar lambda;
    PetscReal error;

    PetscCall(EPSGetEigenvalue(eps, i, &lambda, NULL));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_RELATIVE, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "eigenvalue: %.14e residual %.2e\n", (double)PetscRealPart(lambda),
                          (double)error));
  }
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(standard ? K : M, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&K));
  PetscCall(MatDestroy(&M));
  PetscCall(SlepcFinalize());
  return 0;
}
