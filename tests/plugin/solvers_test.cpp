// Solvers, preconditioners and grids: what runs on baij runs on ours, with the same iteration counts.
#include "systems.hpp"

#include <petscdmda.h>
#include <petscdmplex.h>

#include <cmath>

namespace {

using namespace petsc_test;

struct Combination {
  const char *name, *options;
  bool one_process_only = false;
};
void PrintTo(const Combination& c, std::ostream* out) { *out << c.name; }

const Combination combinations[] = {
    {"cg_none", "-solver_ksp_type cg -solver_pc_type none"},
    {"cg_jacobi", "-solver_ksp_type cg -solver_pc_type jacobi"},
    {"cg_pbjacobi", "-solver_ksp_type cg -solver_pc_type pbjacobi"},
    {"bcgs_bjacobi", "-solver_ksp_type bcgs -solver_pc_type bjacobi"},
    {"bcgs_bjacobi_inner_gmres",
     "-solver_ksp_type fgmres -solver_pc_type bjacobi -solver_sub_ksp_type gmres -solver_sub_pc_type jacobi"},
    {"gmres_asm", "-solver_ksp_type gmres -solver_pc_type asm"},
    {"gmres_default", "-solver_ksp_type gmres"},
    {"cg_sor", "-solver_ksp_type cg -solver_pc_type sor -solver_pc_sor_local_symmetric"},
    {"cg_icc", "-solver_ksp_type cg -solver_pc_type icc", true},
    {"gmres_ilu", "-solver_ksp_type gmres -solver_pc_type ilu", true},
    {"lu", "-solver_ksp_type preonly -solver_pc_type lu -solver_pc_factor_mat_solver_type petsc", true},
    {"cholesky", "-solver_ksp_type preonly -solver_pc_type cholesky -solver_pc_factor_mat_solver_type petsc", true},
    {"cg_single_reduction", "-solver_ksp_type cg -solver_ksp_cg_single_reduction -solver_pc_type pbjacobi"},
    {"lsqr", "-solver_ksp_type lsqr -solver_pc_type none"},
};

struct Solvers : testing::TestWithParam<std::tuple<Combination, int>> {};

TEST_P(Solvers, TakeAsManyIterationsAsOnBaij) {
  const auto& [combination, bs] = GetParam();
  if (combination.one_process_only && size() > 1) GTEST_SKIP() << "factorizations of PETSc itself run on one process";
  const auto A = spd(parent_type(), bs), tested = spd(tested_type(), bs);

  const auto wanted = solve(A, combination.options), found = solve(tested, combination.options);

  EXPECT_LE(std::abs(found.iterations - wanted.iterations), std::max(2.0, 0.01 * wanted.iterations));
  EXPECT_LE(found.residual, std::max(1e-8, 2 * wanted.residual));
  EXPECT_TRUE(counts_as_ours(tested));
}

INSTANTIATE_TEST_SUITE_P(Baij, Solvers, testing::Combine(testing::ValuesIn(combinations), testing::Values(1, 3, 5)),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param).name) + "_bs" +
                                  std::to_string(std::get<1>(param_info.param));
                         });

TEST(SolverPackages, MumpsFactorsAsOnBaij) {
  PetscBool mumps = PETSC_FALSE;
  PETSC_OK(PetscHasExternalPackage("mumps", &mumps));
  if (!mumps) GTEST_SKIP() << "this PETSc has no MUMPS";
  const auto tested = spd(tested_type(), 3);

  const auto found =
      solve(tested, "-solver_ksp_type preonly -solver_pc_type lu -solver_pc_factor_mat_solver_type mumps");

  EXPECT_LE(found.residual, 1e-12);
}

TEST(Inherited, DiagonalsInverseNormsAndRowsAreBaijs) {
  const auto A = spd(parent_type(), 3), tested = spd(tested_type(), 3);
  const auto d = left_vector(A, 35), e = left_vector(A, 36);
  const PetscScalar *inverse_a, *inverse_b;
  PetscReal norm_a, norm_b;

  PETSC_OK(MatGetDiagonal(A, d));
  PETSC_OK(MatGetDiagonal(tested, e));
  PETSC_OK(MatInvertBlockDiagonal(A, &inverse_a));
  PETSC_OK(MatInvertBlockDiagonal(tested, &inverse_b));
  PETSC_OK(MatNorm(A, NORM_FROBENIUS, &norm_a));
  PETSC_OK(MatNorm(tested, NORM_FROBENIUS, &norm_b));

  PetscInt n;
  PETSC_OK(MatGetLocalSize(A, &n, nullptr));
  EXPECT_TRUE(same_bits(d, e));
  EXPECT_TRUE(all_ranks(std::equal(inverse_a, inverse_a + 3 * n, inverse_b)));
  EXPECT_EQ(norm_a, norm_b);
  EXPECT_TRUE(same_values(tested, A));
}

