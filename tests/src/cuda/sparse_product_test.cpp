// Products of sparse matrices on a device, beside those of the host.
#include <numeric>

#include "cuda/on_device.hpp"
#include "support/sparse_operands.hpp"

namespace compound::test {
namespace {

struct DeviceSparseProducts : OnDevice {
  Random random;
};

struct Sizes {
  BlockShape a;
  int width;
};

template <class S>
void check_both(Backend& on, Sizes s, const Pattern& A, const Pattern& P, Random& random) {
  SCOPED_TRACE(text_of(s.a) + " by " + std::to_string(s.width) + ", " + seed_text());
  const SparseOperand<S> a(A, s.a, random), p(P, {s.a.cols, s.width}, random),
      q(P, {s.a.rows, s.width}, random, Drawn::powers_of_two);
  EXPECT_EQ(product_on(on, a, p), host_product(a, p));
  EXPECT_EQ(galerkin_on(on, q, a, p), host_galerkin(q, a, p));
}

/// Scalars are such that sums in the same order are equal (support/sparse_operands.hpp).
TEST_F(DeviceSparseProducts, AreTheHosts) {
  const Pattern A = drawn_pattern(500, 500, 30, random), P = drawn_pattern(500, 40, 6, random);
  for (const Sizes s :
       {Sizes{{1, 1}, 1}, {{2, 2}, 2}, {{2, 2}, 3}, {{3, 3}, 3}, {{3, 3}, 6}, {{6, 6}, 6}, {{6, 6}, 3}}) {
    check_both<double>(device(), s, A, P, random);
    check_both<complex_number<double>>(device(), s, A, P, random);
  }
  check_both<float>(device(), {{3, 3}, 6}, A, P, random);
}

TEST_F(DeviceSparseProducts, OfTheZooAreTheHosts) {
  for (const ZooPattern& z : zoo()) {
    SCOPED_TRACE(std::string(z.name));
    const Pattern p = each_once(z.pattern.view()), t = transposed(p.view()).pattern;
    const SparseOperand<double> a(t, {3, 3}, random), b(p, {3, 6}, random);
    EXPECT_EQ(product_on(device(), a, b), host_product(a, b));
  }
}

/// A few rows that are far longer than what is summed up in shared memory, and all entries in them.
TEST_F(DeviceSparseProducts, OfLongRowsAreTheHosts) {
  const Pattern A = drawn_pattern(20, 3000, 900, random), B = drawn_pattern(3000, 2000, 9, random),
                square = drawn_pattern(3000, 3000, 9, random), P = drawn_pattern(3000, 600, 5, random);
  const SparseOperand<double> a(A, {3, 3}, random), b(B, {3, 6}, random), s(square, {3, 3}, random),
      p(P, {3, 6}, random), q(P, {3, 6}, random, Drawn::powers_of_two);
  EXPECT_EQ(product_on(device(), a, b), host_product(a, b));
  EXPECT_EQ(galerkin_on(device(), q, s, p), host_galerkin(q, s, p));
}

/// Scalars of all bits.
TEST_F(DeviceSparseProducts, RepeatTheirBits) {
  const Pattern A = drawn_pattern(2000, 2000, 27, random), P = drawn_pattern(2000, 60, 8, random);
  SparseOperand<double> a(A, {3, 3}, random), p(P, {3, 6}, random);
  for (auto* values : {&a.values, &p.values})
    for (double& v : *values) v = random.scalar<double>();
  const auto first = galerkin_on(device(), p, a, p), wanted = host_galerkin(p, a, p);
  double most = 0, off = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    most = std::max(most, std::abs(wanted[k]));
    off = std::max(off, std::abs(wanted[k] - first[k]));
  }
  EXPECT_LE(off, 1e-13 * most);
  for (int again = 0; again < 5; ++again) EXPECT_EQ(galerkin_on(device(), p, a, p), first);
  const auto product = product_on(device(), a, p);
  for (int again = 0; again < 5; ++again) EXPECT_EQ(product_on(device(), a, p), product);
}

}  // namespace
}  // namespace compound::test
