// Plans of several parts: their lines, and which entries of a pattern go where.
#include "plan/partition.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

const Plan device_base = parse_plan("csr threads=128 blocks=8 stream", {});

TEST(PlanOfParts, HasALayoutAndAScheduleEach) {
  const Plan plan =
      parse_plan("sell:32 longest=64 columns=16 words=8 + longest=1000 csr lanes=8 + ccoo:64", device_base);
  ASSERT_EQ(plan.later.size(), 2u);
  EXPECT_EQ(plan.longest, 64);
  EXPECT_EQ(plan.later[0].longest, 1000);
  EXPECT_EQ(plan.later[1].longest, any_number);

  const auto each = parts(plan);

  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[0], parse_plan("sell:32 columns=16 words=8", device_base));
  EXPECT_EQ(each[1], parse_plan("csr rowlist lanes=8", device_base));
  EXPECT_EQ(each[2], parse_plan("ccoo:64", device_base));
  EXPECT_EQ(parts(each[0]), std::vector<Plan>{each[0]});
}

TEST(PlanOfParts, TakesWhatIsForTheWholePlanFromTheFirst) {
  const Plan plan = parse_plan("entry=complex values=float codes=blocks8 vectors=32 csr longest=7 + sell:8", {});

  EXPECT_EQ(parts(plan)[1], parse_plan("entry=complex values=float codes=blocks8 vectors=32 sell:8 rowlist", {}));
  for (const char* word : {"entry=dense", "values=double", "codes=none", "vectors=1"})
    EXPECT_ERROR(parse_plan("csr longest=7 + sell:8 " + std::string(word), {}), ErrorKind::argument,
                 std::string(word) + " in a later part of plan 'csr longest=7 + sell:8 " + word +
                     "': it is for the whole plan; say it before the first +");
}

TEST(PlanOfParts, IsReadAsItIsPrinted) {
  for (const Plan& base : {Plan{}, device_base})
    for (const char* line :
         {"sell:32 longest=64 + ccoo", "sell presence longest=1 + sell:8:16 presence longest=2 + csr",
          "entry=quaternion csr rowlist longest=12 + ellr words=4:row columns=8", "ccoo longest=5 + ccoo:256:4",
          "hdia longest=30 codes=blocks16 + csr", "ellr width=auto + ccoo",
          "sell:8 width=7 + ellr presence width=2 + csr", "csr longest=9 + ellr width=auto + ccoo:64"}) {
      const Plan plan = parse_plan(line, base);
      EXPECT_EQ(parse_plan(to_string(plan), base), plan) << to_string(plan);
      EXPECT_NE(plan, parts(plan).front());
    }
  const Plan host = parse_plan("hdia longest=30 codes=blocks16 + csr plain xahead", {});
  EXPECT_EQ(parse_plan(to_string(host), {}), host);
  const Plan device =
      parse_plan("ccoo longest=9 + csr lanes=8 unroll=3 dynamic longest=20 + ccoo carries=atomic", device_base);
  EXPECT_EQ(parse_plan(to_string(device), device_base), device);
  EXPECT_EQ(to_string(parse_plan("width=auto ellr + ccoo", {})),
            "entry=dense ellr words=32:column vectors=1 values=double columns=32 rows lanes=1 width=auto + ccoo:128 "
            "words=1:column columns=32 slots lanes=1");
  EXPECT_EQ(to_string(parse_plan("sell:32 longest=64 + ccoo", {})),
            "entry=dense sell:32 words=32:column vectors=1 values=double columns=32 rows lanes=1 longest=64 + ccoo:128 "
            "words=1:column columns=32 slots lanes=1");
}

