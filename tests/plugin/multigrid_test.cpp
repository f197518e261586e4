// Algebraic multigrid of matrices above AIJ, and other preconditioners made of products of matrices, beside plain aij.
#include <array>
#include <limits>

#include "calls.hpp"
#include "device.hpp"
#include "info.hpp"
#include "log_events.hpp"
#include "multigrid_systems.hpp"
#include "scalar_blocks.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

bool is_ours(Mat A) {
  PetscBool ours;
  PETSC_OK(
      PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &ours, MATSEQAIJCOMPOUND, MATMPIAIJCOMPOUND, ""));
  return ours;
}

/// One above the coarsest: its prolongator and the operator that smooths.
struct Level {
  Mat P, A;
};
std::vector<Level> levels_of(PC pc) {
  PetscInt count;
  std::vector<Level> levels;
  PETSC_OK(PCMGGetLevels(pc, &count));
  for (PetscInt k = 1; k < count; ++k) {
    KSP smoother;
    Level level;
    PETSC_OK(PCMGGetInterpolation(pc, k, &level.P));
    PETSC_OK(PCMGGetSmoother(pc, k, &smoother));
    PETSC_OK(KSPGetOperators(smoother, &level.A, nullptr));
    levels.push_back(level);
  }
  return levels;
}

struct AijMultigrid : MultigridTest {};

TEST_F(AijMultigrid, TakesAsManyIterationsAndMultipliesInBlocksOnAllLevels) {
  const auto ours = box(MATAIJCOMPOUND), aij = box(MATAIJ);
  const Solve solve(ours.A, gamg);
  const auto iterations = solve.run(ours.A), of_aij = Solve(aij.A, gamg).run(aij.A);

  EXPECT_LE(std::abs(iterations - of_aij), 1);

  const auto levels = levels_of(solve.preconditioner());
  ASSERT_FALSE(levels.empty());
  for (const auto& [P, A] : levels) {
    EXPECT_TRUE(is_ours(P));
    EXPECT_TRUE(is_ours(A));
    PetscInt rows, cols;
    PETSC_OK(MatGetBlockSizes(P, &rows, &cols));
    EXPECT_EQ(rows, 3);
    EXPECT_EQ(cols, 3);
    EXPECT_GT(info_of(P).products, 0);
    EXPECT_GT(info_of(A).products, 0);
  }
}

/// Whether the view says that full blocks of this size are packed.
testing::AssertionResult packs(Mat A, Blocks block) {
  const auto text = view_of("multigrid_test", A);
  const auto line = "compound blocks: full ones of " + text_of(block) + " (the matrix's block sizes)";
  if (text.find(line) != std::string::npos && sum_over_ranks(info_of(A).products) > 0)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not '" << line << "', or no products of ours:\n" << text;
}

TEST_F(AijMultigrid, WithRigidBodyModesPacksProlongatorsOf3x6AndLevelsOf6) {
  const auto ours = box(MATAIJCOMPOUND), aij = box(MATAIJ);
  for (const Box* b : {&ours, &aij}) b->tell_rigid_body_modes();
  const auto options = gamg + "-solver_pc_gamg_coarse_eq_limit 40";
  const Solve solve(ours.A, options);
  const auto iterations = solve.run(ours.A), of_aij = Solve(aij.A, options).run(aij.A);

  EXPECT_LE(std::abs(iterations - of_aij), 1);

  const auto levels = levels_of(solve.preconditioner());
  ASSERT_GE(levels.size(), 2u);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    SCOPED_TRACE("level " + std::to_string(k + 1) + " of " + std::to_string(levels.size()));
    const int rows = k + 1 == levels.size() ? 3 : 6;
    EXPECT_TRUE(packs(levels[k].A, {rows, rows}));
    EXPECT_TRUE(packs(levels[k].P, {rows, 6}));
  }
}

TEST_F(AijMultigrid, TellsWhereItWasSetUp) {
  const auto ours = box(MATAIJCOMPOUND);
  const Solve solve(ours.A, gamg);
  solve.run(ours.A);

  const auto text = view_of("multigrid_test", solve.ksp);

  const bool on_host = text.find("Compound set-up: on the host: ") != std::string::npos;
  const bool by_level = text.find("Compound set-up of the finest level: ") != std::string::npos;
  EXPECT_TRUE(on_host || by_level) << text;
}

