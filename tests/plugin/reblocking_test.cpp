// -mat_compound_block_size: packed blocks of another size than the matrix's.
#include <petscdmplex.h>

#include "info.hpp"
#include "operations.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

struct Sizes {
  int given;
  const char *packed, *layout;
};
void PrintTo(const Sizes& s, std::ostream* out) { *out << s.given << " to " << s.packed << " " << s.layout; }

const Sizes sizes[] = {{1, "2", "csr"},       {1, "3", "csr"},       {1, "3", "sell:4:16"},  {1, "8", "csr"},
                       {2, "4", "csr"},       {2, "6", "ellr"},      {2, "1", "csr"},        {6, "3", "csr"},
                       {6, "2", "sell:8"},    {3, "12", "csr"},      {3, "3", "csr"},        {1, "3x2", "csr"},
                       {1, "2x3", "sell:32"}, {1, "1x4", "hdia"},    {1, "7x1", "bellpack"}, {2, "4x6", "ccoo"},
                       {1, "find", "csr"},    {2, "find", "sell:8"}, {6, "3x2", "csr"},      {3, "1x3", "sell:8"}};

Variant variant_of(const Sizes& s) {
  const std::string type = std::string(s.layout) == "csr" ? pinned_type("csr") : tested_type();
  return {"", type, std::string("-mat_compound_block_size ") + s.packed, ""};
}

struct Reblocking : testing::TestWithParam<Sizes> {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  /// 13 block rows: nothing divides them.
  static Twins twins() {
    Random random(121);
    const auto shape = spread(GetParam().given, 13, 13);
    auto both = filled_twins(variant_of(GetParam()), {shape, random_blocks(random, shape, 0.3, true), 122});
    PETSC_OK(MatCompoundSetLayout(both.tested, GetParam().layout));
    return both;
  }
};

TEST_P(Reblocking, MultipliesAsBaij) {
  const auto both = twins();

  EXPECT_TRUE(same_products(both.tested, both.plain, 123));
  EXPECT_TRUE(still_twins(both, 124));
}

TEST_P(Reblocking, FollowsNewValuesAndPatterns) {
  for (const auto& operation : value_changes()) {
    SCOPED_TRACE(operation.name);
    auto both = twins();
    (void)product_of(both.tested, all_products().front(), 125);

    apply(operation, both, 126);

    EXPECT_TRUE(same_products(both.tested, both.plain, 127));
  }
}

TEST_P(Reblocking, MultipliesRectangularAndEmptyMatrices) {
  for (const auto& [rows, cols] : {std::pair{7, 10}, std::pair{10, 7}, std::pair{1, 5}, std::pair{0, 0}}) {
    const auto both = filled_twins(variant_of(GetParam()), random_problem(128, spread(GetParam().given, rows, cols)));

    EXPECT_TRUE(same_products(both.tested, both.plain, 129)) << rows << " x " << cols;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reblocking, testing::ValuesIn(sizes), [](const auto& param_info) {
  return "from" + std::to_string(param_info.param.given) + "_row" + std::to_string(param_info.index);
});

struct Told : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};

TEST_F(Told, NodesOfAPartlyClampedMeshStayWhole) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-mat_compound_block_size 3"));
  const auto plain = scalar_matrix(3, true, MATBAIJ), tested = scalar_matrix(3, true, tested_type());

  EXPECT_TRUE(same_products(tested, plain, 131));

  // 24 nodes in a chain make 3 * 24 - 2 blocks a process, 9 numbers each.
  const auto bytes = info_of(tested).packed_bytes;
  EXPECT_TRUE(all_ranks(bytes >= PetscInt64(70 * 9 * sizeof(PetscScalar))));
  EXPECT_TRUE(all_ranks(bytes <= PetscInt64(70 * 9 * sizeof(PetscScalar) + 8192)));
}

TEST_F(Told, InfoNamesTheOptionForScalarMatricesOfDenseBlocks) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "such blocks are packed without it";
  for (const bool clamped : {false, true}) {
    const auto A = scalar_matrix(4, clamped, tested_type());

    const auto text = info_during("reblocking_test", [&] { (void)product_of(A, all_products().front(), 132); });

    EXPECT_NE(text.find("-mat_compound_block_size 4"), std::string::npos) << text;
  }
}

