// Runs the tests with the instruction set that COMPOUND_HOST_SIMD names, or says why not.
#include <gtest/gtest.h>

#include <cstdio>

#include "error.hpp"
#include "host/instruction_set.hpp"

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  try {
    compound::host::instruction_set_in_use();
  } catch (const compound::error& e) {
    std::printf("[  SKIPPED ] all tests: %s\n", e.what());
    return 0;
  }
  return RUN_ALL_TESTS();
}
