// Products on a device by every plan of the covering set, and by those of the search of 2019.
#include <gtest/gtest.h>

#include <optional>

#include "cuda/on_device.hpp"
#include "cuda/product_cases.hpp"
#include "planner/candidates.hpp"
#include "planner/default_plan.hpp"
#include "support/tier.hpp"

namespace compound::test {
namespace {

using cuda_cases::Case;

constexpr Problem real_3x3{{3, 3}, {Field::real, Precision::double_}};

Plan plan(std::string_view line) { return parse_plan(line, default_plan(PatternStatistics{}, real_3x3, "cuda")); }

Shifts shifts(const Case& c) { return c.aligned ? Shifts{} : Shifts{1, 1, 1}; }

class CudaProducts : public OnDevice, public testing::WithParamInterface<Choice> {};

/// Finding the set takes seconds: where nothing can run, one case tells why.
std::vector<Choice> cases_for_device() {
  if (!why_no_cuda().empty()) return std::vector<Choice>(1);
  return tier_is_all() ? cuda_cases::choices() : cuda_cases::few_choices();
}

INSTANTIATE_TEST_SUITE_P(Pairwise, CudaProducts, testing::ValuesIn(cases_for_device()),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

TEST_P(CudaProducts, AreThoseOfTheDefinition) {
  const Case c = cuda_cases::case_of(GetParam());
  SCOPED_TRACE(c.name + ", " + seed_text());

  with_scalar(c.problem.scalar, [&]<class S>(S) {
    Random random;
    const Operands<S> operands = Operands<S>(c.pattern, c.entry, c.problem.block, random).for_codes_of(c.plan);
    const PackedMatrix A = packed(operands, c.plan, device(), c.transposed);

    const auto y = multiplied(A, operands, c.op, c.form, shifts(c));

    EXPECT_TRUE(agrees(y, reference_product(operands, c.plan.values, c.op, c.form)));
    const bool repeats = c.plan.schedule.carries == Carries::ordered;
    EXPECT_TRUE(!repeats || same_bits(y, multiplied(A, operands, c.op, c.form, shifts(c))));
  });
}

/// One packed copy for the schedules of each layout; they differ in no sum's order, and so in no bit. In the tier quick
/// every sixteenth plan: NVRTC compiles each.
TEST_F(OnDevice, PlansOfTheSearchOf2019AreRight) {
  const Pattern pattern = random_pattern(3000, 2900, 9, 1);
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const auto all = search_of_2019(plan("csr"), real_3x3, device(), VectorOrder::any);
  EXPECT_EQ(all.size(), 1920u);
  std::vector<Plan> plans;
  for (std::size_t n = 0; n < all.size(); n += tier_is_all() ? 1 : 16) plans.push_back(all[n]);
  device().extensions().control->compile_ahead(plans, real_3x3);
  const auto reference = reference_product(operands, Precision::double_, Op::none, Form::assign);

  std::optional<PackedMatrix> A;
  for (Plan given : plans) {
    if (!A || A->plan().layout != given.layout) A.emplace(packed(operands, given, device()));
    auto schedule = A->scheduled(given.schedule);
    A->swap(schedule);
    ASSERT_TRUE(agrees(multiplied(*A, operands, Op::none, Form::assign), reference)) << to_string(given);
  }
}

/// x is not finite where no entry of A is: padding that was multiplied would show.
TEST_P(CudaProducts, NeverMultiplyPadding) {
  Case c = cuda_cases::case_of(GetParam());
  c.plan.schedule.carries = Carries::ordered;  // the others do not repeat their bits
  SCOPED_TRACE(c.name + ", " + seed_text());

  with_scalar(c.problem.scalar, [&]<class S>(S) {
    Random random;
    Operands<S> operands = Operands<S>(c.pattern, c.entry, c.problem.block, random).for_codes_of(c.plan);
    const PackedMatrix A = packed(operands, c.plan, device(), c.transposed);
    const auto wanted = multiplied(A, operands, c.op, c.form, shifts(c));
    spoil_what_is_not_read(operands, c.op);

    EXPECT_TRUE(same_bits(wanted, multiplied(A, operands, c.op, c.form, shifts(c))));
  });
}

}  // namespace
}  // namespace compound::test