TEST(PlanOfParts, SaysWhatIsNotInOrder) {
  const auto refused = [](const std::string& line, const std::string& why) {
    EXPECT_ERROR(parse_plan(line, {}), ErrorKind::argument, "plan '" + line + "'" + why);
  };
  refused("csr longest=64",
          ": longest=64 leaves longer rows to a next part, and there is none; add one (\"... longest=64 + ccoo\"), or "
          "leave longest= out");
  refused("csr longest=6 + ccoo longest=9", ": longest=9 leaves longer rows to a next part, and there is none");
  refused("csr + ccoo",
          ": part 1, csr, leaves no rows to the next; say longest=N: rows of more entries go there, or width=N: what "
          "rows have beyond N entries");
  refused("ellr width=8",
          ": width=8 leaves the other entries of rows to a next part, and there is none; add one (\"... width=8 + "
          "ccoo\"), or leave width= out");
  refused("csr longest=3 + ellr width=auto", ": width=auto leaves the other entries of rows to a next part");
  refused("csr longest=8 + ellr width=3 + csr longest=5 + ccoo",
          ": part 3, csr, has longest=5, but shorter rows than that are in the parts before; make it more than 5");
  for (const char* line :
       {"csr longest=8 + ellr width=3 + csr longest=6 + ccoo", "csr longest=8 + ellr width=auto + csr longest=1 + ccoo",
        "ellr width=9 + csr width=9 + ccoo"})
    EXPECT_NO_THROW(parse_plan(line, {})) << line;
  refused("ellr width=8 longest=9 + ccoo",
          ": width=8 and longest=9 exclude each other: each says what the next part takes; name one");
  refused("csr longest=3 + sell:8 + ccoo", ": part 2, sell:8, leaves no rows to the next; say longest=N");
  refused("csr longest=8 + sell:8 longest=8 + ccoo",
          ": part 2, sell:8, has longest=8, but shorter rows than that are in the parts before; make it more than 8");
  for (const std::string layout : {"sell:8", "hdia:32"})
    refused("csr longest=8 + " + layout + " allrows",
            ": part 2, " + layout + ", goes by allrows; later parts list their rows: leave allrows out");
  EXPECT_ERROR(parse_plan("csr longest=8 + csr sell", {}), ErrorKind::argument,
               "a part of plan 'csr longest=8 + csr sell' names two layouts; name one");
  for (const char* line : {"csr longest=8 +", "csr longest=8 + lanes=1", "csr longest=8 + + ccoo"})
    EXPECT_ERROR(parse_plan(line, {}), ErrorKind::argument,
                 "a part of plan '" + std::string(line) + "' names no layout; after each + comes one: csr, ellr");
  EXPECT_ERROR(parse_plan("csr longest=0 + ccoo", {}), ErrorKind::argument, "longest= '0' must be a number, 1 or more");
  EXPECT_ERROR(parse_plan("csr longest=all + ccoo", {}), ErrorKind::argument, "longest= 'all' must be a number");
  EXPECT_ERROR(parse_plan("ellr width=0 + ccoo", {}), ErrorKind::argument,
               "width= (or 'auto') '0' must be a number, 1 or more");
  EXPECT_ERROR(parse_plan("csr longest=8+ccoo", {}), ErrorKind::argument, "longest= '8+ccoo' must be a number");
}

TEST(PlanOfParts, IsApplicableWhereEachPartIs) {
  const auto why = [](std::string_view line) { return applicable(parse_plan(line, {}), real_3x3).value_or(""); };
  EXPECT_EQ(why("sell:32 longest=64 + ccoo"), "");
  EXPECT_EQ(why("sell:32 longest=64 + csr presence"),
            "part 2, csr: presence bits are for slices by length, not for layout csr");
  EXPECT_EQ(why("ccoo presence longest=64 + csr"),
            "part 1, ccoo:128: presence bits are for slices by length, not for layout ccoo");
  EXPECT_EQ(why("csr codes=blocks8 words=1:row longest=8 + ccoo"), "");
  EXPECT_EQ(why("csr codes=blocks8 words=1:row longest=8 + ccoo words=1:column"),
            "parts with scalars in different orders have no dictionary in common, as codes=blocks8 needs: use words=1 "
            "in all, "
            "or the same order");
  EXPECT_EQ(why("ellr width=auto + ccoo"), "");
  EXPECT_EQ(why("csr half=symmetric width=4 + ccoo"),
            "half=symmetric is for plans of one part; leave the other parts out");
  EXPECT_EQ(why("ccoo codes=chunks8 width=4 + ccoo"),
            "codes=chunks8 is for plans of one part; use codes=scalars8 or codes=none for several");
  Plan by_hand = parse_plan("csr", {});
  by_hand.longest = 5;  // longer rows would be nowhere
  EXPECT_NE(applicable(by_hand, real_3x3).value_or("").find("longest=5 leaves longer rows"), std::string::npos);
}

