// The table of docs/entries.md is made from the headers of the block formats. With COMPOUND_WRITE_DOCUMENTS=1 this
// writes the file; else it compares it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "entry/kinds.hpp"
#include "entry/list.hpp"

namespace compound::test {
namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2g", value);
  return text;
}

/// "16 (8)": in real matrices, and in complex ones where that is another number.
std::string both(const std::string& real, const std::string& complex) {
  return complex.empty() || real == complex ? real : real + " (" + complex + ")";
}

/// Of a kind with one shape: its blocks, its words, how many times fewer bytes they are.
std::string text_of_one_shape(const EntryKind& k) {
  const EntryShape &real = k.in_real, &complex = k.in_complex;
  const auto size = [](const EntryShape& s) { return std::to_string(s.rows) + "x" + std::to_string(s.cols); };
  const auto numbers = [](const EntryShape& s) { return s.rows * s.cols * (s.real_words ? 2 : 1); };
  const auto saved = [&](const EntryShape& s) { return number_text(double(numbers(s)) / s.words); };
  const bool in_both = complex.words != 0;
  return (in_both ? size(real) + " real, " + size(complex) + " complex" : size(real) + ", real builds") + " | " +
         std::to_string(real.words) + (complex.real_words ? " reals of " : " of ") +
         both(std::to_string(numbers(real)), in_both ? std::to_string(numbers(complex)) : "") + " | " +
         both(saved(real), in_both ? saved(complex) : "");
}

/// Of square blocks of any size: as many words as rows, or so many whatever the size.
std::string text_of_any_square(const EntryKind& k) {
  const bool by_row = k.words({7, 7}) == 7;
  const std::string words = by_row ? "n" : std::to_string(k.words({7, 7}));
  return "n x n, n <= 32 | " + words + " of n n | " + (by_row ? "n" : "n n");
}

std::string row_of(const EntryKind& k, const std::string& used_in) {
  return "| `" + std::string(k.name) + "` | " +
         (k.sizes == 0   ? text_of_one_shape(k)
          : k.sizes == 1 ? text_of_any_square(k)
                         : "any r x c | r c | 1") +
         " | " + used_in + (k.approximate ? "; approximate, by name only" : "") + " |\n";
}

std::string table() {
  std::string text;
  for_each_kind<double>([&]<class Kind, class Entry>() { text += row_of(entry_kind(Entry::name), Entry::used_in); });
  return text;
}

/// What stands in a file from after `begin` to before `end`.
void expect_in(const std::string& name, const std::string& begin, const std::string& end, const std::string& wanted) {
  const std::string path = std::string(COMPOUND_SOURCE_DIR "/") + name;
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  std::string text = read.str();
  const std::size_t first = text.find(begin), from = first + begin.size(), to = text.find(end, from);
  ASSERT_NE(first, std::string::npos) << name << " has no '" << begin << "'";
  ASSERT_NE(to, std::string::npos) << name << " has no '" << end << "'";
  if (std::getenv("COMPOUND_WRITE_DOCUMENTS"))
    std::ofstream(path) << text.replace(from, to - from, wanted);
  else
    EXPECT_EQ(text.substr(from, to - from), wanted) << name << ": COMPOUND_WRITE_DOCUMENTS=1 writes it";
}

TEST(EntryDocuments, HaveARowForEveryKind) {
  expect_in("docs/entries.md",
            "<!-- kinds: made by entry/documents_test -->\n"
            "| block format | blocks | scalars kept | fewer bytes of a block (double) | where it comes from |\n"
            "|---|---|---|---|---|\n",
            "| your own |", table());
}

}  // namespace
}  // namespace compound::test
