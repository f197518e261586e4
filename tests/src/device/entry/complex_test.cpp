#include "device/entry/complex.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "support/words.hpp"

namespace compound::test {
namespace {

using Words = std::vector<double>;

std::vector<double> block(const Words& words) { return block_of_words(complex_entry<double>{}, words); }

Words complex_product(const Words& p, const Words& q) {
  const auto pq = std::complex<double>(p[0], p[1]) * std::complex<double>(q[0], q[1]);
  return {pq.real(), pq.imag()};
}

TEST(ComplexEntry, IsTheBlockOfTheDesign) {
  // [[a, -b], [b, a]], column by column.
  EXPECT_EQ(block({3, 4}), (std::vector<double>{3, 4, -4, 3}));
}

TEST(ComplexEntry, OfOneIsTheIdentity) { EXPECT_EQ(block({1, 0}), (std::vector<double>{1, 0, 0, 1})); }

TEST(ComplexEntry, OfIIsASquareRootOfMinusOne) {
  EXPECT_EQ(matrix_product(block({0, 1}), block({0, 1}), 2), block({-1, 0}));
}

TEST(ComplexEntry, OfAProductIsTheProductOfTheBlocks) {
  Random random;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Words p = random_words(complex_entry<double>{}, random), q = random_words(complex_entry<double>{}, random);

    EXPECT_EQ(matrix_product(block(p), block(q), 2), block(complex_product(p, q))) << seed_text();
  }
}

TEST(ComplexEntry, OfTheConjugateIsTheTransposedBlock) { EXPECT_EQ(block({3, -4}), adjoint(block({3, 4}), 2)); }

}  // namespace
}  // namespace compound::test
