// Systems and solvers for tests of multigrid.
#pragma once

#include <petscdmda.h>

#include <array>

#include "device.hpp"
#include "systems.hpp"

namespace petsc_test {

struct Box {
  Grid dm;
  Matrix A;

  /// Those of a body in space: six columns a node.
  void tell_rigid_body_modes() const {
    Vec coordinates;
    MatNullSpace modes;
    PETSC_OK(DMDASetUniformCoordinates(dm, 0, 1, 0, 1, 0, 1));
    PETSC_OK(DMGetCoordinates(dm, &coordinates));
    PETSC_OK(MatNullSpaceCreateRigidBody(coordinates, &modes));
    PETSC_OK(MatSetNearNullSpace(A, modes));
    PETSC_OK(MatNullSpaceDestroy(&modes));
  }
};

/// A box of nodes with some unknowns each, coupled to their neighbours; the last process may have more.
inline Box box(const std::string& type, PetscInt side = 9, VecType vectors = VECSTANDARD, PetscInt unknowns = 3) {
  Grid dm;
  Matrix A;
  PETSC_OK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, side,
                        side, side, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, unknowns, 1, nullptr, nullptr, nullptr,
                        dm.out()));
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMSetVecType(dm, vectors));
  PETSC_OK(DMSetUp(dm));
  PETSC_OK(DMCreateMatrix(dm, A.out()));
  DMDALocalInfo info;
  PETSC_OK(DMDAGetLocalInfo(dm, &info));
  const auto insert = [&](MatStencil from, MatStencil to, double diagonal) {
    for (int c = 0; c < unknowns; ++c)
      for (int d = 0; d < unknowns; ++d) {
        from.c = c;
        to.c = d;
        const PetscScalar v = c == d ? diagonal : 0.1 * diagonal;
        PETSC_OK(MatSetValuesStencil(A, 1, &from, 1, &to, &v, INSERT_VALUES));
      }
  };
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const MatStencil here{k, j, i, 0};
        insert(here, here, 6.1);
        for (const auto [dk, dj, di] :
             {std::array<PetscInt, 3>{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}) {
          const MatStencil there{k + dk, j + dj, i + di, 0};
          const bool inside =
              there.k >= 0 && there.k < side && there.j >= 0 && there.j < side && there.i >= 0 && there.i < side;
          if (inside) insert(here, there, -1);
        }
      }
  assemble(A);
  return {std::move(dm), std::move(A)};
}

/// A Krylov method with the options, which all begin with -solver_.
struct Solve {
  Solver ksp;

  Solve(Mat A, const std::string& options, DM dm = nullptr) {
    PETSC_OK(PetscOptionsInsertString(nullptr, ("-solver_ksp_type cg -solver_ksp_rtol 1e-8 " + options).c_str()));
    PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
    PETSC_OK(KSPSetOperators(ksp, A, A));
    if (dm) PETSC_OK(PCSetDM(preconditioner(), dm));
    PETSC_OK(KSPSetFromOptions(ksp));
  }
  PC preconditioner() const {
    PC pc;
    PETSC_OK(KSPGetPC(ksp, &pc));
    return pc;
  }
  /// Iterations; less than none where it did not converge.
  PetscInt run(Mat A, bool device = false) const {
    const auto x = on_side(right_vector(A, 31), device), b = on_side(left_vector(A, 32), device);
    PetscInt iterations;
    KSPConvergedReason reason;
    PETSC_OK(KSPSolve(ksp, b, x));
    PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
    PETSC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
    return iterations;
  }
};

inline const std::string gamg = "-solver_pc_type gamg -solver_pc_gamg_coarse_eq_limit 10 -solver_pc_gamg_threshold 0 ";

struct MultigridTest : testing::Test {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};

}  // namespace petsc_test
