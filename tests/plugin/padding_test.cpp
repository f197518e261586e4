// -mat_compound_padding_limit: layouts that pad too much are refused before anything is allocated.
#include <vector>

#include "compare.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

constexpr PetscInt rows = 3000;  // of each process: a padded row of so many slots makes 108 MB

/// A diagonal, and on the last process a full row of its own columns: its `ellr` has 1,500 slots an entry.
Matrix with_long_row(const std::string& type) {
  const bool has_it = rank() == size() - 1;
  std::vector<PetscInt> lengths(rows, 1), none(rows, 0);
  if (has_it) lengths[rows / 2] = rows;
  Matrix A;
  PetscInt first;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, type.c_str()));
  PETSC_OK(MatXAIJSetPreallocation(A, 1, lengths.data(), none.data(), nullptr, nullptr));
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  for (PetscInt i = 0; i < rows; ++i) PETSC_OK(MatSetValue(A, first + i, first + i, 2 + i % 7, INSERT_VALUES));
  for (PetscInt j = 0; has_it && j < rows; ++j)
    PETSC_OK(MatSetValue(A, first + rows / 2, first + j, 1 + j % 5, INSERT_VALUES));
  PETSC_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

struct Padding : testing::Test {
  void SetUp() override {
    if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }

  static caught error_of_product(Mat A) {
    const auto x = right_vector(A, 1), y = left_vector(A, 2);
    return catch_error([&] { return MatMult(A, x, y); });
  }
};

TEST_F(Padding, IsRefusedWhereALayoutWasAskedFor) {
  const auto A = with_long_row(MATBAIJCOMPOUND);
  for (const std::string layout : {"ellr", "dia"}) {
    PETSC_OK(MatCompoundSetLayout(A, layout.c_str()));

    const auto found = error_of_product(A);

    EXPECT_EQ(found.code, PETSC_ERR_ARG_WRONG);
    for (const std::string& part :
         {"layout " + layout + " would have ", std::string("slots for 5999 entries"), std::string("csr has no padding"),
          std::string("(-mat_compound_layout)"), std::string("-mat_compound_padding_limit none lets it through")})
      EXPECT_NE(found.message.find(part), std::string::npos) << part << " in " << found.message;
  }
}

TEST_F(Padding, OfAPlanIsRefusedToo) {
  PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_plan", "ellr"));
  const auto A = with_long_row(MATBAIJCOMPOUND);

  const auto found = error_of_product(A);

  EXPECT_NE(found.message.find("(-mat_compound_plan)"), std::string::npos) << found.message;
}

TEST_F(Padding, IsAnErrorThatAnotherLayoutMends) {
  const auto A = with_long_row(MATBAIJCOMPOUNDELLR), plain = with_long_row(MATBAIJ);
  EXPECT_NE(error_of_product(A).code, 0);
  EXPECT_NE(error_of_product(A).code, 0) << "the second product";

  PETSC_OK(MatCompoundSetLayout(A, "sell:32"));

  EXPECT_TRUE(same_products(A, plain, 3));
  EXPECT_NE(plan_of(A).find("sell:32"), std::string::npos) << plan_of(A);
}

TEST_F(Padding, IsLetThroughWhereTheLimitAllowsIt) {
  const auto plain = with_long_row(MATBAIJ);
  for (const char* limit : {"none", "2000"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-mat_compound_padding_limit", limit));
    const auto A = with_long_row(MATBAIJCOMPOUNDELLR);

    EXPECT_TRUE(same_mult(A, plain, 4)) << limit;
    EXPECT_GT(sum_over_ranks(info_of(A).padding_blocks), PetscInt64{rows} * (rows - 2)) << limit;
  }
}

TEST_F(Padding, IsToldByViewsAfterAProductThatFailed) {
  if (size() > 1) GTEST_SKIP() << "the first process has no long row";
  const auto A = with_long_row(MATBAIJCOMPOUNDELLR);
  const auto x = right_vector(A, 1), y = left_vector(A, 2);
  EXPECT_NE(catch_error([&] { return MatMult(A, x, y); }).code, 0);

  const auto text = view_of("padding_test", A);

  EXPECT_NE(text.find("compound plan: none: layout ellr would have"), std::string::npos) << text;
}

}  // namespace
