// Products of a half of a symmetric or Hermitian matrix on a device, by patches.
#include <gtest/gtest.h>

#include <numeric>

#include "cuda/followed_plans.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/on_device.hpp"
#include "support/dots.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/symmetric.hpp"
#include "support/tier.hpp"

namespace compound::test {
namespace {

class DeviceHalf : public OnDevice {};

Plan device_half(const Problem& problem, std::string_view entry, Half half, std::string_view words) {
  const Plan base = default_plan(PatternStatistics{}, problem, "cuda", entry);
  return parse_plan((half == Half::hermitian ? "half=hermitian " : "half=symmetric ") + std::string(words), base);
}

/// In the tier quick some of them: NVRTC compiles their kernels.
std::vector<HalfCase> halves_for_device() {
  const std::vector<HalfCase> all = half_cases();
  std::vector<HalfCase> some;
  for (std::size_t n = 0; n < all.size(); n += tier_is_all() ? 1 : 7) some.push_back(all[n]);
  return some;
}

TEST_F(DeviceHalf, MultipliesAsTheWholeDoes) {
  SCOPED_TRACE(seed_text());
  Random random;
  int shown = 0;
  for (const HalfCase& c : halves_for_device())
    with_scalar(c.scalar.vectors, [&]<class S>(S) {
      const BlockShape shape = c.entry.in(c.scalar.vectors.field);
      const Problem problem{shape, scalar_type_of<S>()};
      const bool is_dense = c.entry.entry == "dense";
      const Pattern p = symmetric_pattern(301, 9, is_dense, test_seed());
      for (const char* words : {"sell:32:64", "sell:32:128 stream vectors=32"}) {
        const Plan plan = device_half(problem, c.entry.entry, c.half, std::string(words) + c.scalar.values);
        if (why_not(plan, problem, device())) continue;
        const auto o = symmetric_operands<S>(p, c.entry.entry, shape, c.half, random);
        PackedMatrix A(p.view(), problem, plan, device());
        if (A.try_update_values(o.blocks.data())) continue;  // transposes are not of the kind
        ++shown;
        for (const Op op : ops)
          for (const Form form : {Form::assign, Form::add_in_place})
            EXPECT_TRUE(agrees(multiplied(A, o, op, form), reference_product(o, plan.values, op, form)))
                << to_string(plan) << " of " << text_of(shape) << ": " << product_name(op, form);
      }
    });
  EXPECT_GT(shown, 8);
}

struct Real3x3 {
  Pattern pattern;
  Random random;
  Operands<double> o;
  Problem problem{{3, 3}, {}};