TEST(PartsOfAPattern, TakeRowsByTheirLength) {
  const Pattern p = pattern_of_lengths({1, 0, 5, 2, 9, 3, 3, 1});
  const auto parts = parts_of(p.view(), parse_plan("csr longest=2 + sell:2 longest=4 + ccoo", {}));

  ASSERT_EQ(parts.size(), 3u);
  const std::vector<std::vector<count32>> starts = {
      {0, 1, 1, 1, 3, 3, 3, 3, 4}, {0, 0, 0, 0, 0, 0, 3, 6, 6}, {0, 0, 0, 5, 5, 14, 14, 14, 14}};
  const std::vector<std::vector<count32>> first = {{0, 1, 3}, {0}, {0, 5}}, of_whole = {{0, 6, 23}, {17}, {1, 8}};
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(parts[n].number, n);
    EXPECT_EQ(parts[n].rows.start, starts[n]);
    EXPECT_EQ(parts[n].entries.first, first[n]);
    EXPECT_EQ(parts[n].entries.of_whole, of_whole[n]);
    EXPECT_EQ(parts[n].entries.entries, starts[n].back());
    EXPECT_EQ(parts[n].rows.cols, p.cols);
    EXPECT_NO_THROW(check(parts[n].rows.view()));
  }
}

TEST(PartsOfAPattern, AreThoseThatHaveEntries) {
  const Plan plan = parse_plan("csr longest=2 + sell:2 longest=4 + ccoo", {});
  const auto numbers = [&](const std::vector<idx>& lengths) {
    std::vector<std::pair<int, bool>> found;
    for (const PatternPart& part : parts_of(pattern_of_lengths(lengths).view(), plan))
      found.emplace_back(part.number, part.has_all());
    return found;
  };
  using Numbers = std::vector<std::pair<int, bool>>;
  EXPECT_EQ(numbers({1, 2, 0, 1}), (Numbers{{0, true}}));
  EXPECT_EQ(numbers({5, 0, 7}), (Numbers{{2, true}}));
  EXPECT_EQ(numbers({5, 3}), (Numbers{{1, false}, {2, false}}));
  EXPECT_EQ(numbers({0, 0}), (Numbers{{0, true}}));
  EXPECT_EQ(numbers({}), (Numbers{{0, true}}));
}

TEST(PartsOfAPattern, TakeTheFirstEntriesOfRows) {
  const Pattern p = pattern_of(9, {{1, 2, 3, 4, 5}, {}, {6}, {7, 8}, {8, 7, 6, 5}, {0, 1, 2}});
  const auto parts = parts_of(p.view(), parse_plan("ellr width=2 + csr width=1 + ccoo", {}));

  ASSERT_EQ(parts.size(), 3u);
  const std::vector<std::vector<count32>> starts = {
      {0, 2, 2, 3, 5, 7, 9}, {0, 1, 1, 1, 1, 2, 3}, {0, 2, 2, 2, 2, 3, 3}};
  const std::vector<std::vector<idx>> columns = {{1, 2, 6, 7, 8, 8, 7, 0, 1}, {3, 6, 2}, {4, 5, 5}};
  const std::vector<std::vector<count32>> first = {{0, 2, 7}, {0, 1, 2}, {0, 2}},
                                          of_whole = {{0, 5, 12}, {2, 10, 14}, {3, 11}};
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(parts[n].number, n);
    EXPECT_EQ(parts[n].rows.start, starts[n]);
    EXPECT_EQ(parts[n].rows.column, columns[n]);
    EXPECT_EQ(parts[n].entries.first, first[n]);
    EXPECT_EQ(parts[n].entries.of_whole, of_whole[n]);
    EXPECT_EQ(parts[n].entries.entries, columns[n].size());
  }
}

/// Of the rows that the part before leaves, whole.
TEST(PartsOfAPattern, TakeTheFirstEntriesOfLongRows) {
  const Pattern p = pattern_of_lengths({1, 0, 5, 2, 9, 3});
  const auto parts = parts_of(p.view(), parse_plan("csr longest=2 + ellr width=4 + ccoo", {}));

  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].rows.start, (std::vector<count32>{0, 1, 1, 1, 3, 3, 3}));
  EXPECT_EQ(parts[1].rows.start, (std::vector<count32>{0, 0, 0, 4, 4, 8, 11}));
  EXPECT_EQ(parts[2].rows.start, (std::vector<count32>{0, 0, 0, 1, 1, 6, 6}));
}

