#include "planner/wisdom.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/hash.hpp"
#include "support/random.hpp"
#include "support/wisdom_entries.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

Wisdom wisdom_of(int count) {
  Wisdom wisdom;
  for (int n = 0; n < count; ++n) EXPECT_EQ(wisdom.add(wisdom_entry(n)), "");
  return wisdom;
}

std::string with_check(const std::string& line) { return line + " check=\"" + hash_of(line) + "\"\n"; }

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), with);
}

/// The line of an entry with something else in it, and a check that fits.
std::string changed_line(const std::string& old, const std::string& with) {
  const std::string line = wisdom_of(1).lines();
  return with_check(replaced(line.substr(0, line.find(" check=")), old, with));
}

std::size_t entries_in(const std::string& text) {
  Wisdom wisdom;
  wisdom.add_lines(text);
  return wisdom.size();
}

TEST(PatternClass, IsPrintedByLetters) {
  EXPECT_EQ(to_string(pattern_class({.rows = 100000, .mean_row = 27, .row_deviation = 9, .scattered = 0.6})),
            "r17 m5 s-2 x-1");
}

TEST(PatternClass, IsTheSameAboutPowersOfTwo) {
  const PatternClass at = pattern_class({.rows = 1 << 16, .mean_row = 4});

  EXPECT_EQ(pattern_class({.rows = (1 << 16) - 250, .mean_row = 3.9}), at);
  EXPECT_EQ(pattern_class({.rows = (1 << 16) + 250, .mean_row = 4.1}), at);
}

TEST(PatternClass, DiffersByAFactorOfTwo) {
  const PatternStatistics original{.rows = 1000, .mean_row = 7, .row_deviation = 2, .scattered = 0.1};
  PatternStatistics rows = original, mean = original, spread = original, scatter = original;
  rows.rows *= 2;
  mean.mean_row *= 2;
  spread.row_deviation *= 2;
  scatter.scattered *= 2;

  EXPECT_EQ(pattern_class(rows).rows, pattern_class(original).rows + 1);
  EXPECT_EQ(pattern_class(mean).mean, pattern_class(original).mean + 1);
  EXPECT_EQ(pattern_class(spread).spread, pattern_class(original).spread + 1);
  EXPECT_EQ(pattern_class(scatter).scatter, pattern_class(original).scatter + 1);
}

TEST(PatternClass, OfNothingIsThatOfVeryLittle) {
  EXPECT_EQ(to_string(pattern_class({})), "r-10 m-10 s-10 x-10");
  EXPECT_EQ(pattern_class({.rows = 1000, .mean_row = 7, .row_deviation = 0.001, .scattered = 1e-9}),
            pattern_class({.rows = 1000, .mean_row = 7}));
}

TEST(PatternClass, OfTheZooIsReadAsItIsPrinted) {
  for (const ZooPattern& z : zoo()) {
    WisdomEntry entry = wisdom_entry(0);
    entry.key.pattern_class = pattern_class(statistics(z.pattern.view()));
    Wisdom wisdom, again;
    EXPECT_EQ(wisdom.add(entry), "") << z.name;

    again.add_lines(wisdom.lines());

    EXPECT_EQ(again.entries(), wisdom.entries()) << z.name;
  }
}

TEST(Wisdom, LinesStayAsTheyAre) {
  // Pinned: files of other releases are read.
  WisdomEntry entry = wisdom_entry(8);
  entry.seconds = 1.5e-5;
  Wisdom wisdom;
  EXPECT_EQ(wisdom.add(entry), "");

  EXPECT_EQ(wisdom.lines(),
            "plan1 device=\"NVIDIA H200\" versions=\"schema 1 driver 580.95\" "
            "problem=\"3x3 real double dense double\" pattern=\"123456789abcdef8\" class=\"r17 m4 s-2 x0\" "
            "plan=\"entry=dense sell:32 words=32:column vectors=1 values=double columns=32 rows lanes=8\" "
            "seconds=\"1.5e-05\" gain=\"1.25\" effort=\"measure\" check=\"3bceba36d88184738613b990a5833e65\"\n");
}

