// Kernels from the embedded device text: compiled while the program runs, no GPU needed.
#include "cuda/nvrtc.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cuda/device_text.hpp"
#include "support/errors.hpp"

namespace compound::cuda {
namespace {

class Nvrtc : public testing::Test {
  void SetUp() override {
    if (!nvrtc_version()) GTEST_SKIP() << "skipped: NVRTC (libnvrtc.so) is not on this machine";
  }
};

TEST(DeviceText, IsTheFolderButForTheSpellingOfIncludes) {
  EXPECT_GE(device_text().size(), 10u);
  for (const DeviceFile& file : device_text()) {
    std::ifstream original(std::string(COMPOUND_DEVICE_TEXT) + "/" + file.name);
    std::istringstream embedded(file.text);
    std::string expected, line;
    while (std::getline(original, expected)) {
      ASSERT_TRUE(std::getline(embedded, line)) << file.name;
      if (expected.starts_with("#include")) continue;
      EXPECT_EQ(line, expected) << file.name;
    }
    EXPECT_FALSE(std::getline(embedded, line)) << file.name;
  }
}

TEST_F(Nvrtc, CompilesASourceThatIncludesEveryFile) {
  std::string source;
  for (const DeviceFile& file : device_text()) source += "#include \"" + std::string(file.name) + "\"\n";
  source += R"(
    using namespace compound;
    extern "C" __global__ void scale(const quaternion<double> entry, double* y) { y[threadIdx.x] *= entry.rows(); }
  )";

  const int before = compile_count();
  const std::string code = compile(source, 90);

  EXPECT_EQ(compile_count(), before + 1);
  EXPECT_EQ(code.substr(1, 3), "ELF");
  EXPECT_NE(code.find("scale"), std::string::npos);
}

TEST_F(Nvrtc, ShowsTheLogOfASourceThatDoesNotCompile) {
  EXPECT_ERROR(compile("__global__ void broken() { no_such_name; }", 90), ErrorKind::unsupported, "no_such_name");
}

TEST_F(Nvrtc, RefusesACapabilityItDoesNotKnow) {
  EXPECT_ERROR(compile("__global__ void nothing() {}", 11), ErrorKind::unsupported, "-arch");
}

}  // namespace
}  // namespace compound::cuda
