// Every preconditioner of PETSc: what baij can use works on ours alike, what baij cannot ends in PETSc's error or,
// better, in an answer; never in a crash.
#include "systems.hpp"

#include <cmath>

namespace {

using namespace petsc_test;

enum class Floor {
  baij,  ///< as many iterations as on baij, or baij's error
  aij    ///< baij cannot: as many iterations as on aij
};

struct Preconditioner {
  const char *name, *options;
  Floor floor = Floor::baij;
};
void PrintTo(const Preconditioner& p, std::ostream* out) { *out << p.name; }

const Preconditioner preconditioners[] = {
    {"none", "none"},
    {"jacobi", "jacobi"},
    {"jacobi_rowmax", "jacobi -solver_pc_jacobi_type rowmax"},
    {"pbjacobi", "pbjacobi"},
    {"vpbjacobi", "vpbjacobi"},
    {"sor", "sor"},
    {"eisenstat", "eisenstat"},
    {"bjacobi", "bjacobi"},
    {"bjacobi_ilu1", "bjacobi -solver_sub_pc_type ilu -solver_sub_pc_factor_levels 1"},
    {"bjacobi_icc", "bjacobi -solver_sub_pc_type icc"},
    {"bjacobi_lu", "bjacobi -solver_sub_pc_type lu"},
    {"bjacobi_cholesky", "bjacobi -solver_sub_pc_type cholesky"},
    {"bjacobi_sor", "bjacobi -solver_sub_pc_type sor"},
    {"bjacobi_gmres", "bjacobi -solver_sub_ksp_type gmres -solver_sub_ksp_max_it 3"},
    {"bjacobi_5_blocks", "bjacobi -solver_pc_bjacobi_blocks 5"},
    {"asm", "asm"},
    {"asm_overlap2", "asm -solver_pc_asm_overlap 2"},
    {"asm_basic_lu", "asm -solver_pc_asm_type basic -solver_sub_pc_type lu"},
    {"asm_6_blocks", "asm -solver_pc_asm_blocks 6"},
    {"asm_gmres", "asm -solver_sub_ksp_type gmres -solver_sub_ksp_max_it 3"},
    {"gasm", "gasm"},
    {"ilu", "ilu"},
    {"ilu2_rcm", "ilu -solver_pc_factor_levels 2 -solver_pc_factor_mat_ordering_type rcm"},
    {"icc", "icc"},
    {"icc1", "icc -solver_pc_factor_levels 1"},
    {"lu", "lu"},
    {"lu_nd", "lu -solver_pc_factor_mat_ordering_type nd"},
    {"lu_petsc", "lu -solver_pc_factor_mat_solver_type petsc"},
    {"lu_mumps", "lu -solver_pc_factor_mat_solver_type mumps"},
    {"lu_superlu", "lu -solver_pc_factor_mat_solver_type superlu"},
    {"lu_superlu_dist", "lu -solver_pc_factor_mat_solver_type superlu_dist"},
    {"lu_umfpack", "lu -solver_pc_factor_mat_solver_type umfpack"},
    {"lu_strumpack", "lu -solver_pc_factor_mat_solver_type strumpack"},
    {"lu_pastix", "lu -solver_pc_factor_mat_solver_type pastix"},
    {"cholesky", "cholesky"},
    {"cholesky_petsc", "cholesky -solver_pc_factor_mat_solver_type petsc"},
    {"cholesky_mumps", "cholesky -solver_pc_factor_mat_solver_type mumps"},
    {"cholesky_cholmod", "cholesky -solver_pc_factor_mat_solver_type cholmod"},
    {"qr", "qr"},
    {"ksp", "ksp -solver_ksp_ksp_max_it 3"},
    {"composite", "composite -solver_pc_composite_pcs jacobi,sor"},
    {"redundant", "redundant"},
    {"telescope", "telescope -solver_telescope_pc_type jacobi"},
    {"redistribute", "redistribute"},
    {"mat", "mat"},
    {"svd", "svd"},
    {"kaczmarz", "kaczmarz"},
    {"cp", "cp"},
    {"mg", "mg"},
    {"hmg", "hmg"},
    {"ml", "ml"},
    {"hypre", "hypre"},
    {"bddc", "bddc"},
    {"tfs", "tfs"},
    {"spai", "spai"},
    {"fieldsplit", "fieldsplit -solver_pc_fieldsplit_block_size 3", Floor::aij},
    {"fieldsplit_multiplicative",
     "fieldsplit -solver_pc_fieldsplit_block_size 3 -solver_pc_fieldsplit_type multiplicative", Floor::aij},
    {"fieldsplit_schur",
     "fieldsplit -solver_pc_fieldsplit_block_size 3 -solver_pc_fieldsplit_type schur "
     "-solver_pc_fieldsplit_0_fields 0,1 -solver_pc_fieldsplit_1_fields 2 -solver_fieldsplit_0_pc_type bjacobi "
     "-solver_fieldsplit_1_pc_type jacobi",
     Floor::aij},
};

struct Preconditioners : testing::TestWithParam<Preconditioner> {};

struct Outcome {
  Solved solved;
  caught error;
};

Outcome outcome_on(const std::string& type, const Preconditioner& p) {
  Outcome o;
  const auto A = spd(type, 3);
  const auto options = "-solver_ksp_type gmres -solver_pc_type " + std::string(p.options);
  o.error = catch_error([&] { return try_to_solve(A, A, options, &o.solved); });
  return o;
}

TEST_P(Preconditioners, WorkAsOnBaijOrBetter) {
  const auto& p = GetParam();
  const auto wanted = outcome_on(p.floor == Floor::baij ? parent_type() : std::string(MATAIJ), p);

  const auto found = outcome_on(p.floor == Floor::baij || tested_is_compound() ? tested_type() : MATAIJ, p);

  EXPECT_EQ(found.error.code, wanted.error.code) << found.error.message << "\nwanted: " << wanted.error.message;
  if (wanted.error.code) return;
  EXPECT_LE(std::abs(found.solved.iterations - wanted.solved.iterations), 1);
  EXPECT_LE(found.solved.residual, std::max(1e-8, 2 * wanted.solved.residual));
}

INSTANTIATE_TEST_SUITE_P(All, Preconditioners, testing::ValuesIn(preconditioners),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

/// What the preconditioner gets beside a compound operator.
struct Split : testing::TestWithParam<const char*> {};

TEST_P(Split, MultigridOnAnAijCopyTakesAsManyIterationsAsOnAij) {
  const auto A = spd(tested_type(), 3);
  Matrix aij;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, aij.out()));
  const auto options = "-solver_ksp_type cg -solver_pc_type " + std::string(GetParam());
  Solved wanted, found;
  const auto without = catch_error([&] { return try_to_solve(aij, aij, options, &wanted); });
  if (without.code) GTEST_SKIP() << "not in this PETSc: " << without.message;