TEST_F(AijMultigrid, SaysOfNoCycleOnTheHostThatItRunsOnTheDevice) {
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_backend", "host"));
  const auto ours = box(MATAIJCOMPOUND);
  const Solve solve(ours.A, gamg);

  const auto told = info_during("multigrid_test", [&] { PETSC_OK(KSPSetUp(solve.ksp)); });

  EXPECT_EQ(told.find("The cycle runs on the device"), std::string::npos) << told;
}

TEST_F(AijMultigrid, NewValuesPackNoPatternAnew) {
  const auto ours = box(MATAIJCOMPOUND);
  const Solve solve(ours.A, gamg + "-solver_pc_gamg_reuse_interpolation true");
  const auto iterations = solve.run(ours.A);
  const auto packs = info_of(ours.A).pattern_packs;

  for (int n = 0; n < 3; ++n) {
    PETSC_OK(MatScale(ours.A, 2.0));
    PETSC_OK(KSPSetOperators(solve.ksp, ours.A, ours.A));
    EXPECT_LE(std::abs(solve.run(ours.A) - iterations), 1);
  }

  EXPECT_EQ(info_of(ours.A).pattern_packs, packs);
}

TEST_F(AijMultigrid, HasVectorsOfTheMatrixsTypeOnAllLevels) {
  const std::string wanted = size() > 1 ? VECMPI : VECSEQ;  // not what matrices have by themselves
  const auto ours = box(MATAIJCOMPOUND);
  PETSC_OK(MatSetVecType(ours.A, wanted.c_str()));
  const Solve solve(ours.A, gamg);

  solve.run(ours.A);

  for (const auto& [P, A] : levels_of(solve.preconditioner()))
    for (Mat m : {P, A}) {
      VecType type;
      PETSC_OK(MatGetVecType(m, &type));
      EXPECT_EQ(type, wanted);
    }
}

struct Method {
  const char* name;
  std::string options;
  bool with_dm = false;  ///< which makes the levels
};
void PrintTo(const Method& m, std::ostream* out) { *out << m.options; }

const Method methods[] = {
    {"gamg_with_pbjacobi", gamg + "-solver_mg_levels_pc_type pbjacobi"},
    {"gamg_with_sor", gamg + "-solver_mg_levels_ksp_type richardson -solver_mg_levels_pc_type sor"},
    {"fieldsplit_with_gamg",
     "-solver_pc_type fieldsplit -solver_pc_fieldsplit_type additive -solver_pc_fieldsplit_block_size 3 "
     "-solver_pc_fieldsplit_0_fields 0,1 -solver_pc_fieldsplit_1_fields 2 -solver_fieldsplit_0_pc_type gamg "
     "-solver_fieldsplit_1_pc_type gamg"},
    {"mg_with_galerkin", "-solver_pc_type mg -solver_pc_mg_levels 2 -solver_pc_mg_galerkin both", true},
};

struct AijPreconditioner : MultigridTest, testing::WithParamInterface<Method> {};

TEST_P(AijPreconditioner, TakesAsManyIterationsAsWithAij) {
  const auto ours = box(MATAIJCOMPOUND), aij = box(MATAIJ);
  const auto& [name, options, with_dm] = GetParam();
  const Solve solve(ours.A, options, with_dm ? DM(ours.dm) : nullptr),
      plain(aij.A, options, with_dm ? DM(aij.dm) : nullptr);

  const auto iterations = solve.run(ours.A), of_aij = plain.run(aij.A);

  EXPECT_LE(std::abs(iterations - of_aij), 1) << iterations << " and " << of_aij << " of aij";
  EXPECT_TRUE(all_ranks(info_of(ours.A).products > 0));
}

INSTANTIATE_TEST_SUITE_P(All, AijPreconditioner, testing::ValuesIn(methods),
                         [](const auto& p) { return std::string(p.param.name); });

