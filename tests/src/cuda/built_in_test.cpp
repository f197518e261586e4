// The machine code that is built in: all of the default plans' kernels, for every capability it was made for. No GPU
// needed.
#include "cuda/built_in.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "cuda/default_kernels.hpp"
#include "cuda/nvrtc.hpp"
#include "support/built_in_code.hpp"
#include "support/environment.hpp"

namespace compound::test {
namespace {

using cuda::built_in_cubin;
using cuda::is_built_in;

class BuiltIn : public testing::Test {
 protected:
  void SetUp() override {
    if (!capabilities_built_in().empty()) return;
    std::cout << why_nothing_built_in << std::endl;
    GTEST_SKIP() << why_nothing_built_in;
  }
  static std::vector<std::string> sources() { return cuda::default_sources(scalars_built_in().front()); }
};

TEST_F(BuiltIn, IsEveryDefaultKernelForEveryCapability) {
  const Variable named("COMPOUND_NVRTC", "/no/such/folder/libnvrtc.so");
  for (const ScalarType scalar : scalars_built_in())
    for (const std::string& source : cuda::default_sources(scalar))
      for (const int capability : capabilities_built_in()) {
        const auto code = built_in_cubin(source, capability);
        ASSERT_TRUE(code) << capability << ":\n" << source;
        EXPECT_EQ(code->substr(1, 3), "ELF") << capability << ":\n" << source;
      }
  EXPECT_EQ(cuda::compile_count(), 0);
}

TEST_F(BuiltIn, IsOfEqualSourcesOnly) {
  const std::string source = sources().front();
  const int capability = capabilities_built_in().front();

  EXPECT_TRUE(is_built_in(source, capability));
  EXPECT_FALSE(is_built_in(source + "\n", capability));
  EXPECT_EQ(built_in_cubin(source + "\n", capability), std::nullopt);
}

TEST_F(BuiltIn, RunsOnDevicesOfTheSameMajorNumberThatAreNotOlder) {
  const std::string source = sources().back();
  for (const int capability : capabilities_built_in()) {
    const auto code = built_in_cubin(source, capability);
    const int last = capability / 10 * 10 + 9;
    EXPECT_TRUE(is_built_in(source, last)) << last;
    EXPECT_EQ(built_in_cubin(source, capability + 1), code) << "none is made for " << capability + 1;
  }
  EXPECT_FALSE(is_built_in(source, 75));
  EXPECT_FALSE(is_built_in(source, 999));
}

TEST_F(BuiltIn, IsWhatNvrtcGives) {
  if (!cuda::nvrtc_version()) GTEST_SKIP() << "skipped: NVRTC (libnvrtc.so) is not on this machine";
  const auto all = sources();
  for (const std::size_t at : {std::size_t{0}, all.size() / 2, all.size() - 1}) {
    const std::string code = cuda::compile(all[at], capabilities_built_in().back());
    EXPECT_EQ(built_in_cubin(all[at], capabilities_built_in().back()), code) << all[at];
  }
}

}  // namespace
}  // namespace compound::test
