#include "device/entry/unit_quaternion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/words.hpp"

namespace compound::test {
namespace {

template <class S>
class UnitQuaternion : public testing::Test {
 protected:
  using R = real_of<S>;
  using Words = std::vector<R>;
  static constexpr R eps = std::numeric_limits<R>::epsilon();

  static std::vector<S> block(const Words& q) { return block_of_words(quaternion<S>{}, q); }
  static std::vector<S> again(const Words& q) { return block_of_words(entry, words_of_block(entry, block(q))); }
  static R part(const S& s, bool imaginary) {
    if constexpr (is_complex<S>)
      return imaginary ? s.im : s.re;
    else
      return imaginary ? R{0} : s;
  }
  static R distance(const std::vector<S>& a, const std::vector<S>& b) {
    R most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      for (const bool imaginary : {false, true})
        most = std::max(most, std::abs(part(a[i], imaginary) - part(b[i], imaginary)));
    return most;
  }
  static Words random_unit(Random& random) {
    Words q(4);
    R norm = 0;
    for (R& a : q) a = random.scalar<R>(), norm += a * a;
    for (R& a : q) a /= std::sqrt(norm);
    return q;
  }

  static constexpr unit_quaternion<S> entry{};
};

using UnitScalars = testing::Types<double, float, complex_number<double>, complex_number<float>>;
TYPED_TEST_SUITE(UnitQuaternion, UnitScalars);

TYPED_TEST(UnitQuaternion, ComesBackWithinItsTolerance) {
  Random random;
  for (int repeat = 0; repeat < 10000; ++repeat) {
    const auto q = this->random_unit(random);

    EXPECT_LE(this->distance(this->again(q), this->block(q)), 8 * this->eps) << seed_text();
    EXPECT_TRUE(block_fits(this->entry, this->block(q))) << seed_text();
  }
}

TYPED_TEST(UnitQuaternion, KeepsWhichComponentIsLargestAndEverySign) {
  using Real = real_of<TypeParam>;
  const Real h = Real(0.5), s = Real(0.1);
  for (int largest = 0; largest < 4; ++largest)
    for (int signs = 0; signs < 16; ++signs) {
      std::vector<Real> q(4, s);
      q[largest] = std::sqrt(1 - 3 * s * s);
      for (int k = 0; k < 4; ++k) q[k] *= (signs >> k) & 1 ? -1 : 1;
      EXPECT_LE(this->distance(this->again(q), this->block(q)), 8 * this->eps) << largest << ", " << signs;
      for (int k = 0; k < 4; ++k) q[k] = (signs >> k) & 1 ? -h : h;
      EXPECT_LE(this->distance(this->again(q), this->block(q)), 8 * this->eps) << "all of one size, " << signs;
    }
}

TYPED_TEST(UnitQuaternion, TakesTheFourUnitsAsTheyAre) {
  using Real = real_of<TypeParam>;
  for (int k = 0; k < 4; ++k)
    for (const Real sign : {Real(1), Real(-1)}) {
      std::vector<Real> q(4);
      q[k] = sign;

      EXPECT_TRUE(this->again(q) == this->block(q)) << k << ", " << sign;
    }
}

TYPED_TEST(UnitQuaternion, RefusesOtherLengthsOtherBlocksAndNaN) {
  using Real = real_of<TypeParam>;
  using S = TypeParam;
  const std::vector<Real> q = {Real(0.5), Real(-0.5), Real(0.5), Real(0.5)};
  auto longer = q;
  for (Real& a : longer) a *= 1 + 40 * this->eps;
  auto broken = this->block(q);
  broken[1] += S(Real(32) * this->eps);
  auto nan = this->block(q);
  nan.back() = S(std::numeric_limits<Real>::quiet_NaN());

  EXPECT_FALSE(block_fits(this->entry, this->block(longer)));
  EXPECT_FALSE(block_fits(this->entry, broken));
  EXPECT_FALSE(block_fits(this->entry, nan));
  EXPECT_FALSE(block_fits(this->entry, this->block({0, 0, 0, 0})));
}

TYPED_TEST(UnitQuaternion, MultipliesAsItsBlockDoes) {
  using S = TypeParam;
  Random random;
  const auto words = words_of_block(this->entry, this->block(this->random_unit(random)));
  const auto block = block_of_words(this->entry, words);
  const int n = this->entry.rows();
  std::vector<S> x(n), y(n);
  for (auto& s : x) s = random.whole_number<S>();

  this->entry.template madd<Op::none>(words_view(this->entry, words), x.data(), y.data());

  EXPECT_LE(this->distance(y, block_product(block, n, Op::none, x, std::vector<S>(n))), 1e4 * this->eps) << seed_text();
}

TEST(UnitQuaternionEntry, KeepsThreeWords) {
  EXPECT_EQ(unit_quaternion<double>{}.words(), 3);
  EXPECT_EQ(unit_quaternion<double>{}.word_rows(), 3);
}

}  // namespace
}  // namespace compound::test
