// Values as codes into a dictionary (`codes=`): what is beyond the products and diagonals that the property
// runner draws.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/errors.hpp"
#include "support/problems.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// A diagonal matrix of 1x1 blocks.
struct Diagonal {
  explicit Diagonal(idx rows) : pattern(pattern_of(rows, lists(rows))) {}
  static std::vector<std::vector<idx>> lists(idx rows) {
    std::vector<std::vector<idx>> all(rows);
    for (idx r = 0; r < rows; ++r) all[r] = {r};
    return all;
  }
  std::vector<double> times_ones(const PackedMatrix& A) const {
    std::vector<double> x(pattern.cols, 1), y(pattern.rows);
    A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
    return y;
  }
  Pattern pattern;
};

/// 0, 1, ..., each `times` times.
std::vector<double> numbers(std::size_t count, int times = 1) {
  std::vector<double> all(count);
  for (std::size_t n = 0; n < count; ++n) all[n] = static_cast<double>(n / times);
  return all;
}

const auto every_code = testing::Values("codes=scalars8", "codes=blocks8", "codes=blocks16");
const auto codes_without_bytes = testing::Values("codes=blocks0", "codes=blocks1");

class Codes : public testing::TestWithParam<const char*> {
 protected:
  const ValueCode& code() const { return value_code(std::string_view(GetParam()).substr(6)); }
  Plan plan(std::string layout = "csr") const { return parse_plan(layout + " " + GetParam(), {}); }
};
INSTANTIATE_TEST_SUITE_P(All, Codes, every_code, [](const auto& p) { return std::string(p.param).substr(6); });

TEST_P(Codes, FollowNewValues) {
  RecordingBackend device;
  for (Backend* on : {&backend("host"), static_cast<Backend*>(&device)}) {
    const Diagonal d(200);
    for (const char* layout : {"sell:32", "hdia:32"}) {
      PackedMatrix A(d.pattern.view(), real_1x1, plan(layout), *on);
      for (const int times : {1, 3, 7, 64}) {
        const auto values = numbers(200, times);
        A.update_values(values.data());
        EXPECT_EQ(d.times_ones(A), values) << layout;
      }
    }
  }
}

TEST_P(Codes, RefuseMoreValuesThanTheyHaveAndKeepTheOld) {
  const Diagonal d(static_cast<idx>(code().most + 1));
  PackedMatrix A(d.pattern.view(), real_1x1, plan(), backend("host"));
  auto values = numbers(code().most + 1, 2);
  A.update_values(values.data());
  const auto more = numbers(code().most + 1);

  EXPECT_ERROR(A.update_values(more.data()), ErrorKind::argument,
               std::string(GetParam()) + " has room for " + std::to_string(code().most) + " different ");
  EXPECT_EQ(d.times_ones(A), values);

  values = more;
  values.back() = 0;  // as many as there is room for
  A.update_values(values.data());
  EXPECT_EQ(d.times_ones(A), values);
}

TEST_P(Codes, CostAByteOrTwoAndTheDictionary) {
  const Diagonal d(4096);
  PackedMatrix A(d.pattern.view(), real_1x1, plan(), backend("host"));
  const auto values = numbers(4096, 64);  // 64 different
  A.update_values(values.data());

  EXPECT_GE(A.bytes().words, 4096 * code().bytes);
  EXPECT_LE(A.bytes().words, 4096 * code().bytes + 2 * 64 * sizeof(double));
}

