// Nonlinear problems: Jacobians by finite differences and colouring on our type, on grids of DMDA.
#include "compare.hpp"

#include <petscdmda.h>
#include <petscsnes.h>

namespace {

using namespace petsc_test;

using NonlinearSolver = Handle<SNES, SNESDestroy>;

/// Two coupled fields with a cubic term, 5-point stencil.
PetscErrorCode residual(DMDALocalInfo* info, void* fields, void* result, void*) {
  auto** u = static_cast<PetscScalar(**)[2]>(fields);
  auto** f = static_cast<PetscScalar(**)[2]>(result);
  for (PetscInt j = info->ys; j < info->ys + info->ym; ++j)
    for (PetscInt i = info->xs; i < info->xs + info->xm; ++i)
      for (int k = 0; k < 2; ++k) {
        const bool inside = i > 0 && j > 0 && i + 1 < info->mx && j + 1 < info->my;
        const PetscScalar around =
            inside ? u[j][i - 1][k] + u[j][i + 1][k] + u[j - 1][i][k] + u[j + 1][i][k] : PetscScalar(0);
        const PetscScalar other = u[j][i][1 - k], mine = u[j][i][k];
        f[j][i][k] = inside ? PetscScalar(4) * mine - around + PetscReal(0.1) * mine * mine * other - PetscReal(0.5)
                            : mine - PetscReal(k);
      }
  return PETSC_SUCCESS;
}

struct Answer {
  PetscInt iterations = -1, linear = -1;
  PetscReal norm = 0;
  std::string type;
};

struct OptionsForNow {
  explicit OptionsForNow(const std::string& options) { PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str())); }
  ~OptionsForNow() { (void)PetscOptionsClear(nullptr); }
};

PetscErrorCode solve_on(const std::string& type, const std::string& options, Answer* a) {
  const OptionsForNow now(options);
  Grid dm;
  NonlinearSolver snes;
  PETSC_OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE,
                        PETSC_DECIDE, 2, 1, nullptr, nullptr, dm.out()));
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMSetUp(dm));
  PETSC_OK(SNESCreate(PETSC_COMM_WORLD, snes.out()));
  PETSC_OK(SNESSetDM(snes, dm));
#if PETSC_VERSION_GE(3, 23, 0)
  PETSC_OK(DMDASNESSetFunctionLocal(dm, INSERT_VALUES, reinterpret_cast<DMDASNESFunctionFn*>(residual), nullptr));
#else
  PETSC_OK(DMDASNESSetFunctionLocal(dm, INSERT_VALUES, residual, nullptr));
#endif
  PETSC_OK(SNESSetFromOptions(snes));
  if (const PetscErrorCode code = SNESSolve(snes, nullptr, nullptr)) {
    *snes.in_place() = nullptr;  // lost: destroying it would need what the error left undone
    *dm.in_place() = nullptr;
    return code;
  }
  Vec x;
  Mat J;
  MatType name;
  PETSC_OK(SNESGetIterationNumber(snes, &a->iterations));
  PETSC_OK(SNESGetLinearSolveIterations(snes, &a->linear));
  PETSC_OK(SNESGetSolution(snes, &x));
  PETSC_OK(VecNorm(x, NORM_2, &a->norm));
  PETSC_OK(SNESGetJacobian(snes, nullptr, &J, nullptr, nullptr));
  PETSC_OK(MatGetType(J, &name));
  a->type = name;
  return PETSC_SUCCESS;
}

const char* const colourings[] = {
    "-snes_fd_color -pc_type pbjacobi",
    "-snes_fd_color -snes_fd_color_use_mat -pc_type pbjacobi",
    "-snes_fd_color -snes_fd_color_use_mat -mat_coloring_type sl -pc_type bjacobi",
    "-snes_fd_color -snes_fd_color_use_mat -mat_coloring_type greedy -pc_type bjacobi",
    "-snes_fd_color -snes_fd_color_use_mat -mat_coloring_type natural -pc_type jacobi",
    "-snes_fd -pc_type jacobi",
    "-snes_mf_operator -snes_fd_color -pc_type pbjacobi",
    "-snes_type newtontr -pc_type asm",
};

struct Colourings : testing::TestWithParam<const char*> {};

TEST_P(Colourings, GiveTheJacobianOfBaij) {
  Answer wanted, found;
  auto plain = catch_error([&] { return solve_on(MATBAIJ, GetParam(), &wanted); });

  const auto ours = catch_error([&] { return solve_on(tested_type(), GetParam(), &found); });

  // Baij has no natural colouring on several processes; aij has.
  if (plain.code && !ours.code) plain = catch_error([&] { return solve_on(MATAIJ, GetParam(), &wanted); });
  ASSERT_EQ(ours.code, plain.code) << ours.message;
  if (plain.code) return;
  EXPECT_EQ(found.iterations, wanted.iterations);
  EXPECT_LE(std::abs(found.linear - wanted.linear), 2);
  EXPECT_NEAR(found.norm, wanted.norm, 1e-6 * wanted.norm);
  const bool matrix_free = std::string(GetParam()).find("-snes_mf_operator") != std::string::npos;
  EXPECT_TRUE(matrix_free || found.type.find(tested_type()) != std::string::npos) << found.type;
}

INSTANTIATE_TEST_SUITE_P(All, Colourings, testing::ValuesIn(colourings),
                         [](const auto& param_info) { return "row" + std::to_string(param_info.index); });

}  // namespace
