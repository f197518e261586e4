// That docs/layouts.md counts what the core makes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "layout/layout.hpp"

namespace compound::bench {
namespace {

/// The example of docs/layouts.md, as docs/figures/layouts.py has it.
const Pattern example{5, 5, {0, 2, 5, 6, 10, 12}, {0, 1, 0, 1, 2, 2, 0, 2, 3, 4, 3, 4}};

/// Slots and bytes of integers that a product reads.
using Counts = std::pair<unsigned long, unsigned long>;

std::map<std::string, Counts> documented() {
  std::ifstream file(COMPOUND_DOCUMENTS "/layouts.md");
  const std::regex row(R"(\| `([^`]+)` \| (\d+) \| (\d+) \| \d+ \| \d+ \|)");
  std::map<std::string, Counts> rows;
  std::smatch found;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, found, row)) rows[found[1]] = {std::stoul(found[2]), std::stoul(found[3])};
  return rows;
}

TEST(LayoutsDocument, CountsTheExampleAsItIsEncoded) {
  const auto rows = documented();

  for (const char* name : {"csr", "bellpack:2", "sell:2:4"}) {
    const Layout layout = encode(example.view(), parse_layout(name));
    const Counts encoded{layout.slots, layout.bytes() - layout.bytes("first_entry")};
    ASSERT_TRUE(rows.contains(name)) << name;
    EXPECT_EQ(rows.at(name), encoded) << name;
  }
}

}  // namespace
}  // namespace compound::bench
