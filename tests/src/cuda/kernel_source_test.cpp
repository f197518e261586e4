// Every kernel of the covering set compiles by NVRTC, on machines without a GPU too.
#include <gtest/gtest.h>

#include <iostream>

#include "cuda/kernel_source.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/product_cases.hpp"

namespace compound::test {
namespace {

using cuda_cases::Case;

class KernelSource : public testing::TestWithParam<Choice> {
 protected:
  void SetUp() override {
    if (cuda::nvrtc_version()) return;
    std::cout << "skipped: there is no NVRTC here" << std::endl;
    GTEST_SKIP() << "there is no NVRTC here";
  }
};

INSTANTIATE_TEST_SUITE_P(Pairwise, KernelSource, testing::ValuesIn(cuda_cases::choices()),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

TEST_P(KernelSource, Compiles) {
  const Case c = cuda_cases::case_of(GetParam());
  SCOPED_TRACE(c.name);
  const bool shared = c.op != Op::none && c.transposed == TransposedValues::shared;
  const bool reordered = c.plan.layout.sigma != 1 || c.plan.layout.row_list;
  const Update update = c.form == Form::assign ? Update::assign : Update::add;

  EXPECT_NO_THROW(cuda::compile(cuda::product_source(c.plan, c.problem, c.op, update, shared, reordered), 90));
}

/// The covering set's entries, layouts and scalars meet here too; a part of it does for kernels that know no schedule.
TEST(KernelSources, OfPackingAndDiagonalsCompile) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "there is no NVRTC here";
  const auto& all = cuda_cases::choices();
  for (std::size_t i = 0; i < all.size(); i += 4) {
    const Case c = cuda_cases::case_of(all[i]);
    SCOPED_TRACE(c.name);
    EXPECT_NO_THROW(cuda::compile(cuda::pack_source(c.plan, c.problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::regroup_source(c.plan, c.problem), 90));
    if (c.plan.schedule.traversal == Traversal::slots) {
      EXPECT_NO_THROW(cuda::compile(cuda::carries_source(c.plan, c.problem, c.op), 90));
    }
    if (c.problem.block.rows != c.problem.block.cols) continue;
    EXPECT_NO_THROW(cuda::compile(cuda::diagonal_source(c.plan, c.problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::inverse_source(c.plan, c.problem), 90));
    EXPECT_NO_THROW(cuda::compile(cuda::sum_source(c.problem.scalar, Update::add), 80));
  }
}

}  // namespace
}  // namespace compound::test
