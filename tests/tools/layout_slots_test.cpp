#include "layout_slots.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "block_rows.hpp"
#include "layout/layout.hpp"

namespace compound::bench {
namespace {

Pattern pattern_of(const Generated& matrix) {
  const BlockRows rows = generated_rows(matrix, 0, matrix.rows());
  Pattern p;
  p.rows = p.cols = static_cast<idx>(matrix.rows());
  p.start.assign(rows.start.begin(), rows.start.end());
  p.column.assign(rows.column.begin(), rows.column.end());
  return p;
}

TEST(SlotsOf, AreThoseOfTheEncodedLayout) {
  const Pattern patterns[] = {pattern_of({Grid(find_grid("7"), 6), Shuffle(216, 1, 1), {}}),
                              pattern_of({Grid(find_grid("15"), 5), Shuffle(125, 125, 1), {3, 4}}),
                              pattern_of({Grid(find_grid("kkt"), 2), Shuffle(40, 1, 1), {}}),
                              {0, 0, {0}, {}},
                              {3, 3, {0, 0, 0, 0}, {}}};
  for (const char* text : {"csr", "ellr", "bellpack:32", "bellpack:64", "sell:8", "sell:32", "sell:32:64", "sell:8:all",
                           "dia", "hdia:32", "hdia:64"})
    for (const Pattern& p : patterns) {
      const LayoutSpec spec = parse_layout(text);
      EXPECT_EQ(slots_of(p.view(), spec), encode(p.view(), spec).slots) << text << ", " << p.rows << " rows";
    }
}

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
