// -help and docs/reference/options.md tell the same about every option.
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "compare.hpp"

namespace {

using namespace petsc_test;

std::string printed;

PetscErrorCode collect(MPI_Comm, const char format[], ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  printed += text;
  return PETSC_SUCCESS;
}

/// What -help prints when a matrix of the tested type, which was made with `options`, reads its options once more.
/// PETSc prints the help of each prefix once.
std::string help(const std::string& options, const char* prefix) {
  const auto A = empty_matrix(tested_type(), options, spread(2, 3, 3));
  const auto usual = PetscHelpPrintf;
  PetscHelpPrintf = collect;
  printed.clear();
  PETSC_OK(MatSetOptionsPrefix(A, prefix));
  PETSC_OK(PetscOptionsSetValue(nullptr, "-help", nullptr));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(PetscOptionsClearValue(nullptr, "-help"));
  PetscHelpPrintf = usual;
  return printed;
}

struct Row {
  std::string option, values;
};

/// Rows "| `-name` | what it does |" of the page of options, from where its table of matrices begins to the next blank
/// line.
std::vector<Row> table_of_page() {
  std::ifstream page(COMPOUND_SOURCE_DIR "/docs/reference/options.md");
  std::string line;
  std::vector<Row> rows;
  while (std::getline(page, line) && line.find("made by make_reference.py: matrix options") == std::string::npos)
    continue;
  while (std::getline(page, line) && !line.empty()) {
    const auto name = line.find("`-"), end = line.find("` | ");
    if (name == std::string::npos || end == std::string::npos) continue;
    rows.push_back({line.substr(name + 2, end - name - 2), line.substr(end + 4, line.rfind(" |") - end - 4)});
  }
  return rows;
}

/// Options may begin alike: a blank or a colon ends the word.
std::string line_with(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(word + " ") != std::string::npos || line.find(word + ":") != std::string::npos) return line;
  return "";
}

TEST(Help, SaysOfEveryOptionWhatItsPageSays) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  const auto rows = table_of_page();

  const auto text = help("", "help_");

  ASSERT_FALSE(rows.empty()) << "no table of options in docs/reference/options.md";
  for (const auto& row : rows)
    EXPECT_NE(line_with(text, row.option).find(row.values), std::string::npos)
        << "-help says of " << row.option << ": " << line_with(text, row.option) << "\nthe page: " << row.values;
  std::size_t listed = 0;
  for (auto at = text.find("mat_compound_"); at != std::string::npos; at = text.find("mat_compound_", at + 1)) ++listed;
  EXPECT_EQ(listed, rows.size()) << text;
}

/// The default first: it is not asked for.
const std::pair<const char*, std::vector<const char*>> values_of[] = {
    {"entry_file", {""}},
    {"backend", {"auto", "petsc", "host"}},
    {"block_size", {"auto", "find", "3", "4x2"}},
    {"entry", {"auto", "dense"}},
    {"layout", {"auto", "sell:8"}},
    {"memory_limit", {"none", "0", "0.1"}},
    {"padding_limit", {"4", "none", "1.5"}},
    {"plan", {"", "sell:8:16"}},
    {"precision", {"double", "single"}},
    {"transpose", {"copy", "shared"}},
    {"tune", {"off", "model", "wisdom", "measure", "exhaustive"}},
    {"wisdom", {"auto", "none", "a/file"}},
    {"exchange_patience", {"30", "none", "300"}},
    {"tune_seconds", {"10", "none", "0.5"}},
    {"tune_score", {"time", "bytes:0.25"}},
    {"tune_libraries", {"none", "cusparse"}},
    {"expected_products", {"unknown", "1000000"}},
};

TEST(Help, SaysWhatWasAskedForBefore) {
  if (!tested_is_compound()) GTEST_SKIP() << "for compound types only";
  int count = 0;
  for (const auto& [option, values] : values_of) {
    for (const char* value : values) {
      const std::string name = std::string("mat_compound_") + option;
      const std::string asked_for = value == values.front() ? "" : "-" + name + " " + value;

      const auto text = help(asked_for, ("again" + std::to_string(count++) + "_").c_str());

      EXPECT_NE(line_with(text, name).find(std::string("formerly ") + value + ">"), std::string::npos) << text;
    }
  }
}

}  // namespace