/// Blocks of the diagonal that a row has twice are added before they are inverted.
TEST(PartsOfAPattern, KeepTheDiagonalOfARowTogether) {
  const Pattern p = pattern_of(9, {{0, 3, 0, 4}, {2, 1, 1, 4}, {1, 2, 3, 4}, {0, 3, 3, 3}});
  const auto parts = parts_of(p.view(), parse_plan("ellr width=2 + ccoo", {}));

  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rows.start, (std::vector<count32>{0, 0, 1, 3, 4}));
  EXPECT_EQ(parts[1].rows.start, (std::vector<count32>{0, 4, 7, 9, 12}));
}

/// Bell and Garland 2009: a column more where a third of the rows, and 4,096 of them, have an entry for it.
TEST(WidthOfRows, IsThatOfAThirdOfThem) {
  const auto width = [](std::initializer_list<std::pair<idx, idx>> rows_and_lengths) {
    std::vector<idx> lengths;
    for (const auto& [rows, length] : rows_and_lengths) lengths.insert(lengths.begin(), rows, length);
    return width_of_rows(lengths);
  };
  EXPECT_EQ(width({{20000, 7}, {10000, 27}}), 27);
  EXPECT_EQ(width({{20001, 7}, {9999, 27}}), 7);
  EXPECT_EQ(width({{20002, 7}, {10000, 27}}), 7) << "two thirds and a half row";
  EXPECT_EQ(width({{4095, 9}, {1, 5}, {100, 3}}), 5) << "of 4,096 rows";
  EXPECT_EQ(width({{4095, 9}}), 0) << "of too few";
  EXPECT_EQ(width({{30000, 0}, {10000, 5}}), 0) << "empty rows are rows";
  EXPECT_EQ(width({}), 0);

  std::vector<idx> lengths(12000, 3);
  for (int n = 0; n < 4000; ++n) lengths[3 * n] = 8;
  for (int n = 0; n < 4096; ++n) lengths[n] = std::max(lengths[n], 5);
  const auto of = [&](std::string_view line) {
    return parts_of(pattern_of_lengths(lengths).view(), parse_plan(line, {}));
  };
  const auto parts = of("ellr width=auto + ccoo");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].rows.view().length(0), 5);
  EXPECT_EQ(parts[1].rows.view().length(0), 3);
  // Of the rows that come to it.
  EXPECT_EQ(of("csr longest=3 + ellr width=auto + ccoo")[1].rows.view().length(0), 5);
  EXPECT_EQ(of("csr longest=6 + ellr width=auto + ccoo")[1].number, 2) << "too few are left";
}

TEST(EntryRuns, AreTwoNumbersEach) {
  const EntryRuns runs{.first = {0, 5, 9}, .of_whole = {0, 8, 20}, .entries = 12};
  EXPECT_EQ(runs.bytes(), 6 * sizeof(count32));
}

/// Runs as kernels and launchers see them, against the definition.
TEST(EntryRuns, LeadFromAPartToTheWholeAndBack) {
  const Pattern p = random_pattern(300, 40, 12, test_seed());
  SCOPED_TRACE(seed_text());
  for (const char* line : {"csr longest=5 + csr longest=9 + ccoo", "ellr width=4 + ellr width=3 + ccoo",
                           "csr longest=3 + ellr width=2 + ccoo"}) {
    SCOPED_TRACE(line);
    const auto parts = parts_of(p.view(), parse_plan(line, {}));
    ASSERT_EQ(parts.size(), 3u);
    std::vector<idx> taken(p.rows, 0);
    for (const PatternPart& part : parts) {
      std::vector<slot_t> of_whole;
      for (idx row = 0; row < p.rows; ++row) {
        for (idx k = 0; k < part.rows.view().length(row); ++k) of_whole.push_back(p.start[row] + taken[row] + k);
        taken[row] += part.rows.view().length(row);
      }
      ASSERT_EQ(of_whole.size(), part.entries.entries);
      for (std::size_t e = 0; e < of_whole.size(); ++e)
        ASSERT_EQ(slot_t(e) + part.entries.args().shift(slot_t(e)), of_whole[e]);
      for (slot_t e = 0; e <= slot_t{p.view().entries()}; ++e)
        ASSERT_EQ(part.entries.first_from(e), std::ranges::lower_bound(of_whole, e) - of_whole.begin()) << e;
    }
    for (idx row = 0; row < p.rows; ++row) ASSERT_EQ(taken[row], p.view().length(row));
  }
}

}  // namespace
}  // namespace compound::test
