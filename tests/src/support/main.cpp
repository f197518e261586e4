// main() of the core's tests:   PROGRAM [--file=cuda/nvrtc_test ...] [GoogleTest's options]
//
// --file: the tests of these source files alone. Products are by the instruction set that COMPOUND_HOST_SIMD names.
// Exit code 77, with the reason printed, where the machine lacks that, or where every test was skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "host/instruction_set.hpp"

namespace {

constexpr int skipped = 77;
constexpr std::string_view option = "--file=";

/// GoogleTest's filter for the tests of a file; empty if there are none.
std::string tests_of(std::string_view file) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const std::string name = "/" + std::string(file);
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      const std::string_view path = test.file();
      if (path.ends_with(name + ".cpp") || path.ends_with(name + ".hpp"))  // a header of tests that programs share
        filter += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  std::string filter;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const std::string tests = argument.starts_with(option) ? tests_of(argument.substr(option.size())) : "";
    if (tests.empty()) {
      std::fprintf(stderr, "%s: no test is in a file of that name; expected --file=FOLDER/NAME_test\n", arguments[i]);
      return 2;
    }
    filter += tests;
  }
  if (!filter.empty()) testing::GTEST_FLAG(filter) = filter;
  try {
    compound::host::instruction_set_in_use();
  } catch (const compound::error& e) {
    const bool is_known = compound::host::instruction_set(std::getenv("COMPOUND_HOST_SIMD")).has_value();
    std::printf("%s: %s\n", is_known ? "skipped" : "error", e.what());
    return is_known ? skipped : 2;
  }
  if (RUN_ALL_TESTS() != 0) return 1;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  return all.skipped_test_count() > 0 && all.successful_test_count() == 0 ? skipped : 0;
}