TEST_F(MultigridTest, FieldsplitsPartsAreOfTheTypeAndMultiplyInBlocks) {
  const auto ours = box(MATAIJCOMPOUND);
  const Solve solve(ours.A, methods[2].options);
  PetscInt count;
  KSP* parts;

  solve.run(ours.A);

  PETSC_OK(PCFieldSplitGetSubKSP(solve.preconditioner(), &count, &parts));
  ASSERT_EQ(count, 2);
  for (PetscInt k = 0; k < count; ++k) {
    Mat A;
    PC pc;
    PETSC_OK(KSPGetOperators(parts[k], &A, nullptr));
    PETSC_OK(KSPGetPC(parts[k], &pc));
    EXPECT_TRUE(is_ours(A)) << k;
    for (const auto& [P, of_level] : levels_of(pc)) EXPECT_TRUE(is_ours(P) && is_ours(of_level)) << k;
  }
  PETSC_OK(PetscFree(parts));
}

TEST_F(MultigridTest, GalerkinLevelsOfAGridAreOfTheType) {
  const auto ours = box(MATAIJCOMPOUND);
  const Solve solve(ours.A, methods[3].options, ours.dm);
  KSP coarse;
  Mat A;

  solve.run(ours.A);

  PETSC_OK(PCMGGetSmoother(solve.preconditioner(), 0, &coarse));
  PETSC_OK(KSPGetOperators(coarse, &A, nullptr));
  EXPECT_TRUE(is_ours(A));
  EXPECT_NE(view_of("multigrid_test", solve.ksp).find("Coarse grid solver"), std::string::npos);  // PETSc's own words
}

/// How a program says that vectors lie on the device, without -vec_type: by its DM, or the matrix itself.
struct DeviceMultigrid : DeviceTest, testing::WithParamInterface<bool> {
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
  /// Enough nodes that products with the first prolongator are made on the device.
  static Box on_device() {
    auto b = box(MATAIJCOMPOUND, 14, GetParam() ? VECCUDA : VECSTANDARD);
    if (!GetParam()) PETSC_OK(MatSetVecType(b.A, VECCUDA));
    return b;
  }
};

#if PetscDefined(HAVE_CUDA)
TEST_P(DeviceMultigrid, TakesAsManyIterationsAsWithAijOnTheHost) {
  const auto ours = on_device(), aij = box(MATAIJ, 14);
  const Solve solve(ours.A, gamg), plain(aij.A, gamg);

  const auto told = info_during("multigrid_test", [&] { PETSC_OK(KSPSetUp(solve.ksp)); });
  const auto iterations = solve.run(ours.A, true), of_aij = plain.run(aij.A);

  EXPECT_LE(std::abs(iterations - of_aij), 1) << iterations << " and " << of_aij << " of aij";
  if (size() == 1) {
    EXPECT_NE(told.find("runs in blocks on the device"), std::string::npos) << told;
    const auto place =
        PetscDefined(USE_COMPLEX) ? "The set-up runs on the host" : "The set-up of level 0 runs on the device";
    EXPECT_NE(told.find(place), std::string::npos) << told;
  }
  for (const auto& [P, A] : levels_of(solve.preconditioner()))
    for (Mat m : {P, A}) {
      VecType type;
      PETSC_OK(MatGetVecType(m, &type));
      EXPECT_NE(std::string(type).find("cuda"), std::string::npos) << type;
      EXPECT_TRUE(all_ranks(info_of(m).stored_blocks == 0 || info_of(m).device_bytes > 0));
    }
}

