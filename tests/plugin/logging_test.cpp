// What -log_view sees: MatMult with the parent's flops, and our packing.
#include "compare.hpp"
#include "log_events.hpp"
#include "petsccompound.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace petsc_test;

struct Logging : testing::TestWithParam<std::tuple<Variant, int>> {
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
  Problem problem() const {
    Random random(91);
    const auto shape = spread(std::get<1>(GetParam()), 12, 12);
    return {shape, random_blocks(random, shape, 0.3, true), 92};
  }
};

TEST_P(Logging, MatMultHasTheParentsFlops) {
  if (size() > 1 && std::get<1>(GetParam()) == 2) GTEST_SKIP() << "PETSc's MatMultAdd_SeqBAIJ_2 logs half of its flops";
  const auto twins = filled_twins(std::get<0>(GetParam()), problem());
  const auto multiply = [](Mat A) { return [A] { (void)product_of(A, all_products().front(), 93); }; };
  multiply(twins.tested)();

  const auto tested = added_to("MatMult", multiply(twins.tested)), plain = added_to("MatMult", multiply(twins.plain));

  EXPECT_TRUE(all_ranks(tested.count == 1 && plain.count == 1));
  EXPECT_TRUE(all_ranks(tested.flops == plain.flops)) << tested.flops << " flops, not " << plain.flops;
}

TEST_P(Logging, PackingIsAnEventOfTheFirstProductOnly) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto A = filled_matrix(std::get<0>(GetParam()).type, std::get<0>(GetParam()).options, problem());
  const auto multiply = [&A] { (void)product_of(A, all_products().front(), 94); };

  const auto first = added_to("MatCompoundPack", multiply), second = added_to("MatCompoundPack", multiply);

  EXPECT_TRUE(all_ranks(first.count >= 1));
  EXPECT_TRUE(all_ranks(second.count == 0));
}

INSTANTIATE_TEST_SUITE_P(All, Logging,
                         testing::Combine(testing::ValuesIn(all_variants()), testing::Values(1, 2, 3, 4, 5, 7)),
                         [](const auto& param_info) {
                           return std::get<0>(param_info.param).name + "_bs" +
                                  std::to_string(std::get<1>(param_info.param));
                         });

TEST(Tuning, IsAnEvent) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  PETSC_OK(PetscLogDefaultBegin());
  const auto A = filled_matrix(tested_type(), "-mat_compound_tune measure -mat_compound_wisdom none",
                               random_problem(97, spread(3, 8, 8)));
  const auto multiply = [&A] { (void)product_of(A, all_products().front(), 98); };

  const auto first = added_to("MatCompoundTune", multiply), second = added_to("MatCompoundTune", multiply);

  EXPECT_TRUE(all_ranks(first.count >= 1));
  EXPECT_TRUE(all_ranks(second.count == 0));
}

/// By one process alone, which waits for no other, and as often as a program with many matrices may do so.
TEST(Initialize, MayBeCalledAgain) {
  PETSC_OK(PetscLogDefaultBegin());
  for (int n = 0; n < 1000 && rank() == 0; ++n) PETSC_OK(PetscCompoundInitialize());
  const auto A = filled_matrix(tested_type(), "", random_problem(99, spread(3, 8, 8)));
  const auto multiply = [&A] { (void)product_of(A, all_products().front(), 100); };

  const auto packed = added_to("MatCompoundPack", multiply);

  EXPECT_TRUE(all_ranks(packed.count >= 1 || !tested_is_compound()));
}

TEST(LogView, ShowsMatMultAndPacking) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  PETSC_OK(PetscLogDefaultBegin());
  const auto A = filled_matrix(tested_type(), "-mat_compound_layout sell:3", random_problem(95, spread(3, 8, 8)));
  (void)product_of(A, all_products().front(), 96);
  const auto file = same_on_all_ranks(
      (std::filesystem::temp_directory_path() / ("compound_log_" + std::to_string(getpid()))).string());

  Viewer viewer;
  PETSC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), viewer.out()));
  PETSC_OK(PetscLogView(viewer));
  viewer.reset();

  std::stringstream text;
  if (rank() == 0) text << std::ifstream(file).rdbuf();
  const auto all = same_on_all_ranks(text.str());
  if (rank() == 0) std::remove(file.c_str());
  EXPECT_NE(all.find("MatMult "), std::string::npos);
  EXPECT_NE(all.find("MatCompoundPack"), std::string::npos);
}

}  // namespace
