#include "device/entry/quaternion.hpp"

#include <gtest/gtest.h>

#include "support/words.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;
using Words = std::vector<double>;

/// Hamilton's product, from i^2 = j^2 = k^2 = ijk = -1.
Words quaternion_product(const Words& p, const Words& q) {
  return {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
          p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
}

const Words one = {1, 0, 0, 0}, minus_one = {-1, 0, 0, 0}, i = {0, 1, 0, 0}, j = {0, 0, 1, 0}, k = {0, 0, 0, 1};

/// Quaternions as blocks of reals and as blocks of complex numbers.
template <class S>
class Quaternion : public testing::Test {
 protected:
  static constexpr int n = quaternion<S>::block_rows;
  static std::vector<S> block(const Words& words) {
    return block_of_words(quaternion<S>{}, std::vector<real_of<S>>(words.begin(), words.end()));
  }
};

using Scalars = testing::Types<double, float, C, complex_number<float>>;
TYPED_TEST_SUITE(Quaternion, Scalars);

TYPED_TEST(Quaternion, OfOneIsTheIdentity) {
  std::vector<TypeParam> identity(this->n * this->n);
  for (int d = 0; d < this->n; ++d) identity[d * (this->n + 1)] = TypeParam(1);

  EXPECT_TRUE(this->block(one) == identity);
}

TYPED_TEST(Quaternion, UnitsMultiplyAsHamiltonCarvedThem) {
  const auto times = [&](const Words& p, const Words& q) {
    return matrix_product(this->block(p), this->block(q), this->n);
  };

  EXPECT_TRUE(times(i, j) == this->block(k));
  EXPECT_TRUE(times(j, k) == this->block(i));
  EXPECT_TRUE(times(k, i) == this->block(j));
  EXPECT_TRUE(times(i, i) == this->block(minus_one));
  EXPECT_TRUE(times(j, j) == this->block(minus_one));
  EXPECT_TRUE(times(k, k) == this->block(minus_one));
}

TYPED_TEST(Quaternion, OfAProductIsTheProductOfTheBlocks) {
  Random random;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Words p = random_words(quaternion<double>{}, random), q = random_words(quaternion<double>{}, random);

    EXPECT_TRUE(matrix_product(this->block(p), this->block(q), this->n) == this->block(quaternion_product(p, q)))
        << seed_text();
  }
}

TYPED_TEST(Quaternion, OfTheConjugateIsTheAdjointBlock) {
  EXPECT_TRUE(this->block({3, -4, -5, -7}) == adjoint(this->block({3, 4, 5, 7}), this->n));
}

TYPED_TEST(Quaternion, TimesItsConjugateIsItsSquaredNorm) {
  const auto block = this->block({1, 2, -4, 10});

  EXPECT_TRUE(matrix_product(block, adjoint(block, this->n), this->n) == this->block({121, 0, 0, 0}));
}

TEST(QuaternionEntry, IsTheRealBlockOfTheDesign) {
  const double a = 2, b = 3, c = 5, d = 7;
  const std::vector<double> by_rows = {a, -b, -c, -d, b, a, -d, c, c, d, a, -b, d, -c, b, a};

  const auto block = block_of_words(quaternion<double>{}, {a, b, c, d});

  EXPECT_EQ(adjoint(block, 4), by_rows);
}

TEST(QuaternionEntry, IsTheComplexBlockOfTheDesign) {
  const auto block = block_of_words(quaternion<C>{}, {2, 3, 5, 7});

  EXPECT_TRUE((block == std::vector<C>{{2, 3}, {-5, 7}, {5, 7}, {2, -3}}));
}

TEST(QuaternionEntry, MultipliesAVectorAsAQuaternionFromTheLeft) {
  const Words p = {2, 3, 5, 7}, q = {-1, 4, 6, -8};
  std::vector<double> y(4);

  quaternion<double>::madd<Op::none>(words_view(quaternion<double>{}, p), q.data(), y.data());

  EXPECT_EQ(y, quaternion_product(p, q));
}

}  // namespace
}  // namespace compound::test