/// At most two a cycle each way: PETSc's LU has the coarsest right-hand side and solution on the host, and may ask for
/// each once more. A level that worked there would add its own, and residuals, at each step of its smoother.
TEST_P(DeviceMultigrid, CopiesVectorsOfTheCoarsestSolveAlone) {
  if (size() > 1) GTEST_SKIP() << "skipped: of several processes multigrid_cycle_test counts copies";
  constexpr int cycles = 8, most_a_cycle = 2;
  const auto ours = on_device();
  const Solve solve(ours.A, gamg + "-solver_ksp_type richardson -solver_ksp_norm_type none");  // asks for no numbers
  const auto events_of = [&](PetscInt iterations) {
    PETSC_OK(KSPSetTolerances(solve.ksp, 1e-30, 1e-300, PETSC_DEFAULT, iterations));
    return added_to("KSPSolve", [&] { solve.run(ours.A, true); });
  };
  events_of(2);

  const auto few = events_of(2), many = events_of(2 + cycles);

  EXPECT_GT(many.GpuFlops, few.GpuFlops);
  EXPECT_LE(many.CpuToGpuCount - few.CpuToGpuCount, cycles * most_a_cycle);
  EXPECT_LE(many.GpuToCpuCount - few.GpuToCpuCount, cycles * most_a_cycle);
}

/// The bits of matrices and prolongators, as products show them.
std::vector<PetscScalar> bits_of(PC pc) {
  std::vector<PetscScalar> bits;
  for (const auto& [P, A] : levels_of(pc))
    for (Mat m : {P, A}) {
      const auto x = right_vector(m, 3), y = left_vector(m, 4);
      const PetscScalar* values;
      PetscInt n;
      PETSC_OK(MatMult(m, x, y));
      PETSC_OK(VecGetLocalSize(y, &n));
      PETSC_OK(VecGetArrayRead(y, &values));
      bits.insert(bits.end(), values, values + n);
      PETSC_OK(VecRestoreArrayRead(y, &values));
    }
  return bits;
}

TEST_P(DeviceMultigrid, SetsUpTheSameEachTime) {
  if (size() > 1) GTEST_SKIP() << "skipped: several processes set up on the host";
  const int times = whole_tier() ? 100 : 20;
  const auto ours = on_device();
  std::vector<PetscScalar> first;
  for (int k = 0; k < times; ++k) {
    const Solve solve(ours.A, gamg);
    PETSC_OK(KSPSetUp(solve.ksp));
    const auto bits = bits_of(solve.preconditioner());
    if (k == 0) first = bits;
    ASSERT_EQ(bits, first);
  }
}

/// Where the device cannot take a step the host does, and the answer is the same.
TEST_P(DeviceMultigrid, SetsUpOnTheHostWhereverMemoryRunsOut) {
  if (size() > 1) GTEST_SKIP() << "skipped: several processes set up on the host";
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "skipped: complex scalars are set up on the host";
  const auto ours = on_device();
  const auto without_failure = Solve(ours.A, gamg).run(ours.A, true);
  int on_the_host = 0;
  for (int n = 1; n < 200; n += n < 60 ? 1 : 7) {
    SCOPED_TRACE("allocation " + std::to_string(n) + " fails");
    const auto fails = failing_allocation(n);
    const auto own = on_device();
    const Solve solve(own.A, gamg);
    EXPECT_LE(std::abs(solve.run(own.A, true) - without_failure), 1);
    on_the_host += view_of("multigrid_test", solve.ksp).find("no memory left") != std::string::npos;
  }
  EXPECT_GT(on_the_host, 3) << "no set-up came to the host";
}

/// With what options a level is set up where; empty: on the device.
struct SetUpCase {
  const char *name, *options, *why_not;
};
constexpr SetUpCase set_up_cases[] = {
    {"by_default", "", ""},
    {"unfiltered", "-solver_pc_gamg_threshold -1", ""},
    {"filtered", "-solver_pc_gamg_threshold 0.02", ""},
    {"unsmoothed", "-solver_pc_gamg_agg_nsmooths 0", ""},
    {"smoothed_twice", "-solver_pc_gamg_agg_nsmooths 2", ""},
    {"of_distance_1", "-solver_pc_gamg_aggressive_coarsening 0", ""},
    {"of_distance_2_twice", "-solver_pc_gamg_aggressive_coarsening 2", ""},
    {"of_misk", "-solver_pc_gamg_aggressive_square_graph 0", ""},
    {"by_cg", "-solver_pc_gamg_esteig_ksp_type cg", ""},
    {"of_one_component", "-solver_pc_gamg_mat_coarsen_strength_index 0", ""},
    {"of_misk_3", "-solver_pc_gamg_aggressive_square_graph 0 -solver_pc_gamg_aggressive_mis_k 3", "distance of roots"},
    {"by_degree", "-solver_pc_gamg_mis_k_minimum_degree_ordering", "-pc_gamg_mis_k_minimum_degree_ordering"},
    {"of_less_memory", "-solver_pc_gamg_low_memory_threshold_filter", "-pc_gamg_low_memory_threshold_filter"},
    {"of_edges", "-solver_pc_gamg_mat_coarsen_type hem", "-mat_coarsen_type"},
    {"of_asm", "-solver_pc_gamg_asm_use_agg -solver_mg_levels_sub_pc_type jacobi", "-pc_gamg_asm_use_agg"},
    {"classical", "-solver_pc_gamg_type classical", "it aggregates no nodes"},
    {"asked_to_be_on_the_host", "-solver_pc_gamg_compound_set_up host", "-pc_gamg_compound_set_up host"}};

