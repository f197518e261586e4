// mhd1280b and the bunny of MSF20 themselves: the memory of their layouts against Table 9.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "storage/packed.hpp"
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

/// Pattern of a surface's vertices, each with itself and its neighbours: text of an OFF file.
Pattern pattern_of_surface(const std::string& text) {
  std::istringstream file(text);
  std::string word;
  idx vertices = 0, faces = 0, edges = 0;
  file >> word >> vertices >> faces >> edges;
  for (idx v = 0; v < 3 * vertices; ++v) file >> word;
  std::vector<std::set<idx>> neighbours(vertices);
  for (idx v = 0; v < vertices; ++v) neighbours[v].insert(v);
  for (idx f = 0, corners = 0; f < faces && file >> corners; ++f) {
    std::vector<idx> of_face(corners);
    for (idx& v : of_face) file >> v;
    for (const idx a : of_face) neighbours[a].insert(of_face.begin(), of_face.end());
  }
  std::vector<std::vector<idx>> rows;
  for (const auto& n : neighbours) rows.emplace_back(n.begin(), n.end());
  return pattern_of(vertices, rows);
}

double one_decimal(double v) { return std::round(v * 10) / 10; }

/// What one of the papers' matrices is, and what Table 9 says of its layouts.
struct Table9Row {
  const char* file;
  Pattern (*read)(const std::string& text);
  idx rows;
  count32 entries;
  const char* entry;
  BlockShape block;  ///< as a real matrix
  double csr, unit;
  std::vector<std::pair<const char*, double>> over_csr;
};

void PrintTo(const Table9Row& m, std::ostream* out) { *out << m.file; }

const Table9Row matrices[] = {
    {"matrices/mhd1280b.mtx.xz",
     hermitian_pattern,
     1280,
     22'778,
     "complex",
     {2, 2},
     449.9,
     1024,
     {{"ellr", 1.8}, {"sell:16", 1.5}, {"sell:32", 1.7}}},
    {"surface/bunny_34834.off.xz",
     pattern_of_surface,
     34'834,
     243'410,
     "quaternion",
     {4, 4},
     8.5,
     1024 * 1024,
     {{"ellr", 1.7}, {"sell:16", 1.1}, {"sell:32", 1.2}, {"csr entry=dense", 3.6}}},
};

struct Table9 : testing::TestWithParam<Table9Row> {};
INSTANTIATE_TEST_SUITE_P(MSF20, Table9, testing::ValuesIn(matrices),
                         [](const auto& i) { return std::string(i.param.entry); });

TEST_P(Table9, IsCountedBeforePacking) {
  const Table9Row& m = GetParam();
  const auto file = data_folder() / m.file;
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there; set COMPOUND_DATA to the data folder";
  const std::string text = decompressed(file);
  if (text.empty()) GTEST_SKIP() << "xz could not read " << file << "; install xz-utils";
  const Pattern p = m.read(text);
  ASSERT_EQ(p.rows, m.rows);
  ASSERT_EQ(p.view().entries(), m.entries);

  const auto bytes = [&](const std::string& line) {
    const Plan base = parse_plan("csr entry=" + std::string(m.entry), {});
    const Problem problem{m.block, {Field::real, Precision::double_}};
    return double(bytes_of(p.view(), problem, parse_plan(line, base), backend("host")).read.total());
  };

  EXPECT_DOUBLE_EQ(one_decimal(bytes("csr") / m.unit), m.csr);
  for (const auto& [line, times] : m.over_csr) {
    // The papers' slices compute their padding: they read no lengths of rows, as ours do.
    const double lengths = std::string(line).starts_with("sell") ? 4.0 * m.rows : 0;
    EXPECT_DOUBLE_EQ(one_decimal((bytes(line) - lengths) / bytes("csr")), times) << line;
  }
}

}  // namespace
}  // namespace compound::test
