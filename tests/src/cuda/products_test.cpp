// Products on a device by every plan of the covering set, and by those of the search of 2019.
#include <gtest/gtest.h>

#include <optional>

#include "cuda/on_device.hpp"
#include "cuda/product_cases.hpp"
#include "planner/candidates.hpp"
#include "planner/default_plan.hpp"
#include "support/problems.hpp"
#include "support/tier.hpp"

namespace compound::test {
namespace {

using cuda_cases::Case;

Shifts shifts(const Case& c) { return c.aligned ? Shifts{} : Shifts{1, 1, 1}; }

class CudaProducts : public OnDevice, public testing::WithParamInterface<Choice> {};

/// Finding the set takes seconds: where nothing can run, one case tells why.
std::vector<Choice> choices_for_device() {
  if (!why_no_cuda().empty()) return std::vector<Choice>(1);
  return tier_is_all() ? cuda_cases::choices() : cuda_cases::few_choices().choices;
}

INSTANTIATE_TEST_SUITE_P(Pairwise, CudaProducts, testing::ValuesIn(choices_for_device()),
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
  const auto all = search_of_2019(plan_on_device("csr"), real_3x3, device(), VectorOrder::any);
  EXPECT_EQ(all.size(), 1920u);
  std::vector<Plan> plans;
  for (std::size_t n = 0; n < all.size(); n += tier_is_all() ? 1 : 16) plans.push_back(all[n]);
  device().extensions().control->compile_ahead(plans, real_3x3, false);
  const auto reference = reference_product(operands, Precision::double_, Op::none, Form::assign);

  std::optional<PackedMatrix> A;
  for (const Plan& given : plans) {
    if (!A || A->plan().layout != given.layout) A.emplace(packed(operands, given, device()));
    auto schedule = A->scheduled(given.schedule);
    A->swap(schedule);
    ASSERT_TRUE(agrees(multiplied(*A, operands, Op::none, Form::assign), reference)) << to_string(given);
  }
}

/// Vectors with gaps between them, which are not numbers; 13 of them, so that eight, four and one are multiplied at
/// once.
template <class S>
struct ManyVectors {
  static constexpr int count = 13;
  slot_t apart;
  std::vector<S> all;

  ManyVectors(std::size_t size, std::size_t gap, Random& random)
      : apart(static_cast<slot_t>(size + gap)), all(count * (size + gap), not_a_number<S>()) {
    for (int n = 0; n < count; ++n) std::ranges::copy(random_vector<S>(size, random), all.begin() + n * apart);
  }
};

/// `gap`: scalars between vectors; 1 makes vectors begin off a whole access.
template <class S>
void expect_bits_of_one(const PackedMatrix& A, const Operands<S>& operands, Op op, std::size_t gap, Random& random) {
  ManyVectors<S> x(operands.x(op).size(), gap, random), z(operands.z(op).size(), gap, random),
      y(operands.z(op).size(), gap, random), wanted = y;
  for (const bool adds : {false, true}) {
    Placed<S> px(A.backend(), x.all, 0), pz(A.backend(), z.all, 0), py(A.backend(), y.all, 0),
        pw(A.backend(), wanted.all, 0);
    const Update update = adds ? Update::add : Update::assign;
    A.multiply_vectors(op, update, {x.count, x.apart, z.apart, y.apart}, px.data(), adds ? pz.data() : nullptr,
                       py.data());
    for (int n = 0; n < x.count; ++n)
      A.multiply(op, update, px.data() + n * x.apart, adds ? pz.data() + n * z.apart : nullptr,
                 pw.data() + n * wanted.apart);
    py.bring_back();
    pw.bring_back();
    EXPECT_TRUE(same_bits(y.all, wanted.all)) << (adds ? "y = z + op(A) x" : "y = op(A) x") << ", gaps of " << gap;
  }
}

/// Of kernels for several vectors a form each, of all default plans; in the tier quick of every fifth.
TEST_F(OnDevice, SeveralVectorsHaveTheBitsOfOne) {
  const Pattern pattern = random_pattern(410, 290, 13, 1);
  const struct {
    Problem problem;
    const char* entry;
  } kinds[] = {{real_3x3, "dense"},
               {{{6, 6}, real_3x3.scalar}, "dense"},
               {{{4, 4}, real_3x3.scalar}, "quaternion"},
               {{{3, 3}, {Field::complex, Precision::double_}}, "dense"}};
  for (const auto& kind : kinds) {
    const std::vector<Plan> plans = default_cuda_plans(kind.problem, kind.entry);
    for (std::size_t n = 0; n < plans.size(); n += tier_is_all() ? 1 : 5)
      with_scalar(kind.problem.scalar, [&]<class S>(S) {
        SCOPED_TRACE(to_string(plans[n]) + ", " + seed_text());
        Random random;
        const Operands<S> operands(pattern, kind.entry, kind.problem.block, random);
        const PackedMatrix A = packed(operands, plans[n], device(), TransposedValues::copy);
        for (const Op op : {Op::none, Op::transpose})
          for (const std::size_t gap : {0, 1}) expect_bits_of_one(A, operands, op, gap, random);
      });
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
