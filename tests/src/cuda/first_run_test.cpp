// The first run of a program on a fresh machine, on a device: default plans compile nothing, with no NVRTC and no
// cache.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "cuda/backend.hpp"
#include "cuda/default_kernels.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/runtime.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"
#include "support/built_in_code.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

class FirstRun : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = capabilities_built_in().empty() ? std::string(why_nothing_built_in) : why_no_cuda();
    if (!why.empty()) {
      const std::string text = why.starts_with("skipped") ? why : "skipped: " + why;
      std::cout << text << std::endl;
      GTEST_SKIP() << text;
    }
    setenv("COMPOUND_NVRTC", "/no/such/folder/libnvrtc.so", 1);
    setenv("COMPOUND_CUDA_CACHE", "off", 1);
  }
  void TearDown() override { EXPECT_EQ(cuda::compile_count(), 0); }

  /// f(scalar, problem, entry) for all that machine code is built in for.
  template <class F>
  static void for_all_entries(const F& f) {
    for (const ScalarType scalar : scalars_built_in())
      for (int size = 1; size <= cuda::largest_default_block; ++size) {
        const Problem problem{{size, size}, scalar};
        for (const std::string_view entry : entries_to_find(problem)) {
          SCOPED_TRACE(std::string(entry) + " " + std::to_string(size) + ", " + seed_text());
          with_scalar(scalar, [&]<class S>(S s) { f(s, problem, entry); });
        }
      }
  }
  static Backend& device() { return backend("cuda"); }
};

/// Some rows are empty, and each row that is not has a diagonal block.
Pattern some_pattern() {
  constexpr idx rows = 150;
  std::vector<std::vector<idx>> columns(rows);
  for (idx r = 0; r < rows; ++r)
    if (r % 7 != 3) columns[r] = {r, (r + 5) % rows, (3 * r + 1) % rows};
  return pattern_of(rows, columns);
}

TEST_F(FirstRun, MultipliesByEveryDefaultPlanWithoutCompiling) {
  const Pattern pattern = some_pattern();
  for_all_entries([&]<class S>(S, const Problem& problem, std::string_view entry) {
    Random random;
    const Operands<S> operands(pattern, entry, problem.block, random);
    for (const Plan& plan : default_cuda_plans(problem, entry)) {
      const PackedMatrix A = packed(operands, plan, device(), TransposedValues::copy);
      EXPECT_EQ(A.code(), "built in") << to_string(plan);
      for (const Op op : ops)
        for (const Form form : {Form::assign, Form::add})
          EXPECT_TRUE(
              agrees(multiplied(A, operands, op, form), reference_product(operands, Precision::double_, op, form)))
              << to_string(plan) << ", " << product_name(op, form);
    }
  });
}

TEST_F(FirstRun, FindsKindsAndPacksValuesOfTheDeviceWithoutCompiling) {
  const Pattern pattern = some_pattern();
  const count32 entries = pattern.view().entries();
  for_all_entries([&]<class S>(S, const Problem& problem, std::string_view entry) {
    Random random;
    Operands<S> operands(pattern, entry, problem.block, random);
    const Placed<S> blocks(device(), operands.blocks);
    EXPECT_NO_THROW(cheapest_entry(problem, device(), blocks.data(), entries, Memory::backend));
    EXPECT_EQ(device().first_misfit({entry, problem, blocks.data(), entries, Memory::backend}), std::nullopt);
    for (const Plan& plan : default_cuda_plans(problem, entry)) {
      PackedMatrix A(pattern.view(), problem, plan, device());
      A.update_values(blocks.data(), Memory::backend);
      EXPECT_TRUE(agrees(multiplied(A, operands, Op::none, Form::assign),
                         reference_product(operands, Precision::double_, Op::none, Form::assign)))
          << to_string(plan);
      if (entry == "dense") {
        PackedMatrix of_aij(pattern.view(), {problem.block, problem.scalar, ValueOrder::rows}, plan, device());
        EXPECT_NO_THROW(of_aij.compile()) << to_string(plan);
      }
    }
  });
}

/// Of elasticity in the plane and in space.
TEST_F(FirstRun, MultipliesByProlongatorsWithoutCompiling) {
  const Pattern pattern = some_pattern();
  for (const ScalarType scalar : scalars_built_in())
    for (const BlockShape block : {BlockShape{2, 3}, BlockShape{3, 6}})
      with_scalar(scalar, [&]<class S>(S) {
        Random random;
        const Operands<S> operands(pattern, "dense", block, random);
        for (const Plan& plan : default_cuda_plans({block, scalar}, "dense")) {
          const PackedMatrix P = packed(operands, plan, device(), TransposedValues::copy);
          for (const Op op : {Op::none, Op::transpose})
            for (const Form form : {Form::assign, Form::add})
              EXPECT_TRUE(
                  agrees(multiplied(P, operands, op, form), reference_product(operands, Precision::double_, op, form)))
                  << to_string(plan) << ", " << product_name(op, form);
        }
      });
}

TEST_F(FirstRun, GivesDiagonalsAndInversesWithoutCompiling) {
  const Pattern pattern = some_pattern();
  for_all_entries([&]<class S>(S, const Problem& problem, std::string_view entry) {
    Random random;
    const Operands<S> operands(pattern, entry, problem.block, random);
    const Plan plan = default_plan(statistics(pattern.view()), problem, "cuda", entry);
    const PackedMatrix A = packed(operands, plan, device());
    const std::size_t scalars = std::size_t(pattern.rows) * problem.block.rows;
    const Buffer<S> diagonal(device(), scalars), inverses(device(), scalars * problem.block.rows);
    EXPECT_NO_THROW(A.diagonal(diagonal.data()));
    EXPECT_EQ(A.invert_diagonal(inverses.data()), 3) << "the first row without a diagonal block";
  });
}

/// Assembly by coordinates.
TEST_F(FirstRun, AddsUpListsWithoutCompiling) {
  for (const ScalarType scalar : scalars_built_in())
    for (const Update update : {Update::assign, Update::add})
      with_scalar(scalar, [&]<class S>(S) {
        std::vector<slot_t> first = {0, 2}, index = {0, 1};
        std::vector<S> from = {S(1), S(2)}, to = {S(4)};
        const Placed<slot_t> pf(device(), first), pi(device(), index);
        const Placed<S> px(device(), from), py(device(), to);
        device().sum({scalar, 1, pf.data(), pi.data(), nullptr, px.data(), py.data(), update});
        py.bring_back();
        EXPECT_TRUE(same_bits(to, {S(update == Update::add ? 7 : 3)}));
      });
}

TEST_F(FirstRun, OfAPlanThatSomebodyAskedForSaysThatNvrtcIsMissing) {
  const Pattern pattern = some_pattern();
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const Plan asked = parse_plan("sell:8 unroll=5", default_plan({}, operands.problem(), "cuda"));
  EXPECT_THROW(multiplied(packed(operands, asked, device()), operands, Op::none, Form::assign), std::exception);
}

/// Pinning memory takes longer than packing a small matrix.
TEST_F(FirstRun, PinsNoMoreMemoryThanItsMatricesWant) {
  const Pattern pattern = some_pattern();
  Random random;
  const Operands<double> operands(pattern, "dense", {8, 8}, random);
  packed(operands, default_plan({}, operands.problem(), "cuda"), device());
  EXPECT_GT(cuda::Staging::instance().bytes(), 0u);
  EXPECT_LE(cuda::Staging::instance().bytes(), std::size_t{2} << 20);
}

}  // namespace
}  // namespace compound::test
