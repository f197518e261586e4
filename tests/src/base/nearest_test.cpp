// The name that a mistyped word was probably meant to be.
#include "base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace compound::test {
namespace {

constexpr std::array<std::string_view, 7> names = {"csr", "ellr", "bellpack", "sell", "dia", "exhaustive", "measure"};

TEST(Nearest, IsOneLetterAway) {
  EXPECT_EQ(nearest("csrr", names), "csr") << "added";
  EXPECT_EQ(nearest("sel", names), "sell") << "left out";
  EXPECT_EQ(nearest("dja", names), "dia") << "changed";
  EXPECT_EQ(nearest("crs", names), "csr") << "exchanged";
  EXPECT_EQ(nearest("CSR", names), "csr") << "upper case";
  EXPECT_EQ(nearest("elpack", names), "bellpack") << "two of six";
}

TEST(Nearest, IsNothingWhereNoNameIsNear) {
  EXPECT_EQ(nearest("compressed", names), "");
  EXPECT_EQ(nearest("xyz", names), "");
  EXPECT_EQ(nearest("cxy", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("csr", {}), "");
  EXPECT_EQ(nearest("y", std::array<std::string_view, 1>{"x"}), "") << "nothing would be left of it";
}

TEST(Nearest, TakesTheOneWithFewestMistakesAndOfEqualsTheFirst) {
  EXPECT_EQ(nearest("selr", names), "sell") << "one letter changed; ellr wants two changes";
  EXPECT_EQ(nearest("cia", std::array<std::string_view, 3>{"csr", "dia", "via"}), "dia");
  EXPECT_EQ(nearest("mat_compound_layuot", std::array<std::string_view, 2>{"mat_compound_wait", "mat_compound_layout"}),
            "mat_compound_layout");
}

TEST(Nearest, TakesAnAbbreviation) {
  EXPECT_EQ(nearest("exh", names), "exhaustive");
  EXPECT_EQ(nearest("meas", names), "measure");
  EXPECT_EQ(nearest("e", names), "");
}

TEST(UnknownName, SuggestsAndThenLists) {
  constexpr std::array<std::string_view, 2> two = {"csr", "ellr"};
  EXPECT_EQ(unknown_name("layout", "csrr", two), "unknown layout 'csrr': did you mean csr? Choose csr, ellr");
  EXPECT_EQ(unknown_name("layout", "grid", two), "unknown layout 'grid'; choose csr, ellr");
  EXPECT_EQ(unknown_name("keyword", "elr", two, "a layout (csr)"),
            "unknown keyword 'elr': did you mean ellr? Choose a layout (csr)");
}

}  // namespace
}  // namespace compound::test