/// Of a block alone, and of one of two.
class FewBlocks : public Codes {
 protected:
  /// The blocks in turn, [rows][cols] each.
  std::vector<double> values(count32 entries, std::size_t size) const {
    std::vector<double> all;
    for (count32 e = 0; e < entries; ++e)
      for (std::size_t k = 0; k < size; ++k) all.push_back(e % code().most == 0 ? 1 : -1.5 * double(k + 1));
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(All, FewBlocks, codes_without_bytes,
                         [](const auto& p) { return std::string(p.param).substr(6); });

TEST_P(FewBlocks, TakeNoMemoryForValuesAndLeaveThePatternAsItIs) {
  const Pattern p = random_pattern(300, 200, 9, 1);
  const Pattern before = p;
  const auto blocks = values(p.view().entries(), 4);
  for (const char* layout : {" csr", " sell:32", " csr longest=4 + sell:8", " ellr width=4 + csr"}) {
    const Plan here = parse_plan(GetParam() + std::string(layout), {});
    PackedMatrix A(p.view(), real_2x2, here, backend("host"), PatternLifetime::outlives);
    EXPECT_EQ(A.bytes().words, 0u);
    A.update_values(blocks.data());
    EXPECT_LE(A.bytes().words, 2 * code().most * 4 * sizeof(double));
    EXPECT_EQ(p.column, before.column) << "columns with a bit must not be the caller's";
  }
}

TEST_P(FewBlocks, RefuseOneMoreAndKeepTheOld) {
  const Diagonal d(50);
  RecordingBackend device;
  for (Backend* on : {&backend("host"), static_cast<Backend*>(&device)}) {
    PackedMatrix A(d.pattern.view(), real_1x1, plan(), *on);
    auto old = values(50, 1), more = old;
    A.update_values(old.data());
    more[17] = 4;
    EXPECT_ERROR(A.update_values(more.data()), ErrorKind::argument,
                 std::string(GetParam()) + " has room for " + std::to_string(code().most) +
                     (code().most == 1 ? " different block" : " different blocks") +
                     " and the matrix has more; use codes=none or codes=blocks16");
    EXPECT_EQ(d.times_ones(A), old);
    for (double& v : old) v = 2 - v;
    A.update_values(old.data());
    EXPECT_EQ(d.times_ones(A), old);
  }
}

TEST_P(FewBlocks, FollowBlocksThatChangePlaces) {
  const Diagonal d(50);
  RecordingBackend device;
  for (Backend* on : {&backend("host"), static_cast<Backend*>(&device)}) {
    PackedMatrix A(d.pattern.view(), real_1x1, plan(), *on);
    auto turns = values(50, 1), halves = turns;
    for (std::size_t row = 0; row < halves.size(); ++row) halves[row] = row < 25 ? turns[0] : turns[1];
    for (const auto& now : {turns, halves, turns}) {
      A.update_values(now.data());
      EXPECT_EQ(d.times_ones(A), now);
    }
  }
}

TEST(CodesWithoutBytes, NeedABitOfTheColumnWhereTheyAreTwo) {
  for (const char* layout : {"ccoo", "hdia", "dia"}) {
    const std::string why = applicable(parse_plan(std::string(layout) + " codes=blocks1", {}), real_1x1).value_or("");
    EXPECT_EQ(why, "codes=blocks1 are in the highest bit of a column of 32 bits, which layout " + std::string(layout) +
                       " does not have");
    EXPECT_EQ(applicable(parse_plan(std::string(layout) + " codes=blocks0", {}), real_1x1).value_or(""), "");
  }
  EXPECT_EQ(applicable(parse_plan("csr columns=16 codes=blocks1", {}), real_1x1).value_or(""),
            "codes=blocks1 are in the highest bit of a column of 32 bits, which layout csr has by columns=32 alone");
}

TEST(CodeItems, NumbersThemByTheirFirstPlace) {
  const std::vector<double> items = {5, 7, 5, -1, 7, 9};
  std::vector<std::uint8_t> codes(items.size());
  const auto distinct = code_items(value_code("blocks8"), items.data(), 6, sizeof(double), codes.data());

  EXPECT_EQ(codes, (std::vector<std::uint8_t>{0, 1, 0, 2, 1, 3}));
  ASSERT_TRUE(distinct && distinct->size() == 4 * sizeof(double));
  const double wanted[] = {5, 7, -1, 9};
  EXPECT_EQ(std::memcmp(distinct->data(), wanted, sizeof wanted), 0);
}

TEST(CodeItems, TellsItemsApartByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> items = {0.0, -0.0, nan, -nan, nan, 0.0};
  std::vector<std::uint16_t> codes(items.size());
  ASSERT_TRUE(code_items(value_code("blocks16"), items.data(), 6, sizeof(double), codes.data()));

  EXPECT_EQ(codes, (std::vector<std::uint16_t>{0, 1, 2, 3, 2, 0}));
}

TEST(CodeItems, TakesNone) {
  const auto distinct = code_items(value_code("scalars8"), nullptr, 0, 4, nullptr);
  ASSERT_TRUE(distinct);
  EXPECT_TRUE(distinct->empty());
}

TEST(CodesOfAPlan, AreRefusedWithGroupsOfWordsWhereTheyStandForBlocks) {
  EXPECT_EQ(to_string(parse_plan("sell:32 codes=blocks8", {})).find("words=1:column"),
            std::string("entry=dense sell:32 ").size());
  EXPECT_EQ(applicable(parse_plan("sell:32 codes=blocks8 words=32", {}), real_1x1).value_or(""),
            "codes=blocks8 reads the scalars of a block together: use words=1");
  EXPECT_EQ(applicable(parse_plan("sell:32 codes=scalars8 words=32", {}), real_1x1).value_or(""), "");
  EXPECT_ERROR(parse_plan("csr codes=bytes", {}), ErrorKind::argument,
               "codes=bytes; choose none, blocks0, blocks1, scalars8, chunks8, blocks8, blocks16");
}

}  // namespace
}  // namespace compound::test
