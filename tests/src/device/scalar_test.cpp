#include "device/scalar.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <limits>

#include "support/random.hpp"

namespace compound::test {
namespace {

template <class T>
class ComplexNumber : public testing::Test {};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexNumber, Reals);

TYPED_TEST(ComplexNumber, HasTheMemoryOfTheStandardOne) {
  const complex_number<TypeParam> a{3, -4};

  const auto same = std::bit_cast<std::complex<TypeParam>>(a);

  EXPECT_EQ(same, std::complex<TypeParam>(3, -4));
}

TYPED_TEST(ComplexNumber, ComputesAsTheStandardOne) {
  Random random;
  for (int i = 0; i < 100; ++i) {
    const auto a = random.whole_number<complex_number<TypeParam>>(),
               b = random.whole_number<complex_number<TypeParam>>();
    const std::complex<TypeParam> sa(a.re, a.im), sb(b.re, b.im);
    auto sum = a, difference = a;

    sum += b;
    difference -= b;

    EXPECT_EQ(std::complex<TypeParam>(sum.re, sum.im), sa + sb) << seed_text();
    EXPECT_EQ(std::complex<TypeParam>(difference.re, difference.im), sa - sb) << seed_text();
    EXPECT_EQ(std::complex<TypeParam>((a * b).re, (a * b).im), sa * sb) << seed_text();
    EXPECT_EQ(std::complex<TypeParam>((a.re * b).re, (a.re * b).im), sa.real() * sb) << seed_text();
    EXPECT_EQ(std::complex<TypeParam>(conjugate(a).re, conjugate(a).im), std::conj(sa)) << seed_text();
  }
}

TYPED_TEST(ComplexNumber, EqualsOnlyIfBothPartsDo) {
  using C = complex_number<TypeParam>;

  EXPECT_TRUE((C{1, -0.0f} == C{1, 0}));
  EXPECT_FALSE((C{1, 2} == C{1, 3}));
  EXPECT_FALSE((C{1, 2} == C{0, 2}));
  EXPECT_FALSE(
      (C{std::numeric_limits<TypeParam>::quiet_NaN(), 0} == C{std::numeric_limits<TypeParam>::quiet_NaN(), 0}));
}

TYPED_TEST(ComplexNumber, IsItsOwnConjugateWhereReal) { EXPECT_EQ(conjugate(TypeParam{7}), TypeParam{7}); }

TEST(AddUnit, AddsOneMinusOneIAndMinusITimesANumber) {
  using C = complex_number<double>;
  const auto times = []<int re, int im>() {
    C sum{10, 20};
    add_unit<re, im>(sum, C{3, 4});
    return sum;
  };

  EXPECT_TRUE((times.operator()<1, 0>() == C{13, 24}));
  EXPECT_TRUE((times.operator()<-1, 0>() == C{7, 16}));
  EXPECT_TRUE((times.operator()<0, 1>() == C{6, 23}));
  EXPECT_TRUE((times.operator()<0, -1>() == C{14, 17}));
}

TEST(AddUnit, OfZeroDoesNotReadTheNumber) {
  double sum = 5;

  add_unit<0, 0>(sum, std::numeric_limits<double>::quiet_NaN());

  EXPECT_EQ(sum, 5);
}

TEST(Unroll, CallsInOrderWithCompileTimeIndices) {
  int digits = 0;

  unroll<4>([&]<int i>() {
    constexpr int known = i;
    digits = digits * 10 + known;
  });

  EXPECT_EQ(digits, 123);
}

TEST(FixedOr, IsANumberKnownNowOrCarriedAlong) {
  static_assert(slot_t(fixed_or<7>{}) == 7);
  static_assert(slot_t(fixed_or<7>{9}) == 7);
  static_assert(slot_t(fixed_or<dynamic>{9}) == 9);
}

}  // namespace
}  // namespace compound::test
