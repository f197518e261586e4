#include "layout_slots.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace compound::bench