TEST(Inherited, SubmatricesMultiplyAsBaijs) {
  const auto A = spd(parent_type(), 3), tested = spd(tested_type(), 3);
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  Indices blocks;
  Matrix a, b;
  PETSC_OK(ISCreateStride(PETSC_COMM_WORLD, (last - first) / 2 / 3 * 3, first, 1, blocks.out()));

  PETSC_OK(MatCreateSubMatrix(A, blocks, blocks, MAT_INITIAL_MATRIX, a.out()));
  PETSC_OK(MatCreateSubMatrix(tested, blocks, blocks, MAT_INITIAL_MATRIX, b.out()));

  EXPECT_TRUE(same_mult(b, a, 37));
}

/// A grid's matrix of this type, filled with `stencil` couplings by MatSetValuesBlockedLocal.
Matrix of_grid(DM dm, const std::string& type) {
  Matrix A;
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMCreateMatrix(dm, A.out()));
  PetscInt bs;
  PETSC_OK(MatGetBlockSize(A, &bs));
  ISLocalToGlobalMapping map;
  PETSC_OK(MatGetLocalToGlobalMapping(A, &map, nullptr));
  PetscInt first, last;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  std::vector<PetscScalar> block(bs * bs);
  for (PetscInt row = first / bs; row < last / bs; ++row) {
    for (PetscInt k = 0; k < bs * bs; ++k) block[k] = value(38, row, k);
    PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &row, block.data(), ADD_VALUES));
  }
  assemble(A);
  return A;
}

TEST(Grids, DmdaMakesOurMatrix) {
  for (const int dimension : {2, 3}) {
    Grid dm;
    if (dimension == 2)
      PETSC_OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 7, 8, PETSC_DECIDE,
                            PETSC_DECIDE, 3, 1, nullptr, nullptr, dm.out()));
    else
      PETSC_OK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                            4, 5, 6, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 2, 1, nullptr, nullptr, nullptr,
                            dm.out()));
    PETSC_OK(DMSetUp(dm));

    const auto A = of_grid(dm, parent_type().c_str()), tested = of_grid(dm, tested_type());

    EXPECT_TRUE(is_tested_type(tested));
    EXPECT_TRUE(same_products(tested, A, 39));
  }
}

TEST(Grids, DmplexMakesOurMatrix) {
  Grid dm, spread_out;
  // By options: DMPlexCreateBoxMesh() changed its arguments between releases.
  PETSC_OK(PetscOptionsInsertString(nullptr,
                                    "-box_dm_plex_dim 3 -box_dm_plex_simplex 0 -box_dm_plex_box_faces 3,3,3 "
                                    "-box_dm_distribute 0"));
  PETSC_OK(DMCreate(PETSC_COMM_WORLD, dm.out()));
  PETSC_OK(DMSetType(dm, DMPLEX));
  PETSC_OK(DMSetOptionsPrefix(dm, "box_"));
  PETSC_OK(DMSetFromOptions(dm));
  PETSC_OK(PetscOptionsClear(nullptr));
  // Not the default: with 64-bit indices Debian's PTScotch never returns.
  PetscPartitioner partitioner;
  PETSC_OK(DMPlexGetPartitioner(dm, &partitioner));
  PETSC_OK(PetscPartitionerSetType(partitioner, PETSCPARTITIONERSIMPLE));
  PETSC_OK(DMPlexDistribute(dm, 0, nullptr, spread_out.out()));
  if (spread_out) dm = std::move(spread_out);
  PetscSection section;
  PetscInt start, end, chart_start, chart_end;
  PETSC_OK(DMPlexGetChart(dm, &chart_start, &chart_end));
  PETSC_OK(DMPlexGetDepthStratum(dm, 0, &start, &end));
  PETSC_OK(PetscSectionCreate(PETSC_COMM_WORLD, &section));
  PETSC_OK(PetscSectionSetChart(section, chart_start, chart_end));
  for (PetscInt v = start; v < end; ++v) PETSC_OK(PetscSectionSetDof(section, v, 3));
  PETSC_OK(PetscSectionSetUp(section));
  PETSC_OK(DMSetLocalSection(dm, section));
  PETSC_OK(PetscSectionDestroy(&section));

  const auto A = of_grid(dm, parent_type().c_str()), tested = of_grid(dm, tested_type());

  PetscInt bs;
  PETSC_OK(MatGetBlockSize(tested, &bs));
  EXPECT_EQ(bs, 3);
  EXPECT_TRUE(is_tested_type(tested));
  EXPECT_TRUE(same_products(tested, A, 40));
}

}  // namespace
