/*
  A block format of your own, for the host and for GPUs: symmetric 3 x 3 blocks (symmetric.hpp).

  Three fields on a grid that diffuse into each other, u - div(K grad u) = f with the symmetric, positive definite 3 x 3
  matrix K(x), periodic, by finite differences: every block of the matrix is symmetric, and 6 of its 9 scalars are kept.
  The program registers the format for the host; for GPUs the same header is named on the command line:

    custom_entry -n 64 -mat_type baijcompound -mat_compound_entry symmetric -mat_compound_view
    custom_entry -n 64 -dm_mat_type baijcompound -dm_vec_type cuda -use_gpu_aware_mpi 0 \
      -mat_compound_entry symmetric -mat_compound_entry_file examples/custom_entry/symmetric.hpp

  Build: add_executable(custom_entry custom_entry.cpp) and target_link_libraries(custom_entry
  petsccompound::petsccompound) with C++20; programs that link the plugin need no -dll_append.
*/
static char help[] =
    "Symmetric 3 x 3 blocks as a block format of your own: three coupled diffusing fields on a grid.\n\n";

#include <petscdmda.h>
#include <petscksp.h>

#include <petsccompound.h>
#include <petsccompound/register_entry.hpp>

#include "symmetric.hpp"

#if !defined(PETSC_SUCCESS) && PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

/* K at a point of the unit cube, times `scale`, added to a block: symmetric, with eigenvalues between 0.3 and 1.7. */
static void AddCoefficient(const PetscReal x[3], PetscReal scale, PetscScalar block[3][3]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const PetscReal k =
          i == j ? 1 + 0.5 * PetscSinReal(2 * PETSC_PI * x[i]) : 0.1 * PetscCosReal(2 * PETSC_PI * (x[i] + x[j]));
      block[i][j] += scale * k;
    }
}

/* The blocks of one grid point's row: K half way to each neighbour. */
static PetscErrorCode AddRow(Mat A, PetscInt n, const PetscInt at[3]) {
  PetscFunctionBeginUser;
  const PetscReal h = 1.0 / n;
  MatStencil row = {};
  PetscScalar centre[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  row.i = at[0], row.j = at[1], row.k = at[2];
  for (int side = 0; side < 6; ++side) {
    const int axis = side / 2, step = side % 2 ? 1 : -1;
    MatStencil column = row;
    PetscScalar off[3][3] = {};
    PetscReal x[3] = {at[0] * h, at[1] * h, at[2] * h};
    x[axis] += 0.5 * step * h;
    (axis == 0 ? column.i : axis == 1 ? column.j : column.k) += step;
    AddCoefficient(x, -1 / (h * h), off);
    AddCoefficient(x, 1 / (h * h), centre);
    PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &column, &off[0][0], ADD_VALUES));
  }
  PetscCall(MatSetValuesBlockedStencil(A, 1, &row, 1, &row, &centre[0][0], ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Assemble(DM da, Mat A) {
  PetscFunctionBeginUser;
  PetscInt n, first[3], count[3];
  PetscCall(DMDAGetInfo(da, nullptr, &n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr));
  PetscCall(DMDAGetCorners(da, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  for (PetscInt k = first[2]; k < first[2] + count[2]; ++k)
    for (PetscInt j = first[1]; j < first[1] + count[1]; ++j)
      for (PetscInt i = first[0]; i < first[0] + count[0]; ++i) {
        const PetscInt at[3] = {i, j, k};
        PetscCall(AddRow(A, n, at));
      }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves A u = A u0 for a random u0. */
static PetscErrorCode Solve(DM da, Mat A) {
  PetscFunctionBeginUser;
  Vec u0, b, u;
  KSP ksp;
  PetscInt its;
  PetscReal error, norm;
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &u0));
  PetscCall(VecDuplicate(u, &b));
  PetscCall(VecSetRandom(u0, nullptr));
  PetscCall(MatMult(A, u0, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PC pc;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCPBJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecNorm(u0, NORM_2, &norm));
  PetscCall(VecAXPY(u, -1, u0));
  PetscCall(VecNorm(u, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT "\nrelative error: %.3e\n", its,
                        (double)(error / norm)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&u0));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char** argv) {
  PetscInt n = 24;
  DM da;
  Mat A;

  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(PetscCompoundInitialize());
  PetscCall(MatCompoundRegisterEntry<symmetric>());
  PetscOptionsBegin(PETSC_COMM_WORLD, "", "Options of the example", "");
  PetscCall(PetscOptionsBoundedInt("-n", "Grid points a direction", "", n, &n, nullptr, 3));
  PetscOptionsEnd();
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, nullptr, nullptr,
                         nullptr, &da));
  PetscCall(DMSetMatType(da, MATBAIJCOMPOUND));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Assemble(da, A));
  PetscCall(Solve(da, A));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
