// Tests that need a device.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "backend/backend.hpp"
#include "cuda/backend.hpp"
#include "planner/default_plan.hpp"
#include "support/problems.hpp"

namespace compound::test {

/// Skips, with the reason printed, where there is no device.
class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_cuda();
    if (why.empty()) return;
    if (std::getenv("COMPOUND_DEVICE_REQUIRED")) FAIL() << why;
    std::cout << "skipped: " << why << std::endl;
    GTEST_SKIP() << why;
  }
  static Backend& device() { return backend("cuda"); }
};

/// A line of a plan, and of a device's default plan what it leaves open.
inline Plan plan_on_device(std::string_view line) {
  return parse_plan(line, default_plan(PatternStatistics{}, real_3x3, "cuda"));
}

}  // namespace compound::test
