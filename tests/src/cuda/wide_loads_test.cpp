// The loads and stores of products' kernels, by their PTX: as wide as entries and vectors allow, and no wider. No GPU
// needed.
#include <gtest/gtest.h>

#include <regex>

#include "cuda/kernel_source.hpp"
#include "support/nvrtc_program.hpp"
#include "support/problems.hpp"

namespace compound::test {
namespace {

std::string ptx_of(const std::string& line, const Problem& problem, bool aligned) {
  Plan base;
  base.values = problem.scalar.precision;
  const Plan plan = parse_plan(line + " threads=128 blocks=8", base);
  Program program(cuda::product_source(plan, problem, Op::none, Update::assign, false, false, aligned));
  EXPECT_TRUE(program.compile({"-arch=compute_90", "-std=c++20", "-default-device", "-I" COMPOUND_DEVICE_TEXT}))
      << program.log();
  return program.ptx();
}

/// How often an instruction is there: "ld.global.v4.f32".
auto count(const std::string& ptx, const std::string& instruction) {
  const std::regex text("\\b" + std::regex_replace(instruction, std::regex("\\."), "\\.") + "[ \t]");
  return std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), text), std::sregex_iterator());
}

TEST(WideLoads, ReadAQuaternionOfFloatsAtOnce) {
  const std::string line = "entry=quaternion sell:32 words=1 rows";
  const std::string anywhere = ptx_of(line, float_4x4, false), aligned = ptx_of(line, float_4x4, true);

  EXPECT_GT(count(anywhere, "ld.global.v4.f32"), 0);
  EXPECT_EQ(count(anywhere, "ld.global.f32"), 4 * count(anywhere, "ld.global.v4.f32")) << "x, one by one";
  EXPECT_EQ(count(anywhere, "st.global.f32"), 4);
  EXPECT_EQ(count(aligned, "ld.global.f32"), 0);
  EXPECT_EQ(count(aligned, "st.global.f32"), 0);
  EXPECT_EQ(count(aligned, "st.global.v4.f32"), 1);
}

TEST(WideLoads, PassThroughTheCachesAsTheWordsDo) {
  const std::string ptx = ptx_of("entry=quaternion sell:32 words=1 rows stream", float_4x4, true);

  EXPECT_GT(count(ptx, "ld.global.cs.v4.f32"), 0);
  EXPECT_EQ(count(ptx, "ld.global.cs.f32"), 0);
  EXPECT_EQ(count(ptx, "ld.global.v4.f32"), count(ptx, "ld.global.cs.v4.f32")) << "x";
}

/// Words stand in several places of a block, and a stream is read as often as it is asked for.
TEST(Streams, ReadEachWordOnce) {
  const std::string quaternions = ptx_of("entry=quaternion sell:32 rows stream", real_4x4, false),
                    identities = ptx_of("entry=scaled_identity sell:32 rows stream", real_4x4, false);

  EXPECT_GT(count(quaternions, "ld.global.cs.f64"), 0);
  EXPECT_EQ(count(quaternions, "ld.global.cs.f64"), count(quaternions, "ld.global.f64")) << "x";
  EXPECT_EQ(4 * count(identities, "ld.global.cs.f64"), count(identities, "ld.global.f64")) << "x";
}

TEST(WideLoads, TakeTwoDoublesAtATime) {
  const std::string ptx = ptx_of("entry=quaternion csr rows lanes=8", real_4x4, true);

  EXPECT_GT(count(ptx, "ld.global.v2.f64"), 0);
  EXPECT_EQ(count(ptx, "ld.global.f64"), 0);
  EXPECT_EQ(count(ptx, "st.global.v2.f64"), 2);
}

TEST(WideLoads, AreOfTheWidthThatBlocksAllow) {
  const std::string ptx = ptx_of("csr words=1 rows", float_2x2, true);

  EXPECT_GT(count(ptx, "ld.global.v4.f32"), 0) << "words";
  EXPECT_EQ(count(ptx, "ld.global.v2.f32"), count(ptx, "ld.global.v4.f32")) << "x";
  EXPECT_EQ(count(ptx, "st.global.v2.f32"), 1);
}

TEST(WideLoads, AreNotOfBlocksThatBeginAnywhere) {
  for (const Problem& problem : {float_3x3, real_3x3})
    for (const std::string line : {"sell:32 words=1 rows", "sell:32 rows", "csr components lanes=32"})
      EXPECT_EQ(ptx_of(line, problem, true).find("global.v"), std::string::npos) << line;
}

TEST(WideLoads, ReadPaddedEntries) {
  const std::string floats = ptx_of("sell:32 words=1:padded rows", float_3x3, true),
                    doubles = ptx_of("csr words=1:row:padded rows lanes=8", real_3x3, true);

  EXPECT_GT(count(floats, "ld.global.v4.f32"), 0);
  EXPECT_GT(count(doubles, "ld.global.v2.f64"), 0);
  EXPECT_EQ(floats.find("st.global.v"), std::string::npos) << "vectors have no padding";
}

TEST(WideLoads, ReadAComplexNumberAtOnce) {
  EXPECT_EQ(count(ptx_of("csr rows lanes=8", complex_1x1, true), "ld.global.f64"), 0);
}

}  // namespace
}  // namespace compound::test