TEST(Wisdom, IsReadFromItsLines) {
  const Wisdom wisdom = wisdom_of(20);
  Wisdom again;

  again.add_lines(wisdom.lines());

  EXPECT_EQ(again.entries(), wisdom.entries());
  EXPECT_EQ(again.lines(), wisdom.lines());
}

TEST(Wisdom, FindsThePatternItself) {
  const Wisdom wisdom = wisdom_of(5);

  const auto found = wisdom.find(wisdom_entry(3).key);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->match, WisdomMatch::pattern);
  EXPECT_EQ(found->entry, wisdom_entry(3));
}

TEST(Wisdom, FindsTheNewestOfTheClassWhereThePatternIsNew) {
  Wisdom wisdom = wisdom_of(5);
  EXPECT_EQ(wisdom.add(wisdom_entry(2)), "");

  const auto found = wisdom.find(wisdom_entry(77).key);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->match, WisdomMatch::pattern_class);
  EXPECT_EQ(found->entry, wisdom_entry(2));
}

TEST(Wisdom, OfAnotherDeviceVersionProblemOrClassIsAMiss) {
  const Wisdom wisdom = wisdom_of(5);
  WisdomKey device = wisdom_entry(3).key, versions = device, problem = device, other_class = device;
  device.device = "NVIDIA H100";
  versions.versions += ".1";
  problem.problem = "3x3 real double dense float";
  other_class.pattern_class.rows += 1;

  EXPECT_FALSE(wisdom.find(device));
  EXPECT_FALSE(wisdom.find(versions));
  EXPECT_FALSE(wisdom.find(problem));
  EXPECT_FALSE(wisdom.find(other_class));
}

TEST(Wisdom, KeepsTheLastOfAKey) {
  Wisdom wisdom = wisdom_of(3);
  WisdomEntry better = wisdom_entry(1);
  better.plan = "entry=dense csr";

  EXPECT_EQ(wisdom.add(better), "");

  EXPECT_EQ(wisdom.entries(), (std::vector{wisdom_entry(0), wisdom_entry(2), better}));
}

TEST(Wisdom, ReadsTheLastLineOfAKey) {
  Wisdom wisdom;

  wisdom.add_lines(changed_line("sell:32", "sell:8") + wisdom_of(2).lines() + changed_line("sell:32", "csr"));

  ASSERT_EQ(wisdom.size(), 2u);
  EXPECT_NE(wisdom.find(wisdom_entry(0).key)->entry.plan.find(" csr "), std::string::npos);
}

TEST(Wisdom, MergedHasBothAndTheNewerOfAKey) {
  Wisdom wisdom = wisdom_of(3), newer;
  WisdomEntry better = wisdom_entry(1);
  better.gain = 2;
  EXPECT_EQ(newer.add(better), "");
  EXPECT_EQ(newer.add(wisdom_entry(9)), "");

  wisdom.merge(newer);

  EXPECT_EQ(wisdom.entries(), (std::vector{wisdom_entry(0), wisdom_entry(2), better, wisdom_entry(9)}));
}

TEST(Wisdom, KeepsLinesOfNewerSchemasByteByByteInTheirPlace) {
  const std::string newer = with_check("plan2 \tanything = \x80\x01 {goes} \"") + with_check("plan12 "),
                    text = wisdom_of(1).lines() + newer;
  Wisdom wisdom;

  wisdom.add_lines(text);
  wisdom.add_lines(newer);
  EXPECT_EQ(wisdom.add(wisdom_entry(1)), "");

  Wisdom last;
  EXPECT_EQ(last.add(wisdom_entry(1)), "");
  EXPECT_EQ(wisdom.lines(), text + last.lines());
  EXPECT_EQ(wisdom.size(), 2u);
}

