// The model of Choi, Singh and Vuduc 2010 by the paper's equations.
#include "choi.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace compound::bench::tune {
namespace {

constexpr ChoiKernel kernel{
    .multiprocessors = 10, .at_once = 4, .first_s = 100, .first_block_s = 7, .next_block_s = 5, .held_s = 2};

TEST(ChoiKernel, IsEquation3WhereOneIterationDoesIt) {
  EXPECT_DOUBLE_EQ(kernel.seconds(1, 3), 100 + 7 * 3);
  EXPECT_DOUBLE_EQ(kernel.seconds(10, 3), 100 + 7 * 3) << "one block of threads on each multiprocessor";
  EXPECT_DOUBLE_EQ(kernel.seconds(11, 3), 100 + 7 * 3 + 2 * 3);
  EXPECT_DOUBLE_EQ(kernel.seconds(40, 3), 100 + 7 * 3 + 2 * 3 * 3);
}

TEST(ChoiKernel, IsEquation21WhereThereAreSeveral) {
  const double first = 100 + 7 * 3 + 2 * 3 * 3, whole = 5 * 3 + 2 * 3 * 3;
  EXPECT_DOUBLE_EQ(kernel.seconds(41, 3), first + 5 * 3);
  EXPECT_DOUBLE_EQ(kernel.seconds(51, 3), first + 5 * 3 + 2 * 3);
  EXPECT_DOUBLE_EQ(kernel.seconds(80, 3), first + whole) << "the last iteration is full";
  EXPECT_DOUBLE_EQ(kernel.seconds(121, 3), first + 2 * whole + 5 * 3);
}

TEST(ChoiKernel, HasTheParametersOfItsCalibration) {
  const auto phi = [](int blocks, int columns) { return kernel.seconds(10 * blocks, columns); };

  const ChoiKernel found = calibrated(10, 4, 16, phi);

  // The paper takes the time of one column for what is there without any.
  EXPECT_DOUBLE_EQ(found.first_s, 107);
  EXPECT_NEAR(found.first_block_s, 7 * 15 / 16.0, 1e-12);
  EXPECT_NEAR(found.next_block_s, 5, 1e-12);
  EXPECT_NEAR(found.held_s, 2, 1e-12);
}

TEST(ChoiKernel, NeedsNoSecondBlockOfThreads) {
  const ChoiKernel found = calibrated(10, 1, 16, [](int blocks, int) { return double(blocks); });

  EXPECT_EQ(found.held_s, 0);
  EXPECT_TRUE(std::isfinite(found.seconds(1000, 5)));
}

}  // namespace
}  // namespace compound::bench::tune