struct MultigridSetUp : DeviceTest, testing::WithParamInterface<SetUpCase> {};

TEST_P(MultigridSetUp, RunsOnTheDeviceOrTellsWhyNot) {
  if (size() > 1) GTEST_SKIP() << "skipped: several processes set up on the host";
  const auto ours = box(MATAIJCOMPOUND, 16, VECCUDA), aij = box(MATAIJ, 16);
  for (const Box* b : {&ours, &aij}) b->tell_rigid_body_modes();
  const auto options = "-solver_pc_type gamg -solver_pc_gamg_coarse_eq_limit 10 " + std::string(GetParam().options);
  // Complex scalars are set up on the host whatever the options.
  const std::string why_not = PetscDefined(USE_COMPLEX) ? "Compound set-up: on the host" : GetParam().why_not;
  const Solve solve(ours.A, options), plain(aij.A, options);

  const auto iterations = solve.run(ours.A, true), of_aij = plain.run(aij.A);
  const auto text = view_of("multigrid_test", solve.ksp);

  EXPECT_LE(std::abs(iterations - of_aij), 1 + of_aij / 8) << iterations << " and " << of_aij << " of aij";
  const bool on_device = text.find("Compound set-up of the finest level: on the device") != std::string::npos;
  EXPECT_EQ(on_device, why_not.empty()) << text;
  EXPECT_NE(text.find(why_not.empty() ? "on the device" : why_not), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Options, MultigridSetUp, testing::ValuesIn(set_up_cases),
                         [](const auto& p) { return p.param.name; });

struct MultigridOfBlocks : DeviceTest, testing::WithParamInterface<int> {};

TEST_P(MultigridOfBlocks, IsSetUpOnTheDevice) {
  if (size() > 1) GTEST_SKIP() << "skipped: several processes set up on the host";
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "skipped: complex scalars are set up on the host";
  const auto ours = box(MATAIJCOMPOUND, 20, VECCUDA, GetParam()), aij = box(MATAIJ, 20, VECSTANDARD, GetParam());
  const Solve solve(ours.A, gamg), plain(aij.A, gamg);

  const auto iterations = solve.run(ours.A, true), of_aij = plain.run(aij.A);

  EXPECT_LE(std::abs(iterations - of_aij), 1 + of_aij / 8) << iterations << " and " << of_aij << " of aij";
  const auto text = view_of("multigrid_test", solve.ksp);
  EXPECT_NE(text.find("finest level: on the device"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Sizes, MultigridOfBlocks, testing::Values(1, 2, 4, 5, 6));

/// What is wrong with a matrix.
struct BadCase {
  const char* name;
  void (*spoil)(const Box&);
};

void set_row(Mat A, PetscInt row, PetscScalar off_diagonal, PetscScalar diagonal) {
  PetscInt first, end;
  PETSC_OK(MatGetOwnershipRange(A, &first, &end));
  if (row >= first && row < end) {
    PetscInt n;
    const PetscInt* columns;
    PETSC_OK(MatGetRow(A, row, &n, &columns, nullptr));
    const std::vector<PetscInt> all(columns, columns + n);
    PETSC_OK(MatRestoreRow(A, row, &n, &columns, nullptr));
    for (const PetscInt column : all)
      PETSC_OK(MatSetValue(A, row, column, column == row ? diagonal : off_diagonal, INSERT_VALUES));
  }
  PETSC_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

constexpr PetscReal not_a_number = std::numeric_limits<PetscReal>::quiet_NaN();
constexpr BadCase bad_cases[] = {
    {"a_value_is_not_a_number", [](const Box& b) { set_row(b.A, 100, 1, not_a_number); }},
    {"a_value_is_infinite", [](const Box& b) { set_row(b.A, 100, std::numeric_limits<PetscReal>::infinity(), 1); }},
    {"a_diagonal_is_zero", [](const Box& b) { set_row(b.A, 100, 0.1, 0); }},
    {"a_row_is_zero", [](const Box& b) { set_row(b.A, 100, 0, 0); }},
    {"all_is_zero", [](const Box& b) { PETSC_OK(MatZeroEntries(b.A)); }},
    {"a_mode_is_not_a_number", [](const Box& b) {
       MatNullSpace modes;
       const Vec* vectors;
       PetscInt n;
       PETSC_OK(MatGetNearNullSpace(b.A, &modes));
       PETSC_OK(MatNullSpaceGetVecs(modes, nullptr, &n, &vectors));
       PETSC_OK(VecLockReadPop(vectors[1]));
       PETSC_OK(VecSet(vectors[1], not_a_number));
       PETSC_OK(VecLockReadPush(vectors[1]));
     }}};

struct Outcome {
  PetscErrorCode code = PETSC_SUCCESS;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
};
Outcome outcome_of(Mat A, const std::string& options) {
  Outcome o;
  o.code = catch_error([&] {
             PetscFunctionBegin;
             const Solve solve(A, options);
             Vec x, b;
             PetscCall(MatCreateVecs(A, &x, &b));
             PetscCall(VecSet(b, 1.0));
             PetscCall(KSPSolve(solve.ksp, b, x));
             PetscCall(KSPGetConvergedReason(solve.ksp, &o.reason));
             PetscCall(VecDestroy(&x));
             PetscCall(VecDestroy(&b));
             PetscFunctionReturn(PETSC_SUCCESS);
           }).code;
  return o;
}

struct MultigridOfBadInput : DeviceTest, testing::WithParamInterface<BadCase> {};

/// The same error, or a solve that fails, or one that does not: as it is for aij on the host.
TEST_P(MultigridOfBadInput, EndsAsForAij) {
  const auto ours = box(MATAIJCOMPOUND, 14, VECCUDA), aij = box(MATAIJ, 14);
  for (const Box* b : {&ours, &aij}) {
    b->tell_rigid_body_modes();
    GetParam().spoil(*b);
  }
  const std::string options = gamg + "-solver_ksp_max_it 30";
  const auto found = outcome_of(ours.A, options), wanted = outcome_of(aij.A, options);
  EXPECT_EQ(found.code, wanted.code);
  EXPECT_EQ(found.reason > 0, wanted.reason > 0)
      << KSPConvergedReasons[found.reason] << " and " << KSPConvergedReasons[wanted.reason] << " of aij";
}

INSTANTIATE_TEST_SUITE_P(Faults, MultigridOfBadInput, testing::ValuesIn(bad_cases),
                         [](const auto& p) { return p.param.name; });

TEST_F(MultigridTest, AskedForOnADeviceWhereItCannotBeIsAnError) {
  const auto ours = box(MATAIJCOMPOUND, 14);
  const Solve solve(ours.A, gamg + "-solver_pc_gamg_compound_set_up device");
  const auto found = catch_error([&] { return KSPSetUp(solve.ksp); });
  EXPECT_EQ(found.code, PETSC_ERR_SUP) << found.message;
  EXPECT_NE(found.message.find("-pc_gamg_compound_set_up device"), std::string::npos) << found.message;
}

INSTANTIATE_TEST_SUITE_P(Vectors, DeviceMultigrid, testing::Bool(),
                         [](const auto& p) { return p.param ? "of_the_dm" : "of_the_matrix"; });
#endif

}  // namespace
