// mhd1280b of MSF20 itself: the memory of its padded layouts against Table 9.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "layout/layout.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

std::filesystem::path data_folder() {
  const char* given = std::getenv("COMPOUND_DATA");
  return given ? given : COMPOUND_TEST_DATA;
}

/// Text of a file compressed by xz; empty if xz cannot be run or fails.
std::string decompressed(const std::filesystem::path& file) {
  FILE* const pipe = popen(("xz -dc '" + file.string() + "' 2>/dev/null").c_str(), "r");
  if (!pipe) return {};
  std::string text;
  char part[1 << 16];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  return WEXITSTATUS(pclose(pipe)) == 0 ? text : std::string();
}

/// Pattern of a Hermitian matrix in Matrix Market form, both triangles.
Pattern hermitian_pattern(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  do std::getline(lines, line);
  while (lines && line.starts_with('%'));
  idx rows = 0, cols = 0;
  std::istringstream(line) >> rows >> cols;
  std::vector<std::vector<idx>> lists(rows);
  while (std::getline(lines, line)) {
    idx i = 0, j = 0;
    if (!(std::istringstream(line) >> i >> j)) continue;
    lists[i - 1].push_back(j - 1);
    if (i != j) lists[j - 1].push_back(i - 1);
  }
  return pattern_of(cols, lists);
}

double to_one_decimal(double v) { return std::round(v * 10) / 10; }

constexpr int words = 2;
constexpr std::size_t word_bytes = 8;

TEST(Mhd1280b, TakesTheMemoryThatTable9Says) {
  const auto file = data_folder() / "matrices" / "mhd1280b.mtx.xz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there; set COMPOUND_DATA to the data folder";
  const std::string text = decompressed(file);
  if (text.empty()) GTEST_SKIP() << "xz could not read " << file << "; install xz-utils";
  const Pattern p = hermitian_pattern(text);
  ASSERT_EQ(p.rows, 1280);
  ASSERT_EQ(p.view().entries(), 22'778u);

  // The papers' padded form has row lengths and no starts, its sliced form starts and no row lengths.
  const auto bytes = [&](const char* layout, const char* rows) {
    const Layout l = encode(p.view(), parse_layout(layout));
    return static_cast<double>(l.bytes(rows) + l.bytes("column") + l.slots * words * word_bytes);
  };
  const double csr = bytes("csr", "start");

  EXPECT_DOUBLE_EQ(to_one_decimal(csr / 1024), 449.9);
  EXPECT_DOUBLE_EQ(to_one_decimal(bytes("ellr", "length") / csr), 1.8);
  EXPECT_DOUBLE_EQ(to_one_decimal(bytes("sell:16", "start") / csr), 1.5);
  EXPECT_DOUBLE_EQ(to_one_decimal(bytes("sell:32", "start") / csr), 1.7);
}

}  // namespace
}  // namespace compound::test
