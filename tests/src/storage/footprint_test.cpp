// bytes_of(): what a plan takes, before anything is packed, against what is packed and against what the papers print.
#include <gtest/gtest.h>

#include "storage/packed.hpp"
#include "support/errors.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

constexpr ScalarType real_doubles{Field::real, Precision::double_};

const char* const plans[] = {
    "csr",
    "csr words=1:row",
    "csr rowlist words=32",
    "ellr words=all",
    "ellr presence words=32",
    "ellr rowlist",
    "bellpack:32",
    "sell:2",
    "sell:8:64 words=8",
    "sell:33",
    "sell:32 presence values=float",
    "sell:8:16 presence rowlist",
    "dia",
    "hdia:32",
    "hdia:64 rowlist",
    "ccoo:32",
    "ccoo:128 words=1:row values=float",
};

struct CountedZoo : testing::TestWithParam<const char*> {
  const Plan plan = parse_plan(GetParam(), {});
};
INSTANTIATE_TEST_SUITE_P(All, CountedZoo, testing::ValuesIn(plans), [](const auto& i) {
  std::string name;
  for (const char c : std::string(i.param)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST_P(CountedZoo, TakesWhatIsThenPacked) {
  for (const ZooPattern& z : zoo())
    for (const PatternLifetime lifetime : {PatternLifetime::temporary, PatternLifetime::outlives}) {
      SCOPED_TRACE(z.name);
      const Problem problem{{3, 2}, real_doubles};

      const Footprint counted = bytes_of(z.pattern.view(), problem, plan, backend("host"), lifetime);
      const PackedMatrix packed(z.pattern.view(), problem, plan, backend("host"), lifetime);

      EXPECT_EQ(counted.slots, packed.slots());
      EXPECT_EQ(counted.allocated.integers, packed.bytes().integers);
      EXPECT_EQ(counted.allocated.words, packed.bytes().words);
      EXPECT_EQ(counted.read.words, std::size_t(packed.slots()) * 6 * bytes_of(plan.values));
    }
}

/// What products read is what is allocated less what only packing reads: a first entry for each position, and an entry
/// for each slot of diagonals whose rows are in no order.
TEST(CountedParts, TakeWhatIsThenPacked) {
  for (const char* line :
       {"sell:32 longest=2 + ccoo:32", "csr longest=299 + csr",
        "ellr longest=1 values=float + sell:8 longest=3 + csr columns=8", "hdia longest=3 codes=blocks8 + sell:2:all",
        "csr codes=blocks1 longest=3 + sell:8", "ellr codes=blocks0", "ellr width=3 + ccoo:32",
        "ellr width=auto + ccoo", "sell:8 codes=blocks8 width=2 + csr longest=3 + ellr width=1 + ccoo"})
    for (const ZooPattern& z : zoo())
      for (const PatternLifetime lifetime : {PatternLifetime::temporary, PatternLifetime::outlives}) {
        SCOPED_TRACE(std::string(line) + ", " + std::string(z.name));
        const Problem problem{{3, 2}, real_doubles};
        const Plan plan = parse_plan(line, {});

        const Footprint counted = bytes_of(z.pattern.view(), problem, plan, backend("host"), lifetime);
        const PackedMatrix packed(z.pattern.view(), problem, plan, backend("host"), lifetime);

        EXPECT_EQ(counted.slots, packed.slots());
        EXPECT_EQ(counted.allocated.integers, packed.bytes().integers);
        EXPECT_EQ(counted.allocated.words, packed.bytes().words);
        EXPECT_LE(
            counted.read.integers,
            counted.allocated.integers +
                (lifetime == PatternLifetime::outlives ? z.pattern.column.size() * 4 + z.pattern.start.size() * 4 : 0));
      }
}

TEST_P(CountedZoo, ReadsAllButWhatPackingNeeds) {
  for (const ZooPattern& z : zoo()) {
    SCOPED_TRACE(z.name);
    const Layout l = encode(z.pattern.view(), plan.layout);

    const Footprint counted = bytes_of(z.pattern.view(), {{1, 1}, real_doubles}, plan, backend("host"));

    EXPECT_EQ(counted.read.integers, l.bytes() - l.bytes("first_entry") - l.bytes("entry_of"));
  }
}

/// The model problem of Barbieri et al. 2015: a 7-point grid.
Pattern seven_points(idx n) {
  Pattern p{n * n * n, n * n * n, {0}, {}};
  const idx step[] = {n * n, n, 1};
  for (idx i = 0; i < p.rows; ++i) {
    const idx at[] = {i / step[0], i / n % n, i % n};
    for (int d = 0; d < 3; ++d)
      if (at[d] > 0) p.column.push_back(i - step[d]);
    p.column.push_back(i);
    for (int d = 2; d >= 0; --d)
      if (at[d] < n - 1) p.column.push_back(i + step[d]);
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

Footprint scalars_in(const Pattern& p, const char* layout) {
  return bytes_of(p.view(), {{1, 1}, real_doubles}, parse_plan(layout, {}), backend("host"));
}

/// BAR15 Table 5, MB of 10^6: rows times 12 bytes for each slot of the longest row and 4 for its length.
struct Ellpack {
  idx rows;
  double printed;
};
TEST(BytesOf, EllpackAreThoseOfBarbieri2015) {
  for (const auto& [n, printed] : {Ellpack{50, 11.0}, {60, 19.0}, {80, 45.1}, {90, 64.2}, {100, 88.0}}) {
    const Footprint counted = scalars_in(seven_points(n), "ellr");

    const int padded_rows = (n * n * n + 31) / 32 * 32;
    EXPECT_NEAR(counted.read.total(), padded_rows * 12.0 * 7 + 4.0 * n * n * n, 8) << n;
    EXPECT_NEAR(counted.read.total() / 1e6, printed, 0.05) << n;
  }
  // nlpkkt80 and nlpkkt120: by the number of rows and the longest, 28.
  for (const auto& [rows, printed] : {Ellpack{1'062'400, 361.2}, {3'542'400, 1204.4}}) {
    std::vector<count32> start(rows + 1, 28);
    start[0] = 0;
    const std::vector<idx> column(28, 0);
    const Footprint counted =
        bytes_of({rows, rows, start, column}, {{1, 1}, real_doubles}, parse_plan("ellr", {}), backend("host"));
    EXPECT_NEAR(counted.read.total() / 1e6, printed, 0.05);
  }
}

TEST(BytesOf, SlicesAndDiagonalsOfPde100AreThoseOfBarbieri2015) {
  const Pattern p = seven_points(100);

  EXPECT_NEAR(scalars_in(p, "sell:32").read.total() / 1e6, 87.6, 0.15);
  EXPECT_DOUBLE_EQ(scalars_in(p, "dia").read.words / 1e6, 56.0);
  EXPECT_NEAR(scalars_in(p, "hdia:32").read.words / 1e6, 56.7 - 0.875, 0.4);
}

TEST(BytesOf, HalfOfThemAreThoseOfFloatWords) {
  const Pattern p = even_pattern(64, 640);
  const Problem problem{{3, 3}, real_doubles};

  const auto words = [&](const char* line) {
    return bytes_of(p.view(), problem, parse_plan(line, {}), backend("host")).read.words;
  };

  EXPECT_EQ(words("sell:32"), 640u * 9 * 8);
  EXPECT_EQ(words("sell:32 values=float"), 640u * 9 * 4);
}

/// One full row among rows of one entry.
Pattern arrow(idx rows) {
  Pattern p{rows, rows, {0}, {}};
  for (idx r = 0; r < rows; ++r) {
    if (r == rows / 2)
      for (idx c = 0; c < rows; ++c) p.column.push_back(c);
    else
      p.column.push_back(r);
    p.start.push_back(static_cast<count32>(p.column.size()));
  }
  return p;
}

std::optional<std::string> too_much(const Pattern& p, const char* line, double most) {
  return too_much_padding(p.view(), {{1, 1}, real_doubles}, parse_plan(line, {}), most);
}

TEST(Memory, IsTooMuchByWhatACopyWouldOwn) {
  const Pattern p = random_pattern(400, 400, 9, 1);
  const Problem problem{{3, 3}, real_doubles};
  const auto why = [&](const char* line, double bytes, PatternLifetime lifetime = PatternLifetime::outlives) {
    return too_much_memory(p.view(), problem, parse_plan(line, {}), backend("host"),
                           {.bytes = bytes, .lifetime = lifetime});
  };
  const double sell = double(bytes_of(p.view(), problem, parse_plan("sell:32", {}), backend("host")).allocated.total());

  EXPECT_EQ(why("sell:32", sell, PatternLifetime::temporary), std::nullopt);
  ASSERT_TRUE(why("sell:32", sell - 1, PatternLifetime::temporary));
  EXPECT_NE(why("sell:32", 1e4)->find("layout sell:32 would own 0."), std::string::npos) << *why("sell:32", 1e4);
  EXPECT_NE(why("sell:32", 1e4)->find("MB, where up to 0.01 MB are allowed"), std::string::npos);
  EXPECT_EQ(why("csr words=1:column", 0), std::nullopt) << "it lies on the caller's arrays";
  EXPECT_TRUE(why("csr words=1:column", 0, PatternLifetime::temporary));
  EXPECT_EQ(beyond({}, p.view(), problem, parse_plan("sell:32", {}), backend("host")), std::nullopt);
}

/// Patches are of a half of a square matrix, and have rows; other plans of patches cannot be counted, nor packed.
TEST(BytesOf, PatchesThatCannotBeAreAnError) {
  const Pattern wide = random_pattern(10, 400, 9, 1), high = random_pattern(400, 10, 9, 1),
                square = random_pattern(40, 40, 9, 1);
  Plan patches = parse_plan("sell:32:256 half=symmetric columns=patch", {}), without_rows = patches;
  without_rows.layout.sigma = 0;
  const auto bytes = [](const Pattern& p, const Plan& plan) {
    return bytes_of(p.view(), {{1, 1}, real_doubles}, plan, backend("host"));
  };
  EXPECT_GT(bytes(square, patches).read.total(), 0U);
  EXPECT_THROW(bytes(wide, patches), error);
  EXPECT_THROW(bytes(high, patches), error);
  EXPECT_THROW(bytes(square, without_rows), error);
}

TEST(Padding, IsTooMuchWhereOneLongRowMakesIt) {
  const Pattern p = arrow(200'000);  // 160 GB of words

  const auto why = too_much(p, "ellr", 4);

  ASSERT_TRUE(why.has_value());
  for (const char* part : {"layout ellr", "40000000000 slots for 399999 entries, 1e+05 for each", "480 GB", "up to 4",
                           "csr has no padding", "sell, bellpack"})
    EXPECT_NE(why->find(part), std::string::npos) << *why;
  EXPECT_FALSE(too_much(p, "csr", 4));
  EXPECT_FALSE(too_much(p, "ccoo:128", 4));
}

TEST(Padding, IsCountedByDiagonalsToo) {
  const Pattern p = random_pattern(3000, 3000, 6, 21);  // nearly each entry has a diagonal of its own

  EXPECT_TRUE(too_much(p, "dia", 4));
  EXPECT_FALSE(too_much(p, "sell:32", 4));
}

TEST(Padding, IsMeasuredByRatioAndBySize) {
  const Pattern p = arrow(200'000);
  const double slots = 32.0 * 200'000 + 200'000 - 32, entries = 399'999;  // in the long row's slice, and in the others

  EXPECT_TRUE(too_much(p, "sell:32", slots / entries - 1e-3));
  EXPECT_FALSE(too_much(p, "sell:32", slots / entries + 1e-3));
  EXPECT_FALSE(too_much(arrow(160'000), "sell:32", 1)) << "160,000 x 31 x 12 bytes are less than 64 MB";
}

}  // namespace
}  // namespace compound::test
