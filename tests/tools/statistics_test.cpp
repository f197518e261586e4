// Samples and what is made of them, tables and CSV, texts, estimates of memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#include "memory.hpp"
#include "record.hpp"
#include "text.hpp"

namespace compound::bench {
namespace {

TEST(Statistics, OfAnOddNumberOfSamples) {
  const Statistics s = statistics_of(std::array{5.0, 1.0, 3.0, 2.0, 4.0});

  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.least, 1);
  EXPECT_EQ(s.most, 5);
  EXPECT_DOUBLE_EQ(s.spread, 2.0 / 3);
}

TEST(Statistics, MedianOfAnEvenNumberLiesBetween) {
  EXPECT_DOUBLE_EQ(statistics_of(std::array{4.0, 1.0, 2.0, 3.0}).median, 2.5);
}

TEST(Statistics, OneSampleHasNoSpread) {
  const Statistics s = statistics_of(std::array{2.0});

  EXPECT_EQ(s.median, 2);
  EXPECT_EQ(s.spread, 0);
}

TEST(Statistics, NoSamplesAreRefused) { EXPECT_THROW(statistics_of({}), std::invalid_argument); }

TEST(Statistics, PairedRatioIgnoresWhatSlowsBothDown) {
  const std::vector<double> base = {2, 20, 200}, samples = {1, 10, 100};

  EXPECT_EQ(paired_ratio(base, samples), 2);
}

TEST(Statistics, PairedRatioNeedsEqualRounds) {
  EXPECT_THROW(paired_ratio(std::vector<double>{1, 2}, std::vector<double>{1}), std::invalid_argument);
}

TEST(PrintRows, LinesUpWhatThereIs) {
  const std::vector<Column> columns = {{"name", 0, "name"},
                                       {"ms", 6, "s", "%.1f", 1e3},
                                       {"of it", 6, "part", "%.2f", 1, "s"},
                                       {"none", 6, "none", "%.1f", 1, nullptr, true}};
  const Record rows = {
      {{"name", "first"}, {"s", 2}, {"part", 1}}, {{"name", "b"}, {"s", 0.5}}, {{"name", "c"}, {"why", "too large"}}};
  std::ostringstream out;

  print_rows(out, columns, rows);

  EXPECT_EQ(out.str(),
            "name      ms  of it\n"
            "first 2000.0   0.50\n"
            "b      500.0      -\n"
            "c     left out: too large\n");
}

TEST(WriteCsv, QuotesAndLeavesEmptyWhatThereIsNot) {
  const std::string file = testing::TempDir() + "compound_write_" + std::to_string(getpid()) + ".csv";
  constexpr CsvColumn columns[] = {{"plan", "line"}, {"seconds"}, {"count"}};

  write_csv(file, columns, {{{"line", "a, \"b\""}, {"seconds", 0.25}}, {{"line", "c"}, {"count", 3}}});

  std::ifstream in(file);
  std::remove(file.c_str());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "plan,seconds,count\n\"a, \"\"b\"\"\",0.25,\nc,,3\n");
}

TEST(StreamingSum, AddsEveryWordOnceWhateverTheLength) {
  std::vector<std::uint64_t> words(200);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 0x9e3779b97f4a7c15u;

  std::size_t wrong = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    wrong += streaming_sum(words.data(), n * 8) != expected;
    expected += words[n];
  }

  EXPECT_EQ(wrong, 0u) << streaming_sum_name();
}

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(split(" a ;b c;", ';'), (std::vector<std::string>{"a", "b c", ""}));
  EXPECT_TRUE(split("  ", ',').empty());
}

TEST(Text, NumbersMustBeWhole) {
  EXPECT_EQ(parse_number<int>("12"), 12);
  EXPECT_FALSE(parse_number<int>("12x"));
  EXPECT_FALSE(parse_number<int>(""));
}

Options of_types(std::vector<std::string> types) {
  Options o;
  o.types = std::move(types);
  return o;
}

TEST(Memory, EveryCopyCounts) {
  const CaseSize size{1000, 20000, {3, 3}};
  const double parent = 20000.0 * 9 * sizeof(PetscScalar);

  const double alone = estimated_bytes(size, of_types({"baij"}), 1);
  Options plans = of_types({"baij"});
  plans.plans = {"csr", "sell:8"};

  EXPECT_GE(alone, parent);
  EXPECT_GE(estimated_bytes(size, of_types({"baij", "aij"}), 1), alone + parent);
  EXPECT_GE(estimated_bytes(size, plans, 1), alone + 3 * parent);
  EXPECT_LE(estimated_bytes(size, plans, 1), alone + 4 * parent);
}

}  // namespace
}  // namespace compound::bench