TEST(Wisdom, DropsDamagedLinesOfNewerSchemas) {
  const std::string text = "plan2 without a check\n" + replaced(with_check("plan2 x=1"), "x=1", "x=2") +
                           with_check("plan2 " + std::string(5000, 'x')) + with_check("plan0 x") +
                           with_check("planet x") + with_check("plan99999999999 x");
  Wisdom wisdom;

  wisdom.add_lines(text);

  EXPECT_TRUE(is_wisdom(text));
  EXPECT_EQ(wisdom.lines(), "");
}

TEST(Wisdom, EachPrefixHasTheWholeLinesInIt) {
  const std::string text = wisdom_of(4).lines();
  std::size_t wrong = 0;

  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string prefix = text.substr(0, size);
    // The end of a line without its newline is whole, too.
    const auto whole = std::count(prefix.begin(), prefix.end(), '\n') + (size < text.size() && text[size] == '\n');
    Wisdom wisdom;
    wisdom.add_lines(prefix);
    wrong += wisdom.entries() != wisdom_of(static_cast<int>(whole)).entries();
  }

  EXPECT_EQ(wrong, 0u);
}

TEST(Wisdom, AFlippedBitLosesItsLineAndNothingElse) {
  const std::string text = wisdom_of(6).lines();
  const std::vector<WisdomEntry> all = wisdom_of(6).entries();
  Random random;
  int invented = 0, lost_others = 0;

  for (int flip = 0; flip < 10000; ++flip) {
    std::string damaged = text;
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    Wisdom wisdom;
    wisdom.add_lines(damaged);
    // Without the newline between them two lines are one.
    const std::size_t left = text[at] == '\n' && at + 1 < text.size() ? 4 : 5;
    lost_others += wisdom.size() != left;
    for (const WisdomEntry& entry : wisdom.entries()) invented += std::count(all.begin(), all.end(), entry) != 1;
  }

  EXPECT_EQ(invented, 0) << seed_text();
  EXPECT_EQ(lost_others, 0) << seed_text();
}

TEST(Wisdom, IgnoresLinesThatSayTheAbsurd) {
  ASSERT_EQ(entries_in(changed_line("measure", "patient")), 1u) << "what follows has checks that fit";

  for (const char* seconds : {"nan", "inf", "-1", "0", "1e300", "1e7", "1e-400", "", "0x1p-3", "0.50", "+0.5", "1,5"})
    EXPECT_EQ(entries_in(changed_line("seconds=\"0.3333333333333333\"", "seconds=\"" + std::string(seconds) + "\"")),
              0u)
        << seconds;
  for (const char* gain : {"nan", "-0", "1e300", "two"})
    EXPECT_EQ(entries_in(changed_line("gain=\"1.25\"", "gain=\"" + std::string(gain) + "\"")), 0u) << gain;
  for (const char* pattern : {"", "123456789abcdef", "123456789ABCDEF0", "00123456789abcdef0", "-23456789abcdef00"})
    EXPECT_EQ(entries_in(changed_line("123456789abcdef0", pattern)), 0u) << pattern;
  for (const char* alike : {"", "r17 m4 s-2", "r17 m4 s-2 x0 y1", "r17  m4 s-2 x0", "r41 m4 s-2 x0", "r17 m4 s-11 x0",
                            "r99999999999999 m4 s-2 x0", "m4 r17 s-2 x0"})
    EXPECT_EQ(entries_in(changed_line("r17 m4 s-2 x0", alike)), 0u) << alike;
  for (const std::string& plan : {std::string(301, 'x'), std::string("a\tb"), std::string("a\0b", 3),
                                  std::string("\x7f"), std::string("\xc3\xa9"), std::string("a\rb"), std::string()})
    EXPECT_EQ(entries_in(changed_line(wisdom_entry(0).plan, plan)), 0u) << plan;
  EXPECT_EQ(entries_in(changed_line(" effort=\"measure\"", "")), 0u);
  EXPECT_EQ(entries_in(changed_line(" effort=\"measure\"", " effort=\"measure\" more=\"1\"")), 0u);
  EXPECT_EQ(entries_in(changed_line("measure\"", "measure\" ")), 0u);
}