  PETSC_OK(try_to_solve(A, aij, options, &found));

  EXPECT_LE(std::abs(found.iterations - wanted.iterations), 1);
  EXPECT_LE(found.residual, 1e-8);
  EXPECT_TRUE(counts_as_ours(A));
}

INSTANTIATE_TEST_SUITE_P(Multigrid, Split, testing::Values("gamg", "ml", "hypre"),
                         [](const auto& param_info) { return std::string(param_info.param); });

struct AlgebraicMultigrid : testing::TestWithParam<const char*> {};

TEST_P(AlgebraicMultigrid, OnTheCompoundMatrixAloneNamesTheWayOut) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "multigrid works (aij_test.cpp)";
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto A = spd(tested_type(), 3);
  Solved solved;

  const auto options = "-solver_pc_type " + std::string(GetParam());
  const auto found = catch_error([&] { return try_to_solve(A, A, options, &solved); });
  if (found.code == PETSC_ERR_ARG_UNKNOWN_TYPE) GTEST_SKIP() << "not in this PETSc: " << found.message;

  EXPECT_TRUE(found.code == PETSC_ERR_SUP || found.code == PETSC_ERR_ARG_WRONG) << found.code;
  EXPECT_NE(found.message.find("-mat_type aijcompound"), std::string::npos) << found.message;
  EXPECT_NE(found.message.find("KSPSetOperators(ksp, A, P)"), std::string::npos) << found.message;
}

INSTANTIATE_TEST_SUITE_P(All, AlgebraicMultigrid, testing::Values("gamg", "ml"),
                         [](const auto& param_info) { return std::string(param_info.param); });

}  // namespace
