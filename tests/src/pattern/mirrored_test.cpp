// Both triangles of a matrix of which the upper one is given.
#include "pattern/mirrored.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

TEST(Mirrored, HasBothTriangles) {
  const Pattern upper = pattern_of(4, {{0, 2, 3}, {2}, {2, 3}, {}});
  const Mirrored m = mirrored(upper.view());
  EXPECT_EQ(m.pattern.start, (std::vector<count32>{0, 3, 4, 8, 10}));
  EXPECT_EQ(m.pattern.column, (std::vector<idx>{0, 2, 3, 2, 0, 1, 2, 3, 0, 2}));
  EXPECT_EQ(m.from, (std::vector<count32>{0, 1, 2, 3, 1, 3, 4, 5, 2, 5}));
  EXPECT_EQ(m.bytes(), (5 + 10 + 10) * 4u);
  const MirroredCounts counts = count_mirrored(upper.view());
  EXPECT_EQ(counts.entries, 10u);
  EXPECT_EQ(counts.empty_rows, 0);
  EXPECT_EQ(count_mirrored(pattern_of(3, {{1}, {}, {}}).view()).empty_rows, 1);
  EXPECT_EQ(mirrored(pattern_of(0, {}).view()).from.size(), 0u);
}

/// [[1, 2, 3], [., 4, 5], [., ., 6]] beside a block; what is below the diagonal of a diagonal block is not read.
TEST(Mirrored, ReflectsValues) {
  const Mirrored m = mirrored(pattern_of(2, {{0, 1}, {1}}).view());
  const std::vector<int> given = {1, 99, 2, 4, 10, 11, 12, 13, 5, 99, 6, 7};
  std::vector<int> all(16);
  fill_mirrored(m, 2, given.data(), all.data(), [](int a) { return -a; });
  EXPECT_EQ(all, (std::vector<int>{1, -2, 2, 4, 10, 11, 12, 13, -10, -12, -11, -13, 5, -6, 6, 7}));
}

TEST(Mirrored, RefusesWhatIsNoTriangle) {
  EXPECT_ERROR(mirrored(pattern_of(2, {{0}, {0, 1}}).view()), ErrorKind::argument, "block (1, 0) comes first");
  EXPECT_ERROR(count_mirrored(pattern_of(3, {{2}, {1}}).view()), ErrorKind::argument, "use a type that stores both");
  EXPECT_ERROR(mirrored(pattern_of(3, {{0}, {1}}).view()), ErrorKind::argument, "2 block rows and 3 block columns");
  EXPECT_ERROR(mirrored(pattern_of(2, {{1, 0}, {1}}).view()), ErrorKind::argument, "block (0, 0) comes after (0, 1)");
}

}  // namespace
}  // namespace compound::test
