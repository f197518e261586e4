// Tests on a device: what they skip where there is none, and vectors in its memory.
#pragma once

#include <cstdlib>
#include <string>

#include "../src/support/environment.hpp"
#include "petsc_test.hpp"

namespace petsc_test {

/// Why the CUDA driver finds no device, and why PETSc can use none; empty where it does. The same on all processes.
std::string why_driver_finds_none();
std::string why_no_device();

/// Skips a test; with COMPOUND_DEVICE_REQUIRED set, as where all device tests are run, it fails.
#define SKIP_OF_DEVICE(why)                                       \
  do {                                                            \
    if (std::getenv("COMPOUND_DEVICE_REQUIRED")) FAIL() << (why); \
    GTEST_SKIP() << (why);                                        \
  } while (false)

/// Ends a test early where there is no device.
#define SKIP_WITHOUT_DEVICE()                                                                          \
  do {                                                                                                 \
    if (const auto why = petsc_test::why_no_device(); !why.empty()) SKIP_OF_DEVICE("skipped: " + why); \
  } while (false)

/// While it lives, the backend's n-th allocation on the device fails, counted from now on.
inline compound::test::Variable failing_allocation(int n) {
  return {"COMPOUND_CUDA_FAIL_ALLOCATION", std::to_string(n)};
}

}  // namespace petsc_test
