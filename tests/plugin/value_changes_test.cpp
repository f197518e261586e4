// The guard against stale packed values, one operation at a time: after it, products, type and layout are still right.
#include "operations.hpp"

namespace {

using namespace petsc_test;

const int block_sizes[] = {1, 2, 3, 7};

struct ValueChanges : testing::TestWithParam<std::tuple<Operation, Variant, int>> {
  const Operation& operation() const { return std::get<0>(GetParam()); }
  /// With a full diagonal and two processes' worth of couplings everywhere.
  Twins packed_twins(std::uint64_t seed) const {
    Random random(seed);
    const auto shape = spread(std::get<2>(GetParam()), 11, 11);
    auto twins = filled_twins(std::get<1>(GetParam()), {shape, random_blocks(random, shape, 0.25, true), seed});
    // Packs both the matrix and its transpose, so that there is something to go stale.
    for (const auto& product : all_products())
      if (!product.hermitian) (void)product_of(twins.tested, product, 51);
    return twins;
  }
};

TEST_P(ValueChanges, ReachTheNextProduct) {
  auto twins = packed_twins(52);

  apply(operation(), twins, 53);

  EXPECT_TRUE(still_twins(twins, 54));
}

TEST_P(ValueChanges, ReachTheNextProductOfTheDiagonalBlock) {
  auto twins = packed_twins(55);
  Mat tested = nullptr, plain = nullptr;
  PETSC_OK(MatGetDiagonalBlock(twins.tested, &tested));
  (void)product_of(tested, all_products().front(), 51);

  apply(operation(), twins, 56);

  PETSC_OK(MatGetDiagonalBlock(twins.tested, &tested));
  PETSC_OK(MatGetDiagonalBlock(twins.plain, &plain));
  EXPECT_TRUE(same_products(tested, plain, 57));
}

TEST_P(ValueChanges, ReachTheNextProductWhenDoneTwice) {
  auto twins = packed_twins(58);

  apply(operation(), twins, 59);
  const auto once = same_mult(twins.tested, twins.plain, 60);
  apply(operation(), twins, 61);

  EXPECT_TRUE(once);
  EXPECT_TRUE(still_twins(twins, 62));
}

std::string name_of(const testing::TestParamInfo<ValueChanges::ParamType>& info) {
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param).name + "_bs" +
         std::to_string(std::get<2>(info.param));
}

const auto variants = testing::ValuesIn(some_variants());
const auto sizes = testing::ValuesIn(block_sizes);

INSTANTIATE_TEST_SUITE_P(Values, ValueChanges, testing::Combine(testing::ValuesIn(value_changes()), variants, sizes),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Assembly, ValueChanges, testing::Combine(testing::ValuesIn(assemblies()), variants, sizes),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Replacement, ValueChanges,
                         testing::Combine(testing::ValuesIn(replacements()), variants, sizes), name_of);

TEST(Values, MatSetRandomIsAsTheParents) {
  const auto A = filled_matrix(tested_type(), "", random_problem(63, spread(2, 5, 5)));
  const auto B = filled_matrix(parent_type(), "", random_problem(63, spread(2, 5, 5)));

  const auto tested = catch_error([&] { return MatSetRandom(A, nullptr); });
  const auto plain = catch_error([&] { return MatSetRandom(B, nullptr); });

  EXPECT_EQ(tested.code, plain.code);
}

}  // namespace
