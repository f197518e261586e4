// Jacobians by coloured finite differences, entry by entry beside those on aij: on grids of DMDA, by their colouring
// and by the matrix's, by every way of differencing, with vectors on the host and on a device.
#include <petscdmda.h>
#include <petscsnes.h>

#include "compare.hpp"
#include "device_tests.hpp"
#include "systems.hpp"

namespace {

using namespace petsc_test;

/// Two coupled fields, 5-point stencil; nothing linear, so that every entry depends on the state.
PetscErrorCode residual(SNES, Vec x, Vec f, void* grid) {
  PetscFunctionBegin;
  const DM dm = static_cast<DM>(grid);
  DMDALocalInfo info;
  Vec local;
  PetscScalar ***u, ***r;
  PetscCall(DMDAGetLocalInfo(dm, &info));
  PetscCall(DMGetLocalVector(dm, &local));
  PetscCall(DMGlobalToLocalBegin(dm, x, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(dm, x, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayDOFRead(dm, local, static_cast<void*>(&u)));
  PetscCall(DMDAVecGetArrayDOF(dm, f, static_cast<void*>(&r)));
  for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
    for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
      for (PetscInt k = 0; k < 2; ++k) {
        const PetscScalar mine = u[j][i][k], other = u[j][i][1 - k];
        PetscScalar sum = PetscScalar(3) * mine * mine + mine * other + PetscScalar(k);
        if (i > 0) sum -= u[j][i - 1][k] * mine;
        if (i + 1 < info.mx) sum -= u[j][i + 1][k] * other;
        if (j > 0) sum -= u[j - 1][i][1 - k] * mine;
        if (j + 1 < info.my) sum += u[j + 1][i][k] * u[j + 1][i][k];
        r[j][i][k] = sum;
      }
  PetscCall(DMDAVecRestoreArrayDOF(dm, f, static_cast<void*>(&r)));
  PetscCall(DMDAVecRestoreArrayDOFRead(dm, local, static_cast<void*>(&u)));
  PetscCall(DMRestoreLocalVector(dm, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Way {
  const char *name, *options;
};
const Way ways[] = {
    {"of_the_grid", ""},
    {"of_the_matrix", "-snes_fd_color_use_mat"},
    {"natural", "-snes_fd_color_use_mat -mat_coloring_type natural"},
    {"one_step_for_all", "-mat_fd_type wp"},
    {"a_step_each", "-mat_fd_type ds"},
    {"a_step_each_of_the_matrix", "-mat_fd_type ds -snes_fd_color_use_mat"},
};

struct Case {
  Way way;
  const char* vectors;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.way.name << " " << c.vectors; }

/// As an AIJ, at a state that depends on the place.
Matrix jacobian(const std::string& type, const Case& c) {
  using NonlinearSolver = Handle<SNES, SNESDestroy>;
  Grid dm;
  NonlinearSolver snes;
  Matrix J, aij;
  Vector x;
  PETSC_OK(PetscOptionsInsertString(nullptr, (std::string("-snes_fd_color ") + c.way.options).c_str()));
  PETSC_OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 7, 6, PETSC_DECIDE,
                        PETSC_DECIDE, 2, 1, nullptr, nullptr, dm.out()));
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMSetVecType(dm, c.vectors));
  PETSC_OK(DMSetUp(dm));
  PETSC_OK(SNESCreate(PETSC_COMM_WORLD, snes.out()));
  PETSC_OK(SNESSetDM(snes, dm));
  PETSC_OK(SNESSetFunction(snes, nullptr, residual, static_cast<DM>(dm)));
  PETSC_OK(SNESSetFromOptions(snes));
  PETSC_OK(DMCreateMatrix(dm, J.out()));
  PETSC_OK(DMCreateGlobalVector(dm, x.out()));
  fill(x, 7);
  PETSC_OK(SNESSetSolution(snes, x));
  PETSC_OK(SNESSetUp(snes));
  // Twice: the second finds the vectors of the first.
  for (int k = 0; k < 2; ++k) PETSC_OK(SNESComputeJacobianDefaultColor(snes, x, J, J, nullptr));
  PETSC_OK(PetscOptionsClear(nullptr));
  PETSC_OK(MatConvert(J, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));
  return aij;
}

double largest_difference(Mat a, Mat b) {
  Matrix difference;
  PetscReal norm, size;
  PETSC_OK(MatDuplicate(a, MAT_COPY_VALUES, difference.out()));
  PETSC_OK(MatAXPY(difference, -1.0, b, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatNorm(difference, NORM_INFINITY, &norm));
  PETSC_OK(MatNorm(b, NORM_INFINITY, &size));
  return norm / size;
}

struct ColouredJacobians : testing::TestWithParam<Case> {
  void SetUp() override {
    if (std::string(GetParam().vectors) == "cuda") SKIP_WITHOUT_DEVICE();
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};

TEST_P(ColouredJacobians, AreThoseOfAij) {
  const Case on_host{GetParam().way, VECSTANDARD};
  const auto wanted = jacobian(MATAIJ, on_host);

  const auto found = jacobian(tested_type(), GetParam());

  EXPECT_LE(largest_difference(found, wanted), 1e-6);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* vectors : {VECSTANDARD, "cuda"})
    for (const Way& way : ways) all.push_back({way, vectors});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ColouredJacobians, testing::ValuesIn(cases()), [](const auto& param_info) {
  return std::string(param_info.param.way.name) + "_" + param_info.param.vectors;
});

/// Colourings that PETSc makes of AIJ: of ours above it the same.
struct Colourings : testing::TestWithParam<const char*> {
  void SetUp() override {
    if (tested_is_compound() && !tested_is_of_scalars()) GTEST_SKIP() << "for types above AIJ";
  }
};

/// This process's colours.
std::vector<int> colours_of(Mat A, const char* type) {
  MatColoring coloring;
  ISColoring colors;
  PetscInt n, of_all;
  const ISColoringValue* color;
  PETSC_OK(MatColoringCreate(A, &coloring));
  PETSC_OK(MatColoringSetType(coloring, type));
  PETSC_OK(MatColoringSetDistance(coloring, 1));
  PETSC_OK(MatColoringSetWeightType(coloring, MAT_COLORING_WEIGHT_LEXICAL));
  PETSC_OK(MatColoringApply(coloring, &colors));
  PETSC_OK(ISColoringGetColors(colors, &n, &of_all, &color));
  std::vector<int> mine(color, color + n);
  PETSC_OK(ISColoringDestroy(&colors));
  PETSC_OK(MatColoringDestroy(&coloring));
  return mine;
}

TEST_P(Colourings, AreThoseOfAij) {
  const auto A = spd(tested_type(), 3), aij = spd(MATAIJ, 3);
  PetscInt rows;
  PETSC_OK(MatGetLocalSize(A, &rows, nullptr));

  const auto wanted = colours_of(aij, GetParam());
  const auto found = colours_of(A, GetParam());

  EXPECT_EQ(wanted.size(), static_cast<std::size_t>(rows));
  EXPECT_EQ(found, wanted);
}

INSTANTIATE_TEST_SUITE_P(Types, Colourings, testing::Values("natural", "jp", "greedy"));

}  // namespace
