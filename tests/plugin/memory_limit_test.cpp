// -mat_compound_memory_limit: plans whose packed storage would own more are not taken, and nothing is packed to see it.
#include "of_kinds.hpp"

namespace {

using namespace petsc_test;

struct MemoryLimit : ForCompound {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }

  /// If PETSc has 64-bit indices, even compressed rows own their block columns, and no plan fits a limit of one byte.
  static constexpr bool owns_columns = sizeof(PetscInt) > sizeof(int);
  static void expect_nothing_fits(const std::string& text) {
    EXPECT_TRUE(says(text, "products are left to the base type, since layout csr would own "));
  }

  static std::string view(Mat A) { return view_of("memory_limit_test", A); }
  /// Of a matrix that has multiplied, right.
  static std::string view_after_product(const std::string& options, const Problem& of) {
    const auto A = filled_matrix(MATBAIJCOMPOUND, options, of);
    EXPECT_TRUE(same_products(A, filled_matrix(MATBAIJ, "", of), 91));
    return view(A);
  }
};

TEST_F(MemoryLimit, MakesTheRuleTakeTheMatrixsOwnArrays) {
  const Problem diagonal = problem_of("diagonal", 3);
  EXPECT_TRUE(says(view_after_product("", diagonal), "entry=diagonal"));

  const std::string text = view_after_product("-mat_compound_memory_limit 1e-6", diagonal);

  if (owns_columns) return expect_nothing_fits(text);
  EXPECT_TRUE(says(text, "compound plan origin: default heuristic within -mat_compound_memory_limit (layout "));
  EXPECT_TRUE(says(text, "MB, where up to 1e-06 MB are allowed)"));
  EXPECT_EQ(text.find("entry=diagonal"), std::string::npos) << text;
}

TEST_F(MemoryLimit, ThatIsLargeChangesNothing) {
  const std::string text = view_after_product("-mat_compound_memory_limit 100", problem_of("diagonal", 3));

  EXPECT_TRUE(says(text, "entry=diagonal"));
  EXPECT_TRUE(says(text, "compound plan origin: default heuristic\n"));
}

TEST_F(MemoryLimit, IsAnErrorForALayoutThatWasAskedFor) {
  const Problem dense = random_problem(71, spread(3, 8, 8));
  const auto A = filled_matrix(MATBAIJCOMPOUND, "-mat_compound_layout sell -mat_compound_memory_limit 1e-6", dense);
  const auto x = right_vector(A, 1), y = left_vector(A, 2);

  const auto found = catch_error([&] { return MatMult(A, x, y); });

  EXPECT_NE(found.code, 0);
  EXPECT_TRUE(says(found.message, "layout sell:32 would own "));
  EXPECT_TRUE(
      says(found.message, "where up to 1e-06 MB are allowed (-mat_compound_layout); raise -mat_compound_memory_limit"));
  EXPECT_TRUE(says(view(A), "none: layout sell:32 would own "));
}

TEST_F(MemoryLimit, LeavesPlansOutOfTuning) {
  const Problem dense = random_problem(71, spread(3, 8, 8));

  const std::string text = view_after_product(
      "-mat_compound_tune exhaustive -mat_compound_wisdom none -mat_compound_memory_limit 1e-6", dense);

  if (owns_columns) return expect_nothing_fits(text);
  EXPECT_TRUE(says(text, " left out by the memory limit"));
  EXPECT_TRUE(says(text, "(not kept: plans without that limit may be faster)"));
  EXPECT_TRUE(says(text, " csr words=1:column"));
}

TEST_F(MemoryLimit, LeavesProductsToTheParentWhereNothingIsSmallEnough) {
  const std::string text = view_after_product("-mat_compound_precision single -mat_compound_memory_limit 0",
                                              random_problem(71, spread(3, 8, 8)));

  EXPECT_TRUE(says(text, "products are left to the base type"));
}

}  // namespace