TEST(Wisdom, SaysWhichFieldItCannotKeep) {
  using limits = std::numeric_limits<double>;
  Wisdom wisdom;
  WisdomEntry plan = wisdom_entry(0), device = plan, newline = plan;
  plan.plan = std::string(301, 'x');
  device.key.device = "the \"fast\" one";
  newline.effort = "measure\nplan1";

  EXPECT_NE(wisdom.add(plan).find("this plan: texts are 1 to 300 printable characters"), std::string::npos);
  EXPECT_NE(wisdom.add(device).find("this device"), std::string::npos);
  EXPECT_NE(wisdom.add(newline).find("this effort"), std::string::npos);
  for (const double seconds : {0.0, -1.0, 1e300, limits::quiet_NaN(), limits::infinity()}) {
    WisdomEntry entry = wisdom_entry(0);
    entry.seconds = seconds;
    EXPECT_NE(wisdom.add(entry).find("this seconds"), std::string::npos) << seconds;
  }
  EXPECT_EQ(wisdom.size(), 0u);
}

TEST(Wisdom, KeepsAPlanOfThreeHundredCharacters) {
  WisdomEntry entry = wisdom_entry(0);
  entry.plan = std::string(300, '~');
  Wisdom wisdom, again;
  EXPECT_EQ(wisdom.add(entry), "");

  again.add_lines(wisdom.lines());

  EXPECT_EQ(again.entries(), std::vector{entry});
}

TEST(Wisdom, TellsItsOwnTextsFromOthers) {
  EXPECT_TRUE(is_wisdom(""));
  EXPECT_TRUE(is_wisdom("# damaged\nplan1 device=\"x\"\n"));
  for (const std::string& foreign : {std::string("\n"), std::string("plan1\nplan x\nplan-1 x\nplant1 x\n"),
                                     std::string("\x7f"
                                                 "ELF\0\0plan1 ",
                                                 12)}) {
    Wisdom wisdom;
    wisdom.add_lines(foreign);
    EXPECT_FALSE(is_wisdom(foreign));
    EXPECT_EQ(wisdom.lines(), "");
  }
}

/// Of keys that are there, that differ in one thing, and of nothing like it: whether lines give what all that can be
/// read of them gives.
void expect_found_alike(const std::string& lines) {
  Wisdom all;
  all.add_lines(lines);
  for (int n = 0; n < 8; ++n)
    for (int other = 0; other < 6; ++other) {
      WisdomKey key = wisdom_entry(n).key;
      if (other == 1) key.pattern ^= 1;
      if (other == 2) key.pattern_class.mean += 1;
      if (other == 3) key.device += "!";
      if (other == 4) key.versions.pop_back();
      if (other == 5) key.problem = "4x4";
      EXPECT_TRUE(find_in_lines(lines, key) == all.find(key)) << n << " " << other << " in\n" << lines;
    }
}

TEST(FindInLines, GivesWhatReadingAllOfThemWould) {
  const std::string text = wisdom_of(6).lines();
  WisdomEntry better = wisdom_entry(2), alike = wisdom_entry(3);
  better.gain = 2;
  alike.key.pattern = 77;
  Wisdom later;
  EXPECT_EQ(later.add(better), "");
  EXPECT_EQ(later.add(alike), "");

  expect_found_alike("");
  expect_found_alike(text);
  expect_found_alike(text + later.lines());
  expect_found_alike(later.lines() + text);
  expect_found_alike(with_check("plan2 x") + text + changed_line("sell:32", "csr") + "plan1 \n\n");
}

TEST(FindInLines, TakesNoDamagedLine) {
  const std::string text = wisdom_of(3).lines();
  for (std::size_t size = 0; size <= text.size(); size += 7) expect_found_alike(text.substr(0, size));
  Random random;
  for (int flip = 0; flip < 300; ++flip) {
    std::string damaged = text;
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.below(8)));
    expect_found_alike(damaged);
  }
}

}  // namespace
}  // namespace compound::test
