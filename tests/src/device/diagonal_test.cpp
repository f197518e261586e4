#include "device/diagonal.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/blocks.hpp"
#include "support/dense_reference.hpp"

namespace compound::test {
namespace {

using C = complex_number<double>;

/// |a b - 1|, the largest of its scalars.
template <class S>
double distance_from_one(const std::vector<S>& a, const std::vector<S>& b, int n) {
  long double most = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      wide_of<S> sum{};
      for (int k = 0; k < n; ++k) sum += widened(a[i + k * n]) * widened(b[k + j * n]);
      sum -= widened(S(i == j ? 1 : 0));
      most = std::max(most, magnitude(sum));
    }
  return static_cast<double>(most);
}

/// Random, and so large on the diagonal that it is far from singular.
template <class S>
std::vector<S> regular_block(int n, Random& random) {
  auto block = random_vector<S>(std::size_t(n) * n, random);
  for (int i = 0; i < n; ++i) block[i + i * n] += S(real_of<S>(2 * n));
  return block;
}

template <class S>
void expect_inverses_of_all_sizes() {
  Random random;
  for (int n = 1; n <= 32; ++n) {
    const auto block = regular_block<S>(n, random);
    auto inverse = block;

    const bool regular = invert<32>(inverse.data(), n);

    EXPECT_TRUE(regular) << n;
    EXPECT_LE(distance_from_one(block, inverse, n), 8 * n * std::numeric_limits<real_of<S>>::epsilon()) << n;
  }
}

TEST(Invert, GivesInversesOfAllSizes) {
  expect_inverses_of_all_sizes<float>();
  expect_inverses_of_all_sizes<double>();
  expect_inverses_of_all_sizes<complex_number<float>>();
  expect_inverses_of_all_sizes<C>();
}

TEST(Invert, GivesInversesOfFewDigitsWithoutDiagonal) {
  // Rows and columns permuted at random: every pivot is elsewhere, and nothing is rounded.
  Random random;
  for (int n = 2; n <= 9; ++n) {
    std::vector<double> block(std::size_t(n) * n);
    for (int i = 0; i < n; ++i) block[(i + 1) % n + i * n] = i % 2 ? 4 : -0.5;
    auto inverse = block;

    EXPECT_TRUE(invert<9>(inverse.data(), n));

    EXPECT_EQ(distance_from_one(block, inverse, n), 0) << n;
  }
}

TEST(Invert, ComparesPivotsBeforeItDivides) {
  std::vector<double> inverse = {1e-20, 1, 1, 1};

  EXPECT_TRUE(invert<2>(inverse.data(), 2));

  EXPECT_LE(distance_from_one<double>({1e-20, 1, 1, 1}, inverse, 2), 1e-15);
}

template <class S>
bool is_regular(std::vector<S> block) {
  int n = 1;
  while (std::size_t(n) * n < block.size()) ++n;
  return invert<4>(block.data(), n);
}

TEST(Invert, TellsBlocksThatHaveNoInverse) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_regular<double>({0}));
  EXPECT_FALSE(is_regular<double>({-0.0}));
  EXPECT_FALSE(is_regular<double>({1, 2, 2, 4}));
  EXPECT_FALSE(is_regular<double>({1, 0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(is_regular<C>({C{1, 1}, C{0, 2}, C{1, -1}, C{2, 0}}));
  for (int place = 0; place < 4; ++place) {
    std::vector<double> block = {2, 1, 1, 3};
    block[place] = nan;
    EXPECT_FALSE(is_regular(block)) << place;
    block[place] = inf;
    EXPECT_FALSE(is_regular(block)) << place;
  }
  EXPECT_FALSE(is_regular<double>({1e-320}));  // its inverse is not finite
}

TEST(Invert, TakesBlocksOfVerySmallAndLargeScalars) {
  for (const double scale : {1e-290, 1e290}) {
    std::vector<C> inverse = {C{scale, scale}};
    EXPECT_TRUE(invert<1>(inverse.data(), 1));
    EXPECT_NEAR(inverse[0].re * scale, 0.5, 1e-15);
    EXPECT_NEAR(inverse[0].im * scale, -0.5, 1e-15);
  }
}

}  // namespace
}  // namespace compound::test
