#include "plan/plan.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "plan/keywords.hpp"
#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/random.hpp"

namespace compound::test {
namespace {

constexpr auto layouts = {"csr", "ellr", "sell:2", "sell:33", "sell:256", "sell:8:64", "bellpack:32", "dia"};
constexpr auto flag_words = {"", "presence", "rowlist plain", "presence rowlist xahead"};
constexpr auto matrix_words_words = {"words=1:row",       "words=1:column", "words=2:column",   "words=32:row",
                                     "words=1024:column", "words=all:row",  "words=all:column", "words=1:row:padded"};
constexpr auto vector_words_words = {"vectors=1", "vectors=32", "vectors=all"};
constexpr auto value_words = {"values=double", "values=float"};
constexpr auto schedule_words = {"rows lanes=1", "components lanes=8", "rows lanes=32"};

/// Every combination of the options above, as a line.
std::vector<std::string> all_lines() {
  std::vector<std::string> lines;
  for (const EntryKind& kind : entry_kinds()) lines.push_back("entry=" + std::string(kind.name));
  for (const auto options :
       {std::initializer_list<const char*>(layouts), std::initializer_list<const char*>(flag_words),
        std::initializer_list<const char*>(matrix_words_words), std::initializer_list<const char*>(vector_words_words),
        std::initializer_list<const char*>(value_words), std::initializer_list<const char*>(schedule_words)}) {
    std::vector<std::string> longer;
    for (const auto& line : lines)
      for (const auto option : options) longer.push_back(line + " " + option);
    lines = longer;
  }
  return lines;
}

TEST(PlanLine, OfEveryPlanGivesThePlanBack) {
  std::vector<std::string> wrong;
  Plan other_base;
  other_base.layout.vector_group = 4;
  other_base.schedule.lanes = 4;

  for (const auto& line : all_lines()) {
    const Plan plan = parse_plan(line, {});
    if (!(parse_plan(to_string(plan), other_base) == plan)) wrong.push_back(line);
  }

  EXPECT_TRUE(wrong.empty()) << wrong.size() << " lines, the first: " << wrong.front();
}

TEST(PlanLine, DiffersBetweenDifferentPlans) {
  std::vector<std::string> printed;
  for (const auto& line : all_lines()) printed.push_back(to_string(parse_plan(line, {})));

  std::sort(printed.begin(), printed.end());

  EXPECT_EQ(std::adjacent_find(printed.begin(), printed.end()), printed.end());
}

TEST(PlanLine, NamesEverything) {
  const Plan plan = parse_plan("presence rowlist sell:8:64 entry=quaternion values=float words=8:row vectors=32", {});

  EXPECT_EQ(to_string(plan),
            "entry=quaternion sell:8:64 words=8:row vectors=32 values=float columns=32 presence rowlist rows lanes=1");
}

constexpr auto device_bounds = {"threads=32 blocks=1", "threads=128 blocks=12", "threads=1024 blocks=2"};
constexpr auto device_unrolls = {"unroll=1", "unroll=16"};
constexpr auto device_balances = {"grid", "static", "dynamic"};
constexpr auto device_caches = {"cached", "stream"};

TEST(PlanLine, OfDevicePlansGivesThePlanBackAndDiffers) {
  const Plan other_base = parse_plan("csr unroll=7 threads=64 blocks=9 dynamic stream", {});
  std::vector<std::string> printed;

  for (const auto bounds : device_bounds)
    for (const auto unroll : device_unrolls)
      for (const auto balance : device_balances)
        for (const auto cache : device_caches) {
          const std::string line = std::string("sell:32 ") + bounds + " " + unroll + " " + balance + " " + cache;
          const Plan plan = parse_plan(line, {});
          printed.push_back(to_string(plan));
          EXPECT_EQ(parse_plan(printed.back(), other_base), plan) << line;
          EXPECT_TRUE(plan.schedule.of_device()) << line;
        }

  std::sort(printed.begin(), printed.end());
  EXPECT_EQ(std::adjacent_find(printed.begin(), printed.end()), printed.end());
}

TEST(PlanLine, NamesEverythingOfADevice) {
  EXPECT_EQ(to_string(parse_plan("stream static blocks=4 threads=256 unroll=3 components lanes=2 sell:32", {})),
            "entry=dense sell:32 words=32:column vectors=1 values=double columns=32 components lanes=2 unroll=3 "
            "threads=256 blocks=4 static stream");
}

TEST(PlanLine, NamesCarriesThatAreAtomic) {
  const Plan ordered = parse_plan("ccoo threads=128 blocks=8", {});
  const Plan atomic = parse_plan("ccoo threads=128 blocks=8 carries=atomic", {});

  EXPECT_EQ(to_string(atomic), to_string(ordered) + " carries=atomic");
  EXPECT_EQ(parse_plan(to_string(atomic), {}), atomic);
  EXPECT_EQ(parse_plan("carries=ordered", atomic), ordered);
  // Of a layout that goes by rows, as the dictionary of coded blocks is packed in.
  EXPECT_EQ(parse_plan("csr", atomic), parse_plan("csr", ordered));
  EXPECT_EQ(to_string(ordered).find("carries"), std::string::npos);
}

/// No backend takes these; their lines differ, and say what they are.
TEST(PlanLine, ShowsWordsOfDevicesThatHaveNoThreads) {
  const Plan no_blocks = parse_plan("csr threads=128", {});
  EXPECT_EQ(to_string(no_blocks), to_string(Plan{}) + " unroll=1 threads=128 grid cached");
  EXPECT_EQ(parse_plan(to_string(no_blocks), {}), no_blocks);
  for (const char* word : {"unroll=4", "blocks=8", "static", "dynamic", "stream"}) {
    const Plan plan = parse_plan("csr " + std::string(word), {});
    EXPECT_EQ(to_string(plan), to_string(Plan{}) + " " + word);
    EXPECT_EQ(parse_plan(to_string(plan), {}), plan);
  }
}

TEST(PlanLine, OfAHostSaysNothingOfDevices) {
  for (const char* word : {"unroll", "threads", "blocks", "grid", "cached"})
    EXPECT_EQ(to_string(parse_plan("csr", {})).find(word), std::string::npos) << word;
}

TEST(ParsePlan, TakesWordsInAnyOrder) {
  std::vector<std::string> words = {"entry=complex", "sell:8:64", "words=4:row", "vectors=all",
                                    "values=float",  "presence",  "rowlist",     "lanes=2"};
  const Plan expected =
      parse_plan("entry=complex sell:8:64 words=4:row vectors=all values=float presence rowlist lanes=2", {});
  Random random;
  int different = 0;

  for (int shuffle = 0; shuffle < 200; ++shuffle) {
    for (int i = 7; i > 0; --i) std::swap(words[i], words[random.below(i + 1)]);
    std::string line;
    for (const auto& word : words) line += " \t" + word;
    different += !(parse_plan(line, {}) == expected);
  }

  EXPECT_EQ(different, 0) << seed_text();
}

TEST(ParsePlan, TakesWhatIsLeftOutFromTheBase) {
  const Plan base = parse_plan("entry=complex sell:16 words=2:row vectors=32 values=float lanes=4", {});

  const Plan plan = parse_plan("lanes=2", base);

  Plan expected = base;
  expected.schedule.lanes = 2;
  EXPECT_EQ(plan, expected);
}

TEST(ParsePlan, GivesALayoutItsOwnSliceSigmaOccupancyAndWordGroup) {
  const Plan base = parse_plan("sell:16:32 words=2 presence", {});

  EXPECT_EQ(parse_plan("csr", base).layout, parse_plan("csr words=1", {}).layout);
  EXPECT_EQ(parse_plan("ellr", base).layout, parse_plan("ellr words=32", {}).layout);
  EXPECT_EQ(parse_plan("sell:8", base).layout, parse_plan("sell:8 words=8", {}).layout);
  EXPECT_EQ(parse_plan("sell:33", base).layout, parse_plan("sell:33 words=32", {}).layout);
}

TEST(ParsePlan, PadsWordsWhereItIsToldTo) {
  const Plan base = parse_plan("sell:8 words=1:row:padded", {});

  EXPECT_EQ(to_string(base).find("entry=dense sell:8 words=1:row:padded vectors=1"), 0u);
  EXPECT_EQ(parse_plan("sell:8 words=1:padded:row", {}), base);
  EXPECT_EQ(parse_plan("words=1", base), parse_plan("sell:8 words=1:row", {}));
  EXPECT_EQ(parse_plan("sell:8", base), parse_plan("sell:8 words=8:row", {}));
}

TEST(ParsePlan, LeavesTheOrderOfRowsWhereWordsOfItSayNothing) {
  const Plan base = parse_plan("csr words=rows", {});

  EXPECT_EQ(parse_plan("rowlist", base), parse_plan("csr words=rows rowlist", {}));
  for (const char* line :
       {"half=symmetric", "longest=3 + ccoo", "columns=16", "vectors=32", "values=float", "entry=diagonal"})
    EXPECT_EQ(parse_plan(line, base), parse_plan("csr words=1 " + std::string(line), {})) << line;
}

TEST(ParsePlan, GivesBlocksTheThreadsOfTheLayoutsChunks) {
  const Plan base = parse_plan("csr lanes=4 unroll=2 threads=128 blocks=12", {});

  EXPECT_EQ(parse_plan("ccoo:64:2", base), parse_plan("ccoo:64:2 words=32 slots threads=64 blocks=12", {}));
  EXPECT_EQ(parse_plan("ccoo:1024", base).schedule.blocks, 2) << "all that a multiprocessor holds";
  EXPECT_EQ(parse_plan("ccoo:1024", base).schedule.lanes, 1);
  EXPECT_FALSE(parse_plan("ccoo:1024", {}).schedule.of_device());
  EXPECT_EQ(parse_plan("ccoo:1024", {}).layout.word_group, 1) << "on the host blocks stay as they are";
}

TEST(ParsePlan, GivesPatchesTheBlocksThatAMultiprocessorHolds) {
  Plan plan = parse_plan("csr half=symmetric threads=128", {});

  go_by_patches(plan, 4);

  EXPECT_EQ(plan.schedule.threads * plan.schedule.blocks, 1024) << "with 64 registers each";

  const Plan base = parse_plan("csr threads=128 blocks=12", {});
  for (const auto& [line, threads, blocks] :
       {std::tuple{"sell:32:256 lanes=4", 1024, 1}, {"sell:32:512", 512, 2}, {"sell:32:64 lanes=2", 128, 8}}) {
    const Schedule made = parse_plan(std::string(line) + " half=symmetric", base).schedule;
    EXPECT_EQ(made.threads, threads) << line;
    EXPECT_EQ(made.blocks, blocks) << line;
  }
}

TEST(ParsePlan, PrintsAListOfRowsOfALaterPartThatHasNone) {
  const Plan plan = parse_plan("csr width=2 + rowlist ccoo:64", {});

  EXPECT_EQ(parse_plan(to_string(plan), {}), plan) << to_string(plan);
  EXPECT_NE(applicable(plan, {{3, 3}, {}}).value_or("").find("has no rowlist"), std::string::npos);
}

TEST(ParsePlan, RefusesPatchesThatABlockOfThreadsCannotTake) {
  const Plan base = parse_plan("csr threads=128 blocks=12", {});

  for (const std::string line : {"sell:32:4096", "sell:7:21", "sell:16:64", "sell:32", "sell:32:1024 lanes=4"})
    EXPECT_ERROR(parse_plan(line + " half=symmetric", base), ErrorKind::argument,
                 "plan '" + line + " half=symmetric': columns=patch are those of sell:32:T");
  EXPECT_ERROR(parse_plan("sell:32:1024 half=symmetric lanes=4", base), ErrorKind::argument,
               "4096 with sell:32:1024, and a block has at most 1024; use sell:32:256, or leave lanes= out");
}

TEST(ParsePlan, UndoesEachFlagOfTheBaseByItsOpposite) {
  const Plan base = parse_plan("sell:8 presence rowlist plain xahead", {});

  EXPECT_EQ(parse_plan("lengths", base), parse_plan("sell:8 rowlist plain xahead", {}));
  EXPECT_EQ(parse_plan("allrows", base), parse_plan("sell:8 presence plain xahead", {}));
  EXPECT_EQ(parse_plan("simd", base), parse_plan("sell:8 presence rowlist xahead", {}));
  EXPECT_EQ(parse_plan("xnear", base), parse_plan("sell:8 presence rowlist plain", {}));
}

TEST(ParsePlan, UndoesTheDeviceWordsOfTheBaseByTheirOpposites) {
  const Plan base = parse_plan("csr threads=128 blocks=8 dynamic stream", {});

  EXPECT_EQ(parse_plan("grid", base), parse_plan("csr threads=128 blocks=8 grid stream", {}));
  EXPECT_EQ(parse_plan("static", base), parse_plan("csr threads=128 blocks=8 static stream", {}));
  EXPECT_EQ(parse_plan("cached", base), parse_plan("csr threads=128 blocks=8 dynamic cached", {}));
}

TEST(ParsePlan, ListsWhatEachDeviceSettingAllows) {
  EXPECT_ERROR(parse_plan("threads=33", {}), ErrorKind::argument, "threads=33 must be a multiple of 32, 32 to 1024");
  EXPECT_ERROR(parse_plan("threads=0", {}), ErrorKind::argument, "threads= '0' must be a number, 32 to 1024");
  EXPECT_ERROR(parse_plan("threads=1056", {}), ErrorKind::argument, "threads= '1056' must be a number, 32 to 1024");
  EXPECT_ERROR(parse_plan("unroll=0", {}), ErrorKind::argument, "unroll= '0' must be a number, 1 to 16");
  EXPECT_ERROR(parse_plan("unroll=17", {}), ErrorKind::argument, "unroll= '17' must be a number, 1 to 16");
  EXPECT_ERROR(parse_plan("blocks=0", {}), ErrorKind::argument, "blocks= '0' must be a number, 1 to 32");
  EXPECT_ERROR(parse_plan("blocks=99", {}), ErrorKind::argument, "blocks= '99' must be a number, 1 to 32");
  EXPECT_ERROR(parse_plan("carries=maybe", {}), ErrorKind::argument, "carries=maybe; choose ordered, atomic");
  EXPECT_ERROR(parse_plan("csr balanced", {}), ErrorKind::argument, "grid, static, dynamic, cached, stream");
}

TEST(ParsePlan, ListsWhatItKnowsForAWordItDoesNotKnow) {
  EXPECT_ERROR(
      parse_plan("sel:32", {}), ErrorKind::argument,
      "unknown plan keyword 'sel:32': did you mean sell? Choose a layout (csr, ellr, bellpack, sell, dia, hdia, "
      "ccoo), entry=");
  const auto suggested = [](const char* line, const char* word, const char* meant) {
    EXPECT_ERROR(
        parse_plan(line, {}), ErrorKind::argument,
        std::string("unknown plan keyword '") + word + "': did you mean " + meant + "? Choose a layout (csr, ");
  };
  suggested("csrr", "csrr", "csr");
  suggested("csr presense", "presense", "presence");
  suggested("csr lanse=4", "lanse=4", "lanes=");
  suggested("csr column=16", "column=16", "columns=");
  suggested("csr strem", "strem", "stream");
  suggested("csr lanes", "lanes", "lanes=");
  EXPECT_ERROR(parse_plan("csr octopus", {}), ErrorKind::argument, "unknown plan keyword 'octopus'; choose a layout");
}

std::string refusal(std::string_view line) {
  try {
    parse_plan(line, {});
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(ParsePlan, RefusesKeywordsThatExcludeEachOther) {
  EXPECT_EQ(refusal("sell:32 presence lengths"),
            "plan 'sell:32 presence lengths': presence and lengths exclude each other: each says what marks "
            "padding in slices; name one");
  EXPECT_EQ(refusal("csr simd plain"),
            "plan 'csr simd plain': simd and plain exclude each other: each says whether the host uses vector "
            "instructions; name one");
  EXPECT_EQ(refusal("csr lanes=2 lanes=4"),
            "plan 'csr lanes=2 lanes=4': lanes=2 and lanes=4 exclude each other: each says how many workers share a "
            "row; name one");
  EXPECT_EQ(refusal("csr plain rowlist plain"), "plan 'csr plain rowlist plain': plain stands twice; name it once");
  EXPECT_EQ(refusal("sell:32 longest=4 + ccoo threads=64 threads=128"),
            "a part of plan 'sell:32 longest=4 + ccoo threads=64 threads=128': threads=64 and threads=128 exclude each "
            "other: each says the threads of a block; name one");
  EXPECT_EQ(refusal("csr plain longest=4 + ccoo"), "") << "parts have their own";
}

/// Each pair of keywords is refused if both decide the same thing, and no other pair for that.
TEST(ParsePlan, TakesOneKeywordOfEachThing) {
  const auto word_of = [](const Keyword& k) {
    const std::string value = k.name == "entry="     ? "dense"
                              : k.name == "codes="   ? "none"
                              : k.name == "values="  ? "float"
                              : k.name == "columns=" ? "32"
                              : k.name == "carries=" ? "atomic"
                              : k.name == "threads=" ? "32"
                                                     : "1";
    return std::string(k.name) + (k.has_value() ? value : "");
  };
  for (const Keyword& a : plan_keywords())
    for (const Keyword& b : plan_keywords()) {
      const std::string words[] = {word_of(a), word_of(b)};
      const std::string_view both[] = {words[0], words[1]};
      const std::string why = why_not_together(both).value_or("");
      EXPECT_EQ(why.find("exclude each other") != std::string::npos || why.find("twice") != std::string::npos,
                a.decides == b.decides)
          << words[0] << " " << words[1] << ": " << why;
    }
}

TEST(ParsePlan, RefusesKeywordsThatSayNothingOfTheLayout) {
  for (const char* line : {"dia lengths", "csr lengths", "lengths csr", "hdia:32 lengths", "ccoo lengths"})
    EXPECT_NE(refusal(line).find(": lengths is not for layout "), std::string::npos) << line << ": " << refusal(line);
  EXPECT_EQ(refusal("csr lengths"),
            "plan 'csr lengths': lengths is not for layout csr: only slices by row length (ellr, bellpack, sell) tell "
            "entries from padding by them; leave lengths out");
  EXPECT_EQ(refusal("ccoo allrows"),
            "plan 'ccoo allrows': allrows is not for layout ccoo: it stores entries one by one, and no rows; leave "
            "allrows out");
  EXPECT_NE(refusal("csr threads=128 blocks=8 carries=ordered").find("carries=ordered is not for layout csr: "),
            std::string::npos);
  for (const char* line : {"ellr lengths", "sell:8 lengths", "bellpack:32 lengths", "csr allrows", "dia allrows",
                           "ccoo carries=ordered", "lengths"})
    EXPECT_EQ(refusal(line), "") << line;
}

TEST(ParsePlan, RefusesKeywordsOfTheHostWithThoseOfDevices) {
  EXPECT_EQ(refusal("csr plain threads=128 blocks=8"),
            "plan 'csr plain threads=128 blocks=8': plain is for products on the host and threads=128 for products on "
            "devices; name the keywords of one of them");
  EXPECT_NE(refusal("csr stream xnear"), "");
  EXPECT_EQ(refusal("csr lanes=4 threads=128 blocks=8 stream"), "");
}

TEST(WhyNotIn, RefusesKeywordsOfTheOtherMemorySpace) {
  const auto why = [](std::string_view line, MemorySpace space) {
    return why_not_in(line, parse_plan(line, {}), space).value_or("");
  };
  for (const char* word : {"unroll=1", "threads=128", "blocks=8", "grid", "static", "dynamic", "cached", "stream"}) {
    const std::string line = "csr " + std::string(word);
    EXPECT_EQ(why(line, MemorySpace::host), std::string(word) +
                                                " is for products on devices, and this one is on the "
                                                "host; leave " +
                                                word + " out");
    EXPECT_EQ(why(line, MemorySpace::device), "");
  }
  for (const char* word : {"simd", "plain", "xnear", "xahead"}) {
    const std::string line = "sell:8 longest=4 + csr " + std::string(word);
    EXPECT_EQ(why(line, MemorySpace::device), std::string(word) +
                                                  " is for products on the host, and this one is on a "
                                                  "device; leave " +
                                                  word + " out");
    EXPECT_EQ(why(line, MemorySpace::host), "");
  }
  // Of the layout that the line does not name.
  EXPECT_NE(why("lengths", MemorySpace::host).find("lengths is not for layout csr"), std::string::npos);
}

TEST(ParsePlan, ListsSettingsForASettingItDoesNotKnow) {
  EXPECT_ERROR(
      parse_plan("csr word=2", {}), ErrorKind::argument,
      "unknown plan keyword 'word=2': did you mean words=? Choose a layout (csr, ellr, bellpack, sell, dia, hdia, "
      "ccoo), entry=, codes=, half=, "
      "words=, vectors=, values=, columns=, lanes=, unroll=, threads=, blocks=, carries=, longest=, width=, lengths, "
      "presence, "
      "allrows, "
      "rowlist, simd, plain, xnear, xahead, "
      "grid, static, dynamic, cached, stream, rows, components, slots");
}

TEST(ParsePlan, ListsWhatEachSettingAllows) {
  EXPECT_ERROR(parse_plan("entry=octonion", {}), ErrorKind::argument,
               "unknown entry 'octonion'; choose dense, complex, quaternion");
  EXPECT_ERROR(parse_plan("words=3", {}), ErrorKind::argument, "words= 3 must be a power of two, or 'all'");
  EXPECT_ERROR(parse_plan("words=0", {}), ErrorKind::argument, "words= (or 'all') '0' must be a number, 1 to 1024");
  EXPECT_ERROR(parse_plan("words=2:diagonal", {}), ErrorKind::argument,
               "order 'diagonal' in words=; choose row, column, and padded for words=1");
  EXPECT_ERROR(parse_plan("vectors=2048", {}), ErrorKind::argument,
               "vectors= (or 'all') '2048' must be a number, 1 to 1024");
  EXPECT_ERROR(parse_plan("values=half", {}), ErrorKind::argument, "values=half; choose double, float");
  EXPECT_ERROR(parse_plan("values=none", {}), ErrorKind::argument, "values=none; choose double, float");
  EXPECT_ERROR(parse_plan("values=flaot", {}), ErrorKind::argument,
               "values=flaot: did you mean float? Choose double, float");
  EXPECT_ERROR(parse_plan("columns=24", {}), ErrorKind::argument, "columns=24; choose 32, 16, 8");
  EXPECT_ERROR(parse_plan("lanes=3", {}), ErrorKind::argument, "lanes=3 must be a power of two, 1 to 32");
  EXPECT_ERROR(parse_plan("csr sell", {}), ErrorKind::argument,
               "plan 'csr sell' names two layouts; name one, or parts by ' + '");
  EXPECT_ERROR(parse_plan("lanes=64", {}), ErrorKind::argument, "lanes= '64' must be a number, 1 to 32");
}

TEST(ParsePlan, WantsAtLeastOneWord) {
  EXPECT_ERROR(parse_plan("", {}), ErrorKind::argument, "empty plan; name at least a layout: csr, ellr, bellpack");
  EXPECT_ERROR(parse_plan("  \t ", {}), ErrorKind::argument, "empty plan");
}

TEST(SplitOffDiagonal, LeavesALineWithoutOffAsItIs) {
  const PlanText text = split_off_diagonal("sell:8 words=1");

  EXPECT_EQ(text.diagonal, "sell:8 words=1");
  EXPECT_FALSE(text.off_diagonal.has_value());
}

TEST(SplitOffDiagonal, GivesWhatFollowsOffToTheOffDiagonalPart) {
  const PlanText text = split_off_diagonal("sell:8 words=1 off: csr rowlist");

  EXPECT_EQ(parse_plan(text.diagonal, {}), parse_plan("sell:8 words=1", {}));
  ASSERT_TRUE(text.off_diagonal.has_value());
  EXPECT_EQ(parse_plan(*text.off_diagonal, {}), parse_plan("csr rowlist", {}));
}

TEST(SplitOffDiagonal, KeepsAnEmptyOffDiagonalPartForTheParserToRefuse) {
  const PlanText text = split_off_diagonal("csr off:");

  ASSERT_TRUE(text.off_diagonal.has_value());
  EXPECT_ERROR(parse_plan(*text.off_diagonal, {}), ErrorKind::argument, "empty plan");
}

std::string reason(std::string_view line, const Problem& problem) {
  return applicable(parse_plan(line, {}), problem).value_or("");
}

TEST(Applicable, AllowsEveryLayoutForDenseBlocks) {
  EXPECT_EQ(reason("csr", real_3x3), "");
  EXPECT_EQ(reason("csr rowlist words=32:row vectors=all", real_3x3), "");
  EXPECT_EQ(reason("ellr presence", real_3x3), "");
  EXPECT_EQ(reason("sell:2", real_3x3), "");
  EXPECT_EQ(reason("sell:33", real_3x3), "");
  EXPECT_EQ(reason("sell:32:all presence rowlist", real_3x3), "");
}

TEST(Applicable, WantsTheBlocksOfTheEntry) {
  EXPECT_EQ(reason("csr entry=complex", real_2x2), "");
  EXPECT_EQ(reason("csr entry=quaternion", real_4x4), "");
  EXPECT_EQ(reason("csr entry=quaternion", complex_2x2), "");
  EXPECT_EQ(reason("csr entry=quaternion", real_3x3), "entry quaternion needs blocks of 4x4, the matrix has 3x3");
  EXPECT_EQ(reason("csr entry=complex", real_4x4), "entry complex needs blocks of 2x2, the matrix has 4x4");
}

TEST(Applicable, KnowsEntriesThatExistInRealMatricesOnly) {
  EXPECT_EQ(reason("csr entry=complex", complex_2x2), "entry complex does not exist in complex matrices");
}

TEST(Applicable, PadsTheWordsOfEachEntryAlone) {
  EXPECT_EQ(reason("sell:32 words=1:padded", real_3x3), "");
  EXPECT_EQ(reason("csr words=1:row:padded values=float", real_3x3), "");
  EXPECT_EQ(reason("sell:32 words=32:padded", real_3x3),
            "an entry's scalars are padded where they are stored together: words=1:padded, not words=32");
  EXPECT_EQ(reason("sell:32 words=all:padded", real_3x3),
            "an entry's scalars are padded where they are stored together: words=1:padded, not words=all");
}

TEST(Applicable, RefusesPaddingWhereThereIsNothingToPad) {
  EXPECT_EQ(reason("csr words=1:padded", real_2x2),
            "words=1:padded would change nothing: each entry has 32 bytes of scalars, a multiple of 16 already; leave "
            "padded out");
  EXPECT_NE(reason("csr entry=quaternion words=1:padded values=float", real_4x4), "");
  EXPECT_NE(reason("csr entry=quaternion words=1:padded", complex_2x2), "");
}

TEST(Applicable, RefusesPresenceBitsWhereThereIsNoPadding) {
  EXPECT_EQ(reason("csr presence", real_3x3), "presence bits are for slices by length, not for layout csr");
}

TEST(Applicable, WantsWindowsOfWholeSlices) {
  EXPECT_EQ(reason("sell:8:64", real_3x3), "");
  EXPECT_EQ(reason("sell:8:8", real_3x3), "");
  EXPECT_EQ(reason("sell:8:1", real_3x3), "");
  Plan plan = parse_plan("sell:8:16", Plan{});
  plan.layout.sigma = 12;

  EXPECT_EQ(applicable(plan, real_3x3).value_or(""), "the sorting window 12 must be a multiple of the slice height 8");
  EXPECT_ERROR(parse_plan("sell:8:12", {}), ErrorKind::argument,
               "layout 'sell:8:12': the sorting window 12 must be a multiple of the slice height 8");
}

TEST(PlanText, SaysOffAtMostOnce) {
  EXPECT_ERROR(split_off_diagonal("csr off: csr off: ellr"), ErrorKind::argument, "says 'off:' twice");
}

TEST(Applicable, RefusesToSortCompressedRows) {
  Plan plan;
  plan.layout.sigma = 64;

  EXPECT_EQ(applicable(plan, real_3x3).value_or(""), "compressed rows keep their order: a sorting window needs slices");
}

TEST(Applicable, RefusesMatrixWordsWiderThanTheVectors) {
  EXPECT_EQ(reason("csr values=float", float_3x3), "");
  EXPECT_EQ(reason("csr values=float", real_3x3), "");
  EXPECT_NE(reason("csr values=double", float_3x3).find("may be narrower than the vectors, not wider"),
            std::string::npos);
}

TEST(EntryShape, OfADensePlanIsTheBlocks) {
  EXPECT_EQ(entry_shape(parse_plan("csr", {}), {{2, 5}, {}}), (EntryShape{2, 5, 10, false}));
}

TEST(MatrixWordMap, PadsEntriesToWholeAccesses) {
  const auto place_of_third = [](std::string_view line, const Problem& problem) {
    const Plan plan = parse_plan(line, {});
    return matrix_word_map(plan, problem, 100).first(2, entry_shape(plan, problem).words);
  };

  EXPECT_EQ(place_of_third("csr words=1", real_3x3), 2 * 9);
  EXPECT_EQ(place_of_third("csr words=1:padded", real_3x3), 2 * 10);
  EXPECT_EQ(place_of_third("csr words=1:padded values=float", real_3x3), 2 * 12);
  EXPECT_EQ(place_of_third("csr entry=unit_quaternion words=1:padded", complex_2x2), 2 * 4);
}

TEST(EntryShape, OfAKindIsItsOwnInEachField) {
  EXPECT_EQ(entry_shape(parse_plan("entry=quaternion", {}), real_4x4), (EntryShape{4, 4, 4, false}));
  EXPECT_EQ(entry_shape(parse_plan("entry=quaternion", {}), complex_2x2), (EntryShape{2, 2, 4, true}));
}

}  // namespace
}  // namespace compound::test
