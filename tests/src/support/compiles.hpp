// Kernels through NVRTC, without a GPU: whether they compile.
//
// COMPOUND_TEST_KERNELS names a folder that keeps what was compiled, by its content, from run to run. Where it names
// none, the tier quick compiles a part of the cases.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "cuda/cubin_cache.hpp"
#include "cuda/nvrtc.hpp"
#include "support/tier.hpp"

namespace compound::test {

/// Empty where no folder is named.
inline std::string kernels_folder() {
  const char* const named = std::getenv("COMPOUND_TEST_KERNELS");
  return named ? named : "";
}

/// Whether every case is compiled: there is time, or they are kept.
inline bool all_kernels_compile() { return tier_is_all() || !kernels_folder().empty(); }

/// Each source once: many cases share kernels.
inline void expect_compiles(const std::string& source) {
  static std::set<std::string> compiled;
  if (!compiled.insert(source).second) return;
  static const bool is_kept =
      !kernels_folder().empty() && setenv("COMPOUND_CUDA_CACHE", kernels_folder().c_str(), 1) == 0;
  EXPECT_NO_THROW(is_kept ? cuda::cubin_of(source, 90) : cuda::compile(source, 90)) << source;
}

/// For kernels of many that differ little: in the tier quick every third call compiles.
inline void expect_third_compiles(const std::string& source) {
  static int calls = 0;
  if (calls++ % 3 == 0 || all_kernels_compile()) expect_compiles(source);
}

/// Skips, with the reason, where there is no NVRTC.
class ByNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::nvrtc_version()) return;
    std::cout << "skipped: there is no NVRTC here" << std::endl;
    GTEST_SKIP() << "there is no NVRTC here";
  }
};

}  // namespace compound::test