/// A box of bricks with 3 unknowns a vertex, of which every eighth vertex has one fixed. On one process.
Grid partly_clamped_box() {
  Grid dm;
  PETSC_OK(PetscOptionsInsertString(nullptr,
                                    "-box_dm_plex_dim 3 -box_dm_plex_simplex 0 -box_dm_plex_box_faces 4,4,4 "
                                    "-box_dm_distribute 0"));
  PETSC_OK(DMCreate(PETSC_COMM_WORLD, dm.out()));
  PETSC_OK(DMSetType(dm, DMPLEX));
  PETSC_OK(DMSetOptionsPrefix(dm, "box_"));
  PETSC_OK(DMSetFromOptions(dm));
  PetscSection section;
  PetscInt start, end, chart_start, chart_end;
  PETSC_OK(DMPlexGetChart(dm, &chart_start, &chart_end));
  PETSC_OK(DMPlexGetDepthStratum(dm, 0, &start, &end));
  PETSC_OK(PetscSectionCreate(PETSC_COMM_WORLD, &section));
  PETSC_OK(PetscSectionSetChart(section, chart_start, chart_end));
  for (PetscInt v = start; v < end; ++v) {
    PETSC_OK(PetscSectionSetDof(section, v, 3));
    if (v % 8 == 0) PETSC_OK(PetscSectionSetConstraintDof(section, v, 1));
  }
  PETSC_OK(PetscSectionSetUp(section));
  const PetscInt first = 0;
  for (PetscInt v = start; v < end; ++v)
    if (v % 8 == 0) PETSC_OK(PetscSectionSetConstraintIndices(section, v, &first));
  PETSC_OK(DMSetLocalSection(dm, section));
  PETSC_OK(PetscSectionDestroy(&section));
  return dm;
}

/// The mesh's matrix with every allocated entry set.
Matrix of_mesh(DM dm, const std::string& type) {
  Matrix A;
  PETSC_OK(DMSetMatType(dm, type.c_str()));
  PETSC_OK(DMCreateMatrix(dm, A.out()));
  PetscSection section;
  PetscInt start, end;
  PETSC_OK(DMGetLocalSection(dm, &section));
  PETSC_OK(DMPlexGetHeightStratum(dm, 0, &start, &end));
  for (PetscInt cell = start; cell < end; ++cell) {
    std::vector<PetscScalar> words(24 * 24);
    for (std::size_t k = 0; k < words.size(); ++k) words[k] = value(138, cell, static_cast<PetscInt>(k));
    PETSC_OK(DMPlexMatSetClosure(dm, nullptr, nullptr, A, cell, words.data(), ADD_VALUES));
  }
  assemble(A);
  return A;
}

TEST_F(Told, APartlyClampedPlexIsPackedInItsNodes) {
  if (size() > 1) GTEST_SKIP() << "ghost vertices of one process";
  const auto dm = partly_clamped_box();
  const auto plain = of_mesh(dm, MATBAIJ), A = of_mesh(dm, tested_type());
  PetscInt bs;
  PETSC_OK(MatGetBlockSize(A, &bs));
  ASSERT_EQ(bs, 1) << "PETSc has learned to make blocks here: this test and its option may go";

  const auto text = info_during("reblocking_test", [&] { (void)product_of(A, all_products().front(), 139); });

  if (!tested_is_of_scalars()) {
    EXPECT_NE(text.find("-mat_compound_block_size 3"), std::string::npos) << text;
  }
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_block_size", "3"));
  PETSC_OK(MatSetFromOptions(A));
  EXPECT_TRUE(same_products(A, plain, 140));
}

