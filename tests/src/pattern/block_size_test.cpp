// detect_block_size(): the block size that takes the fewest bytes, from a sample of rows.
#include "pattern/block_size.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "storage/packed.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// What products read of compressed rows in doubles.
double bytes_in_compressed_rows(const Reblocked& r) {
  const auto bytes = [](const Pattern& p, BlockShape block) {
    EXPECT_TRUE(std::ranges::all_of(p.column, [&](idx c) { return c >= 0 && c < p.cols; })) << "columns of a sample";
    const Problem problem{block, {Field::real, Precision::double_}};
    return double(bytes_of(p.view(), problem, Plan{}, backend("host")).read.total());
  };
  double sum = bytes(r.pattern, r.block());
  for (const auto* edge : {&r.beside, &r.below})
    if (*edge) sum += bytes((*edge)->pattern, {1, 1});
  return sum;
}

BlockShape found(const Pattern& p, int from = 1) {
  return detect_block_size(p.view(), from, bytes_in_compressed_rows).block;
}

/// Full blocks at random places, no two side by side, as single scalars.
Pattern of_blocks(BlockShape block, idx rows, idx cols) {
  const Pattern blocks = random_pattern(rows, cols, 3, 17);
  Pattern p{rows * block.rows, 2 * cols * block.cols, {0}, {}};
  for (idx r = 0; r < p.rows; ++r) {
    const idx of = r / block.rows;
    for (count32 e = blocks.start[of]; e < blocks.start[of + 1]; ++e)
      for (idx j = 0; j < block.cols; ++j) {
        const idx apart = 2 * blocks.column[e] + (of + blocks.column[e]) % 2;
        p.column.push_back(apart * block.cols + j);
      }
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

TEST(DetectedBlock, IsThatOfTheMatrixForEachSize) {
  for (const BlockShape block : block_sizes_to_try())
    for (const idx rows : {300, 4003})  // all rows, and a sample of them: quarters that begin within a block
      EXPECT_EQ(found(of_blocks(block, rows, 4 * rows)), block) << text_of(block) << ", " << rows << " block rows";
}

TEST(DetectedBlock, IsTheGivenOneWhereBlocksWouldBeFilledWithZeros) {
  const Pattern scattered = random_pattern(5000, 5000, 5, 12);

  EXPECT_EQ(found(scattered), (BlockShape{1, 1}));
  EXPECT_EQ(found(pattern_of(9, {{}, {}, {}, {1, 7}, {}, {}, {}, {}, {0}})), (BlockShape{1, 1}));
  EXPECT_EQ(found(pattern_of(0, {})), (BlockShape{1, 1}));
  EXPECT_EQ(found(scattered, 3), (BlockShape{3, 3}));
}

TEST(DetectedBlock, IsMadeOfTheGivenOnes) {
  const Pattern fours = of_blocks({2, 2}, 300, 900);  // of blocks of 2: 4 x 4

  EXPECT_EQ(found(fours, 2), (BlockShape{4, 4}));
  EXPECT_EQ(found(fours, 5), (BlockShape{5, 5})) << "no other size is made of 5";
}

/// A chain of nodes of 3 unknowns, every ninth with 2.
Pattern partly_clamped_chain(idx nodes) {
  std::vector<std::vector<idx>> rows;
  std::vector<idx> first{0};
  for (idx node = 0; node < nodes; ++node) first.push_back(first.back() + (node % 9 == 8 ? 2 : 3));
  for (idx node = 0; node < nodes; ++node)
    for (idx k = first[node]; k < first[node + 1]; ++k) {
      rows.emplace_back();
      for (idx c = first[std::max(node - 1, 0)]; c < first[std::min(node + 2, nodes)]; ++c) rows.back().push_back(c);
    }
  return pattern_of(first.back(), rows);
}

TEST(DetectedBlock, IsThatOfNodesOfWhichSomeAreShort) {
  for (const idx nodes : {200, 3000}) EXPECT_EQ(found(partly_clamped_chain(nodes)), (BlockShape{3, 3})) << nodes;
}

TEST(DetectedBlock, IsFoundFromOnePerCentOfTheRows) {
  const Pattern p = of_blocks({3, 3}, 200'000, 1000);
  idx most_rows = 0;

  const DetectedBlock n = detect_block_size(p.view(), 1, [&](const Reblocked& r) {
    most_rows = std::max(most_rows, r.rows.all_scalars());
    return bytes_in_compressed_rows(r);
  });

  EXPECT_EQ(n.block, (BlockShape{3, 3}));
  EXPECT_LE(most_rows, p.rows / 100);
  EXPECT_GE(most_rows, p.rows / 100 - 840);
  EXPECT_NEAR(n.bytes / n.bytes_as_given, 76.0 / 108, 0.03);
}

}  // namespace
}  // namespace compound::test
