#include "layout/layout_spec.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace compound::test {
namespace {

class LayoutName : public testing::TestWithParam<std::string_view> {};

TEST_P(LayoutName, IsPrintedAsItWasParsed) {
  const LayoutSpec spec = parse_layout(GetParam());

  EXPECT_EQ(layout_name(spec), GetParam());
  EXPECT_EQ(parse_layout(layout_name(spec)), spec);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LayoutName,
                         testing::Values("csr", "ellr", "sell:2", "sell:8", "sell:33", "sell:1024", "sell:8:64",
                                         "bellpack:32", "sell:all:all", "sell:256:2147483392", "dia", "hdia:32",
                                         "hdia:256", "ccoo:64", "ccoo:256:4"));

TEST(LayoutName, IsTheNarrowerOfTwo) {
  EXPECT_EQ(parse_layout("sell:32:all"), parse_layout("bellpack"));
  EXPECT_EQ(layout_name(parse_layout("sell:64:all")), "bellpack:64");
  EXPECT_EQ(parse_layout("sell:all"), parse_layout("ellr"));
  EXPECT_EQ(parse_layout("hdia:all"), parse_layout("dia"));
  EXPECT_EQ(parse_layout("dia").slice, whole);
  EXPECT_EQ(parse_layout("bellpack").sigma, whole);
}

TEST(ParseLayout, KnowsEveryPresetByName) {
  for (const Preset& p : presets()) {
    const LayoutSpec spec = parse_layout(p.name);

    EXPECT_EQ(spec.preset, p.name);
    EXPECT_EQ(spec.slice, p.slice.usual);
    EXPECT_EQ(spec.sigma, p.sigma.usual);
    EXPECT_EQ(spec.each, p.each.usual);
    EXPECT_EQ(parse_layout(layout_name(spec)), spec);
  }
}

TEST(ParseLayout, ReadsSliceAndSortingWindow) {
  const LayoutSpec spec = parse_layout("sell:8:256");

  EXPECT_EQ(spec.slice, 8);
  EXPECT_EQ(spec.sigma, 256);
}

TEST(ParseLayout, ReadsAWindowOfAllRows) { EXPECT_EQ(parse_layout("sell:8:all").sigma, whole); }

TEST(ParseLayout, ListsTheLayoutsThereAre) {
  EXPECT_ERROR(parse_layout("sel"), ErrorKind::argument,
               "unknown layout 'sel': did you mean sell? Choose csr, ellr, bellpack, sell, dia, hdia, ccoo");
  EXPECT_ERROR(parse_layout(""), ErrorKind::argument, "choose csr, ellr, bellpack, sell, dia, hdia, ccoo");
}

TEST(ParseLayout, SaysWhichSliceHeightsAreAllowed) {
  EXPECT_ERROR(parse_layout("sell:1"), ErrorKind::argument,
               "slice height (or 'all') of layout sell '1' must be a number, 2 to 1024");
  EXPECT_ERROR(parse_layout("sell:1025"), ErrorKind::argument, "2 to 1024");
  EXPECT_ERROR(parse_layout("bellpack:all"), ErrorKind::argument, "2 to 1024");
  EXPECT_ERROR(parse_layout("sell:8x"), ErrorKind::argument, "'8x'");
  EXPECT_ERROR(parse_layout("sell:"), ErrorKind::argument, "2 to 1024");
  EXPECT_ERROR(parse_layout("hdia:8"), ErrorKind::argument,
               "slice height (or 'all') of layout hdia '8' must be a number, 32 to 256");
  EXPECT_ERROR(parse_layout("ccoo:16"), ErrorKind::argument, "threads of a chunk of layout ccoo '16'");
  EXPECT_ERROR(parse_layout("ccoo:48"), ErrorKind::argument,
               "layout 'ccoo:48': a chunk's threads are whole warps: 48 must be a multiple of 32");
  EXPECT_ERROR(parse_layout("ccoo:2048"), ErrorKind::argument, "must be a number, 32 to 1024");
}

TEST(ParseLayout, SaysHowManyEntriesAThreadMayHave) {
  EXPECT_EQ(parse_layout("ccoo:64:4").each, 4);
  EXPECT_EQ(parse_layout("ccoo:64:2"), parse_layout("ccoo:64"));
  EXPECT_ERROR(parse_layout("ccoo:64:16"), ErrorKind::argument,
               "entries of a thread of layout ccoo '16' must be a number, 1 to 8");
  EXPECT_ERROR(parse_layout("ccoo:64:3"), ErrorKind::argument,
               "layout 'ccoo:64:3': entries of a thread, 3, must be 1, 2, 4 or 8");
}

TEST(ParseLayout, SaysWhichWindowsAreAllowed) {
  EXPECT_ERROR(parse_layout("sell:8:0"), ErrorKind::argument, "sorting window (or 'all') of layout sell '0'");
  EXPECT_ERROR(parse_layout("sell:8:-8"), ErrorKind::argument, "must be a number, 1 or more");
  EXPECT_ERROR(parse_layout("sell:8:99999999999"), ErrorKind::argument, "'99999999999'");
}

TEST(ParseLayout, ShowsTheFormWhenThereAreTooManyNumbers) {
  EXPECT_ERROR(parse_layout("sell:8:16:2"), ErrorKind::argument, "write sell[:C[:sigma]]");
  EXPECT_ERROR(parse_layout("csr:4"), ErrorKind::argument, "too many numbers; write csr");
  EXPECT_ERROR(parse_layout("ellr:4"), ErrorKind::argument, "too many numbers; write ellr");
  EXPECT_ERROR(parse_layout("hdia:32:32"), ErrorKind::argument, "too many numbers; write hdia[:C]");
  EXPECT_ERROR(parse_layout("bellpack:32:32"), ErrorKind::argument, "too many numbers; write bellpack[:R]");
  EXPECT_ERROR(parse_layout("ccoo:32:1:1"), ErrorKind::argument, "too many numbers; write ccoo[:B[:K]]");
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("17", 1, 20, "size"), 17);
  EXPECT_ERROR(parse_number("17 ", 1, 20, "size"), ErrorKind::argument, "size '17 ' must be a number, 1 to 20");
  EXPECT_ERROR(parse_number("", 1, 20, "size"), ErrorKind::argument, "size ''");
}

TEST(ParseNumber, IncludesBothEndsOfTheRange) {
  EXPECT_EQ(parse_number("1", 1, 20, "size"), 1);
  EXPECT_EQ(parse_number("20", 1, 20, "size"), 20);
  EXPECT_ERROR(parse_number("0", 1, 20, "size"), ErrorKind::argument, "'0'");
  EXPECT_ERROR(parse_number("21", 1, 20, "size"), ErrorKind::argument, "'21'");
}

}  // namespace
}  // namespace compound::test
