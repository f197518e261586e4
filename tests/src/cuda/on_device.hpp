// Tests that need a device.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "backend/backend.hpp"
#include "cuda/backend.hpp"

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

}  // namespace compound::test
