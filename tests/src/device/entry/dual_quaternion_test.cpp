#include "device/entry/dual_quaternion.hpp"

#include <gtest/gtest.h>

#include "support/words.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;
using Words = std::vector<double>;

Words hamilton(const Words& p, const Words& q) {
  return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
          p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}

/// (p + e q)(r + e s) = p r + e (p s + q r).
Words dual_product(const Words& a, const Words& b) {
  const Words p(a.begin(), a.begin() + 4), q(a.begin() + 4, a.end());
  const Words r(b.begin(), b.begin() + 4), s(b.begin() + 4, b.end());
  Words ab = hamilton(p, r);
  const Words ps = hamilton(p, s), qr = hamilton(q, r);
  for (int k = 0; k < 4; ++k) ab.push_back(ps[k] + qr[k]);
  return ab;
}

template <class S>
class DualQuaternion : public testing::Test {
 protected:
  static constexpr int n = dual_quaternion<S>::block_rows;
  static std::vector<S> block(const Words& words) {
    return block_of_words(dual_quaternion<S>{}, std::vector<real_of<S>>(words.begin(), words.end()));
  }
};

using DualScalars = testing::Types<double, float, C, complex_number<float>>;
TYPED_TEST_SUITE(DualQuaternion, DualScalars);

TYPED_TEST(DualQuaternion, OfOneIsTheIdentity) {
  std::vector<TypeParam> identity(this->n * this->n);
  for (int d = 0; d < this->n; ++d) identity[d * (this->n + 1)] = TypeParam(1);

  EXPECT_TRUE(this->block({1, 0, 0, 0, 0, 0, 0, 0}) == identity);
}

TYPED_TEST(DualQuaternion, DualUnitHasSquareZero) {
  const auto e = this->block({0, 0, 0, 0, 1, 0, 0, 0});

  EXPECT_TRUE(matrix_product(e, e, this->n) == std::vector<TypeParam>(e.size()));
}

TYPED_TEST(DualQuaternion, OfAProductIsTheProductOfTheBlocks) {
  Random random;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Words p = random_words(dual_quaternion<double>{}, random),
                q = random_words(dual_quaternion<double>{}, random);

    EXPECT_TRUE(matrix_product(this->block(p), this->block(q), this->n) == this->block(dual_product(p, q)))
        << seed_text();
  }
}

TYPED_TEST(DualQuaternion, HasItsRealPartTwiceAndItsDualPartBelow) {
  const auto block = this->block({2, 3, 5, 7, 11, 13, 17, 19});
  const auto real_part = block_of_words(quaternion<TypeParam>{}, {2, 3, 5, 7});
  const auto dual_part = block_of_words(quaternion<TypeParam>{}, {11, 13, 17, 19});
  constexpr int size = dual_quaternion<TypeParam>::block_rows, half = size / 2;
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i) {
      const TypeParam zero{};
      const TypeParam wanted = i / half < j / half    ? zero
                               : i / half == j / half ? real_part[i % half + j % half * half]
                                                      : dual_part[i % half + j % half * half];
      EXPECT_TRUE(block[i + j * size] == wanted) << i << ", " << j;
    }
}

TEST(DualQuaternionEntry, MultipliesAVectorAsADualQuaternionFromTheLeft) {
  const Words p = {2, 3, 5, 7, -4, 1, 6, 2}, q = {-1, 4, 6, -8, 3, -2, 9, 1};
  std::vector<double> y(8);

  dual_quaternion<double>::madd<Op::none>(words_view(dual_quaternion<double>{}, p), q.data(), y.data());

  EXPECT_EQ(y, dual_product(p, q));
}

}  // namespace
}  // namespace compound::test
