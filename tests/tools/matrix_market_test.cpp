#include "matrix_market.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include <string>

namespace compound::bench {
namespace {

CoordinateMatrix read(const std::string& text) { return parse_matrix_market(text, "m.mtx"); }

std::string failure_of(const std::string& text) {
  try {
    read(text);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "(no failure)";
}

bool same(const Coordinate& e, std::int64_t row, std::int64_t column, std::complex<double> value) {
  return e.row == row && e.column == column && e.value == value;
}

TEST(MatrixMarket, ReadsRealEntriesWithCommentsBlankLinesAndAnyCase) {
  const auto m = read(
      "%%MatrixMarket MATRIX Coordinate Real General\n% a comment\n\n 3 4 2\n%another\n1 4 2.5e-1\r\n\t3  1 +7\n\n");

  ASSERT_EQ(m.entries.size(), 2u);
  EXPECT_EQ(m.rows, 3);
  EXPECT_EQ(m.columns, 4);
  EXPECT_FALSE(m.complex);
  EXPECT_TRUE(same(m.entries[0], 0, 3, 0.25));
  EXPECT_TRUE(same(m.entries[1], 2, 0, 7));
}

TEST(MatrixMarket, ReadsALastLineWithoutNewline) {
  const auto m = read("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 -3");

  ASSERT_EQ(m.entries.size(), 1u);
  EXPECT_TRUE(same(m.entries[0], 1, 1, -3));
}

TEST(MatrixMarket, PatternEntriesAreOnes) {
  const auto m = read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");

  EXPECT_TRUE(same(m.entries.at(0), 0, 1, 1));
}

TEST(MatrixMarket, SymmetryAddsTheOtherTriangleButNotTheDiagonalAgain) {
  const auto m = read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 5\n2 1 3\n");

  ASSERT_EQ(m.entries.size(), 3u);
  EXPECT_TRUE(same(m.entries[0], 0, 0, 5));
  EXPECT_TRUE(same(m.entries[2], 0, 1, 3));
}

TEST(MatrixMarket, SkewSymmetryChangesTheSign) {
  const auto m = read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n");

  EXPECT_TRUE(same(m.entries.at(1), 0, 1, -3));
}

TEST(MatrixMarket, HermitianConjugates) {
  const auto m = read("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 3 4\n");

  EXPECT_TRUE(m.complex);
  EXPECT_TRUE(same(m.entries.at(0), 1, 0, {3, 4}));
  EXPECT_TRUE(same(m.entries.at(1), 0, 1, {3, -4}));
}

TEST(MatrixMarket, ErrorsNameFileLineAndWhatIsAllowed) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";

  EXPECT_EQ(failure_of(""), "m.mtx:0: not a Matrix Market file: the first line must begin with %%MatrixMarket");
  EXPECT_EQ(failure_of("%%MatrixMarket matrix array real general\n"),
            "m.mtx:1: the format is 'array'; only 'coordinate' (sparse) can be read");
  EXPECT_EQ(failure_of("%%MatrixMarket matrix coordinate float general\n"),
            "m.mtx:1: unknown kind of values 'float' in the header; known are real, integer, complex, pattern");
  EXPECT_EQ(failure_of("%%MatrixMarket matrix coordinate real odd\n"),
            "m.mtx:1: unknown symmetry 'odd' in the header; known are general, symmetric, hermitian, skew-symmetric");
  EXPECT_EQ(failure_of(head + "% nothing\n"), "m.mtx:2: the file ends before the line of sizes");
  EXPECT_EQ(failure_of(head + "2 2\n"), "m.mtx:2: the number of entries is missing");
  EXPECT_EQ(failure_of(head + "2 2 1\n1 3 1.0\n"), "m.mtx:3: the column is 3; expected 1 to 2");
  EXPECT_EQ(failure_of(head + "\n\n2 2 1\n1 3 1.0\n"), "m.mtx:5: the column is 3; expected 1 to 2");
  EXPECT_EQ(failure_of(head + "2 2 1\n0 1 1.0\n"), "m.mtx:3: the row is 0; expected 1 to 2");
  EXPECT_EQ(failure_of(head + "2 2 1\n1 1 x\n"), "m.mtx:3: the value is 'x'; expected a number in double precision");
  EXPECT_EQ(failure_of(head + "2 2 1\n1 1 1e999\n"),
            "m.mtx:3: the value is '1e999'; expected a number in double precision");
  EXPECT_EQ(failure_of(head + "2 2 1\n1 1 1 1\n"), "m.mtx:3: unexpected '1' at the line's end");
  EXPECT_EQ(failure_of(head + "2 2 2\n1 1 1.0\n"), "m.mtx:3: the file ends after 1 of 2 entries");
  EXPECT_EQ(failure_of(head + "2 2 1\n1 1 1.0\n2 2 1.0\n"), "m.mtx:4: text after the last of 1 entries");
}

TEST(MatrixMarket, AHugeAnnouncedCountFailsBeforeMemoryIsAskedFor) {
  const auto message = failure_of("%%MatrixMarket matrix coordinate real general\n2 2 4000000000000\n1 1 1\n");

  EXPECT_NE(message.find("4000000000000 entries are announced"), std::string::npos) << message;
  EXPECT_EQ(failure_of("%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 1\n2 2 1\n"),
            "m.mtx:2: 5 entries are announced, but the rest of the file has only 12 characters");
}

TEST(MatrixMarket, TheHeaderAloneTellsTheSize) {
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  const auto general = matrix_market_size(head + "general\n% a comment\n5 4 3\n", 1000, "m.mtx");

  EXPECT_EQ(general.rows, 5);
  EXPECT_EQ(general.columns, 4);
  EXPECT_EQ(general.entries, 3);
  EXPECT_EQ(matrix_market_size(head + "symmetric\n5 5 12\n", 1000, "m.mtx").entries, 19);
  EXPECT_EQ(matrix_market_size(head + "symmetric\n5 5 3\n", 1000, "m.mtx").entries, 3);
  EXPECT_EQ(matrix_market_size(head + "skew-symmetric\n5 5 3\n", 1000, "m.mtx").entries, 6);
  EXPECT_EQ(matrix_market_size(head + "general\n2 2 0\n", 10, "m.mtx").entries, 0);
  EXPECT_THROW(matrix_market_size(head + "general\n5 4 3000\n", 1000, "m.mtx"), std::runtime_error);
}

TEST(MatrixMarket, EntriesMustKeepWhatTheHeaderPromises) {
  const std::string head = "%%MatrixMarket matrix coordinate ";

  EXPECT_EQ(read(head + "integer general\n2 2 2\n1 1 +3\n2 2 -4e2\n").entries.size(), 2u);
  EXPECT_EQ(failure_of(head + "integer general\n2 2 1\n1 1 1.5\n"),
            "m.mtx:3: the value is '1.5'; expected an integer, as the header says");
  EXPECT_EQ(failure_of(head + "integer general\n2 2 1\n1 1 inf\n"),
            "m.mtx:3: the value is 'inf'; expected an integer, as the header says");
  EXPECT_EQ(
      failure_of(head + "real skew-symmetric\n2 2 1\n1 1 3\n"),
      "m.mtx:3: the entry 1 1 lies on the diagonal, which is zero in a skew-symmetric matrix and not stored; leave "
      "it out");
  EXPECT_EQ(failure_of(head + "real symmetric\n2 2 2\n2 1 3\n1 2 3\n"),
            "m.mtx:4: the entry 1 2 lies above the diagonal, but of a symmetric matrix a file has the lower triangle "
            "alone; give row and column the other way round, or all entries of a general one");
  for (const char* kind : {"complex hermitian", "complex skew-symmetric"})
    EXPECT_NE(failure_of(head + kind + "\n2 2 1\n1 2 3 4\n").find("m.mtx:3: the entry 1 2 lies above"),
              std::string::npos)
        << kind;
}

TEST(MatrixMarket, SymmetricMatricesMustBeSquare) {
  const auto message = failure_of("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n");

  EXPECT_EQ(message, "m.mtx:2: a symmetric matrix must be square, not 2 x 3");
}

TEST(MatrixMarket, ComplexNumbersBecomeRealBlocks) {
  const CoordinateMatrix m{1, 2, true, {{0, 1, {3, 4}}}};

  const CoordinateMatrix to = real_blocks(m, "f");

  EXPECT_EQ(to.rows, 2);
  EXPECT_EQ(to.columns, 4);
  EXPECT_FALSE(to.complex);
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries;
  for (const Coordinate& c : to.entries) entries.emplace_back(c.row, c.column, c.value.real());
  EXPECT_EQ(entries, (std::vector<std::tuple<std::int64_t, std::int64_t, double>>{
                         {0, 2, 3.0}, {1, 2, 4.0}, {0, 3, -4.0}, {1, 3, 3.0}}));
  EXPECT_THROW(real_blocks({1, 1, false, {{0, 0, {1, 0}}}}, "f"), std::runtime_error);
}

}  // namespace
}  // namespace compound::bench