TEST_F(Told, ViewSaysHowFullTheBlocksAre) {
  PETSC_OK(PetscOptionsInsertString(nullptr, "-mat_compound_block_size 3"));
  const auto A = scalar_matrix(3, true, tested_type());
  (void)product_of(A, all_products().front(), 138);  // packs: a view does not

  const auto text = view_of("reblocking_test", A);

  // 18 nodes of 3 and 6 of 2 on a chain, every block 3 x 3.
  const auto line = "compound blocks: of 3 packed from blocks of 1, 85 % filled";
  EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_F(Told, TheSizeIsFound) {
  for (const auto& [way, clamped] : {std::pair{"find", false}, std::pair{"find", true}, std::pair{"find:model", false},
                                     std::pair{"find:model", true}}) {
    SCOPED_TRACE(way);
    PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_block_size", way));  // on the host the model knows nothing
    const auto plain = scalar_matrix(3, clamped, MATBAIJ), tested = scalar_matrix(3, clamped, tested_type());

    EXPECT_TRUE(same_products(tested, plain, 143));

    const auto after = view_of("reblocking_test", tested);
    // A complex number of padding outweighs the column that it saves.
    const std::string size = clamped && PetscDefined(USE_COMPLEX) ? "3x1" : "3";
    const std::string line =
        tested_is_of_scalars() && !clamped ? "full ones of 3 (found)" : "of " + size + " packed from blocks of 1";
    EXPECT_NE(after.find("compound blocks: " + line), std::string::npos) << after;
    EXPECT_EQ(after.find("compound hint"), std::string::npos) << after;
  }
}

TEST_F(Told, AMeasuredSizeMultipliesAsBaij) {
  const std::string option = "-mat_compound_block_size find:measure";
  PETSC_OK(PetscOptionsInsertString(nullptr, option.c_str()));
  for (const int bs : {1, 2}) {
    const auto problem = random_problem(146, spread(bs, 13, 11));
    const auto plain = filled_matrix(MATBAIJ, "", problem), tested = filled_matrix(tested_type(), option, problem);

    EXPECT_TRUE(same_products(tested, plain, 147)) << bs;
  }
  // Nodes of uneven size, whose vectors are regrouped.
  const auto plain = scalar_matrix(3, true, MATBAIJ), tested = scalar_matrix(3, true, tested_type());
  EXPECT_TRUE(same_products(tested, plain, 148));
}

/// Which sizes may be rectangular, where patches of the same plan are of square ones.
TEST_F(Told, FindCountsPlansOfPatches) {
  const auto A = filled_matrix(
      tested_type(), "-mat_compound_block_size find -mat_compound_plan sell:32:256 half=symmetric columns=patch",
      random_problem(151, spread(1, 60, 60)));
  const auto x = right_vector(A, 1), y = left_vector(A, 2);
  const auto found = catch_error([&] { return MatMult(A, x, y); });
  EXPECT_NE(found.message.find("is not applicable: "), std::string::npos) << found.message;
}

TEST_F(Told, FindKeepsTheMatrixsOwnSizeWhereThatIsBest) {
  const auto A = filled_matrix(tested_type(), "-mat_compound_block_size find", random_problem(144, spread(5, 9, 9)));

  (void)product_of(A, all_products().front(), 145);

  const auto text = view_of("reblocking_test", A);
  EXPECT_EQ(text.find(" packed from blocks of "), std::string::npos) << text;
  EXPECT_EQ(text.find("compound blocks: full ones of 5") != std::string::npos, tested_is_of_scalars()) << text;
}

TEST_F(Told, KrylovMethodsConvergeAsWithBaij) {
  const auto options = "-solver_ksp_type cg -solver_pc_type jacobi -solver_ksp_rtol 1e-10";
  for (const int bs : {1, 2}) {
    const auto plain = solve(spd(MATBAIJ, bs), options);
    for (const char* size : {"find", "4x2", "2x6"}) {
      PETSC_OK(PetscOptionsSetValue(nullptr, "-plain_mat_compound_block_size", size));

      const auto tested = solve(spd(tested_type(), bs), options);

      EXPECT_NEAR(tested.iterations, plain.iterations, 1) << size;
      EXPECT_LE(tested.residual, 1e-9) << size;
    }
  }
}

TEST_F(Told, SizesThatDoNotFitAreRefused) {
  if (tested_is_of_scalars()) GTEST_SKIP() << "any size is made of single scalars";
  const auto A = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_block_size 5", random_problem(133, spread(3, 5, 5)));
  const auto x = right_vector(A, 134), y = left_vector(A, 135);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_NE(found.code, 0);
  EXPECT_NE(found.message.find("blocks of 5 do not fit a matrix with blocks of 3: choose a multiple or a divisor of 3"),
            std::string::npos)
      << found.message;
  EXPECT_NE(found.message.find("-mat_compound_block_size"), std::string::npos) << found.message;
}

TEST_F(Told, QuaternionsArePackedFromSingleScalars) {
  if (PetscDefined(USE_COMPLEX)) GTEST_SKIP() << "4 x 4 real blocks";
  const PetscInt n = 6;
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, 4 * n, 4 * n, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, MATBAIJ));
  PETSC_OK(MatSetUp(A));
  allow_new_nonzeros(A);
  PetscInt first;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  for (PetscInt b = 0; b < n; ++b) {
    const PetscScalar a = value(136, first + b, 0), i = value(136, first + b, 1), j = value(136, first + b, 2),
                      k = value(136, first + b, 3);
    const PetscScalar q[] = {a, -i, -j, -k, i, a, -k, j, j, k, a, -i, k, -j, i, a};
    PetscInt rows[4];
    for (PetscInt r = 0; r < 4; ++r) rows[r] = first + 4 * b + r;
    PETSC_OK(MatSetValues(A, 4, rows, 4, rows, q, INSERT_VALUES));
  }
  assemble(A);
  Matrix tested;
  PETSC_OK(PetscOptionsInsertString(nullptr, "-mat_compound_block_size 4 -mat_compound_entry quaternion"));
  PETSC_OK(MatConvert(A, tested_type().c_str(), MAT_INITIAL_MATRIX, tested.out()));

  EXPECT_TRUE(same_products(tested, A, 137));
  EXPECT_NE(plan_of(tested).find("entry=quaternion"), std::string::npos) << plan_of(tested);
}

}  // namespace
