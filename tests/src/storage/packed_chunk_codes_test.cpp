// Values as codes in those chunks where all have one (`codes=chunks8`): what is beyond the products
// and diagonals that the property runner draws.
#include <gtest/gtest.h>

#include <cstring>

#include "storage/chunk_codes.hpp"
#include "support/errors.hpp"
#include "support/problems.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

Pattern diagonal(idx rows) {
  std::vector<std::vector<idx>> lists(rows);
  for (idx r = 0; r < rows; ++r) lists[r] = {r};
  return pattern_of(rows, lists);
}

std::vector<double> times_ones(const PackedMatrix& A, idx rows) {
  std::vector<double> x(rows, 1), y(rows);
  A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
  return y;
}

/// Chunks of 32 entries: of every `apart`-th one value is like no other.
std::vector<double> values_with_others(idx count, idx apart) {
  std::vector<double> all(count);
  for (idx n = 0; n < count; ++n) all[n] = n % 7 + 1;
  for (idx n = 5; n < count; n += 32 * apart) all[n] = 1000.0 + n;
  return all;
}

const Plan chunks_of_32 = parse_plan("ccoo:32:1 codes=chunks8", {});

TEST(ChunkCodes, CostAByteWhereAllOfAChunkHaveOne) {
  constexpr idx rows = 32 * 300;
  const Pattern p = diagonal(rows);
  PackedMatrix A(p.view(), real_1x1, chunks_of_32, backend("host"));
  EXPECT_EQ(A.bytes().words, 0u);

  const auto values = values_with_others(rows, 1);  // in each chunk: none has codes but those of the table's
  A.update_values(values.data());
  EXPECT_EQ(times_ones(A, rows), values);
  const std::size_t table = 256 * sizeof(double), places = 300 * sizeof(count32);
  const std::size_t with_codes = 256 - 7;  // the table has room for the first of the others
  EXPECT_EQ(A.bytes().words, table + places + 32 * with_codes + 32 * sizeof(double) * (300 - with_codes));

  const auto fewer = values_with_others(rows, 3);
  A.update_values(fewer.data());
  EXPECT_EQ(times_ones(A, rows), fewer);
  EXPECT_EQ(A.bytes().words, (7 + 100) * sizeof(double) + places + rows);
}

TEST(ChunkCodes, AreNoMoreThanWasCountedBesideTheTable) {
  const Pattern p = random_pattern(500, 400, 9, 1);
  Random random;
  const Operands<double> o(p, "dense", {2, 2}, random);
  for (const char* words : {"words=1", "words=32"}) {
    const Plan plan = parse_plan("ccoo:64:2 codes=chunks8 " + std::string(words), {});
    PackedMatrix A(p.view(), real_2x2, plan, backend("host"));
    const Footprint counted = bytes_of(p.view(), real_2x2, plan, backend("host"));
    A.update_values(o.blocks.data());
    const std::size_t chunks = (p.view().entries() + 127) / 128;
    EXPECT_EQ(A.bytes().words, counted.allocated.words + 256 * sizeof(double) + chunks * sizeof(count32));
    EXPECT_EQ(A.bytes().integers, counted.allocated.integers);
  }
}

TEST(ChunkCodes, FollowNewValuesOnEveryBackend) {
  RecordingBackend device;
  constexpr idx rows = 1000;
  const Pattern p = diagonal(rows);
  for (Backend* on : {&backend("host"), static_cast<Backend*>(&device)}) {
    PackedMatrix A(p.view(), real_1x1, chunks_of_32, *on);
    for (const idx apart : {1, 2, 5, 1000}) {
      const auto stamp = A.stamp();
      const auto values = values_with_others(rows, apart);
      A.update_values(values.data());
      EXPECT_EQ(times_ones(A, rows), values);
      EXPECT_NE(A.stamp(), stamp);
    }
  }
  EXPECT_EQ(device.allocations, device.releases);
}

TEST(ChunkCodes, AreRefusedWhereThereAreNoChunks) {
  const auto why = [](const char* line) { return applicable(parse_plan(line, {}), real_1x1).value_or(""); };
  EXPECT_EQ(why("sell:32 codes=chunks8"),
            "codes=chunks8 keeps values chunk by chunk, and layout sell has no chunks; use ccoo, or codes=scalars8");
  EXPECT_EQ(why("ccoo:32:1 codes=chunks8 words=all"),
            "codes=chunks8 needs whole groups of scalars in each chunk of 32 entries, which words=all does not "
            "give; use words=32 or words=1");
  EXPECT_EQ(why("ccoo:96:1 codes=chunks8 words=64").substr(0, 66),
            "codes=chunks8 needs whole groups of scalars in each chunk of 96 en");
  EXPECT_EQ(why("ccoo codes=chunks8 longest=3 + ccoo"),
            "codes=chunks8 is for plans of one part; use codes=scalars8 or codes=none for several");
  EXPECT_EQ(why("ccoo codes=chunks8"), "");
}

TEST(MostFrequent, AreTakenByTheirBitsAndInOrder) {
  const std::vector<double> items = {5, 0.0, 7, -0.0, 7, 9, -0.0, 7, 9};
  const auto taken = [&](std::size_t most) {
    const auto bytes = most_frequent(items.data(), static_cast<slot_t>(items.size()), sizeof(double), most);
    std::vector<double> all(bytes.size() / sizeof(double));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  };
  const std::vector<double> three = {7, -0.0, 9};
  EXPECT_TRUE(same_bits(taken(3), three));
  EXPECT_EQ(taken(256), (std::vector<double>{7, -0.0, 9, 5, 0.0}));
  EXPECT_TRUE(most_frequent(nullptr, 0, 8, 256).empty());
}

/// Frequent values are found among more words than are drawn, also where they come in the order of rows of a grid.
TEST(ChunkCodes, FindFrequentValuesBySamples) {
  constexpr idx rows = 3 << 18, chunk = 32;
  const Pattern p = diagonal(rows);
  std::vector<double> values(rows);
  for (idx n = 0; n < rows; ++n) values[n] = n < rows / 2 ? n % 192 : 1e6 + n;  // each of 192 in 1 of 384 words
  PackedMatrix A(p.view(), real_1x1, chunks_of_32, backend("host"));
  A.update_values(values.data());

  EXPECT_EQ(times_ones(A, rows), values);
  const std::size_t places = rows / chunk * sizeof(count32);
  EXPECT_EQ(A.bytes().words, 256 * sizeof(double) + places + rows / 2 * 9);
}

}  // namespace
}  // namespace compound::test