  explicit Real3x3(idx rows = 5000, idx longest = 12)
      : pattern(symmetric_pattern(rows, longest, true, test_seed())),
        o(symmetric_operands<double>(pattern, "dense", {3, 3}, Half::symmetric, random)) {}
  Plan plan(std::string_view words = "") const { return device_half(problem, "dense", Half::symmetric, words); }
};

TEST_F(DeviceHalf, HasTheSameBitsEachTimeAndADotThatFollows) {
  const Real3x3 m;
  for (const char* words : {"", "sell:32:64", "sell:32:512"}) {
    const PackedMatrix A = packed(m.o, m.plan(words), device());
    Random random;
    const auto w = random_vector<double>(m.o.rows_z.size(), random);
    const auto once = multiplied_with_dot(A, m.o, Op::none, Form::assign, Follow::dot, w);
    EXPECT_TRUE(agrees(once.y, reference_product(m.o, Precision::double_, Op::none, Form::assign)));
    EXPECT_LE(std::abs(once.dot - reference_dot(Follow::dot, w, once.y)), 1e-13 * size_of_terms(w, once.y));
    for (int n = 0; n < 100; ++n) {
      const auto again = multiplied_with_dot(A, m.o, Op::none, Form::assign, Follow::dot, w);
      ASSERT_TRUE(same_bits(again.y, once.y));
      ASSERT_EQ(again.dot, once.dot);
    }
  }
}

TEST_F(DeviceHalf, LeavesAProductThatIsStopped) {
  const Real3x3 m(300);
  const PackedMatrix A = packed(m.o, m.plan(), device());
  const int flags[] = {0, 7};
  const Buffer<int> on_device(device(), std::span<const int>(flags));
  const auto w = m.o.rows_z;
  EXPECT_EQ(multiplied_with_dot(A, m.o, Op::none, Form::add_in_place, Follow::dot, w, on_device.data() + 1).y,
            m.o.z(Op::none));
  EXPECT_NE(multiplied_with_dot(A, m.o, Op::none, Form::add_in_place, Follow::dot, w, on_device.data()).y,
            m.o.z(Op::none));
}

TEST_F(DeviceHalf, SmoothsAsTheWholeDoes) {
  const Real3x3 m(700);
  const PackedMatrix half = packed(m.o, m.plan(), device()),
                     whole = packed(m.o, followed_plan<double>("sell:32 rows"), device());
  ASSERT_TRUE(half.smooths());
  ASSERT_TRUE(half.corrects());
  const auto stepped = [&](const PackedMatrix& A, bool corrects) {
    auto x = m.o.cols_vector, b = m.o.rows_z;
    std::vector<double> y = b;
    const Placed<double> px(device(), x), pb(device(), b), py(device(), y);
    smoothing_args step;
    step.scale = 0.3;
    step.along = 1;
    corrects ? A.correct(step, px.data(), py.data()) : A.smooth(step, px.data(), pb.data(), py.data());
    py.bring_back();
    return y;
  };
  for (const bool corrects : {false, true}) {
    const auto a = stepped(half, corrects), b = stepped(whole, corrects);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12) << i;
  }
}

/// Of a problem that no other test here has kernels of.
TEST_F(DeviceHalf, CompilesNothingInItsFirstProduct) {
  Random random;
  const Problem problem{{5, 5}, {}};
  const Pattern pattern = symmetric_pattern(300, 9, true, test_seed());
  const auto o = symmetric_operands<double>(pattern, "dense", problem.block, Half::symmetric, random);
  const Variable cache("COMPOUND_CUDA_CACHE", "off");
  PackedMatrix A = packed(o, device_half(problem, "dense", Half::symmetric, ""), device());
  A.compile();
  const int compiled = cuda::compile_count();
  const auto y = multiplied(A, o, Op::none, Form::assign);
  EXPECT_EQ(cuda::compile_count(), compiled);
  EXPECT_TRUE(agrees(y, reference_product(o, Precision::double_, Op::none, Form::assign)));
}

TEST_F(DeviceHalf, HasDiagonals) {
  const Real3x3 m(700);
  const PackedMatrix half = packed(m.o, m.plan(), device()),
                     whole = packed(m.o, followed_plan<double>("sell:32 rows"), device());
  const auto diagonal_of = [&](const PackedMatrix& A) {
    const Buffer<double> there(device(), m.o.rows_z.size());
    A.diagonal(there.data());
    std::vector<double> v(m.o.rows_z.size());
    device().download(v.data(), there.data(), there.bytes());
    return v;
  };
  EXPECT_EQ(diagonal_of(half), diagonal_of(whole));
}

TEST_F(DeviceHalf, TakesValuesOfTheDeviceAndRefusesThoseThatAreNotSymmetric) {
  Real3x3 m(700);
  PackedMatrix A = packed(m.o, m.plan(), device());
  const auto before = multiplied(A, m.o, Op::none, Form::assign);
  for (double& v : m.o.blocks) v *= 2;
  const Buffer<double> there(device(), std::span<const double>(m.o.blocks));
  A.update_values(there.data(), Memory::backend);
  const auto twice = multiplied(A, m.o, Op::none, Form::assign);
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(twice[i], 2 * before[i]);

  idx row = 0;
  while (m.pattern.column[m.pattern.start[row]] == row || m.pattern.column[m.pattern.start[row]] > row) ++row;
  m.o.blocks[std::size_t{9} * m.pattern.start[row] + 1] += 1;  // below the diagonal
  const Buffer<double> broken(device(), std::span<const double>(m.o.blocks));
  EXPECT_ERROR(A.update_values(broken.data(), Memory::backend), ErrorKind::argument, "differ by 1 in their scalars");
  EXPECT_ERROR(A.update_values(m.o.blocks.data()), ErrorKind::argument, "differ by 1 in their scalars");
  EXPECT_TRUE(same_bits(multiplied(A, m.o, Op::none, Form::assign), twice));
}

TEST_F(DeviceHalf, InSinglePrecisionHasTheSameIntegers) {
  const Real3x3 m(700);
  const PackedMatrix A = packed(m.o, m.plan(), device());
  auto narrow = A.narrowed();
  ASSERT_TRUE(narrow);
  narrow->update_values(m.o.blocks.data());
  EXPECT_TRUE(agrees(multiplied(*narrow, m.o, Op::none, Form::assign),
                     reference_product(m.o, Precision::single, Op::none, Form::assign)));
}

TEST_F(DeviceHalf, TakesHalfOfTheMemory) {
  const Real3x3 m(20000, 13);
  const PackedMatrix half = packed(m.o, m.plan(), device()),
                     whole = packed(m.o, followed_plan<double>("csr rows"), device());
  EXPECT_LT(double(half.bytes().words), 0.56 * double(whole.bytes().words));
  const Footprint counted = bytes_of(m.pattern.view(), m.problem, m.plan(), device());
  EXPECT_EQ(counted.allocated.total(), half.bytes().total());
}

/// Blocks of 12x12 of rows that have all columns.
TEST_F(DeviceHalf, SaysWhereAPatchDoesNotFit) {
  std::vector<std::vector<idx>> all(1500);
  for (auto& row : all) {
    row.resize(1500);
    std::iota(row.begin(), row.end(), 0);
  }
  const Pattern p = pattern_of(1500, all);
  const Problem problem{{12, 12}, {}};
  std::vector<double> blocks(std::size_t(p.view().entries()) * 144, 1);
  PackedMatrix A(p.view(), problem, device_half(problem, "dense", Half::symmetric, ""), device());
  EXPECT_ERROR(A.update_values(blocks.data()), ErrorKind::argument, "288000 bytes of shared memory");
}

TEST_F(DeviceHalf, OfNothingIsNothing) {
  for (const idx rows : {0, 5}) {
    const Pattern p = pattern_of(rows, std::vector<std::vector<idx>>(rows));
    Random random;
    const Operands<double> o(p, "dense", {3, 3}, random);
    const PackedMatrix A = packed(o, device_half({{3, 3}, {}}, "dense", Half::symmetric, ""), device());
    EXPECT_EQ(multiplied(A, o, Op::none, Form::assign), std::vector<double>(3 * rows, 0));
    EXPECT_EQ(multiplied(A, o, Op::none, Form::add), o.rows_z);
  }
}

}  // namespace
}  // namespace compound::test
