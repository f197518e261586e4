#include "options.hpp"
#include "value_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>
#include <span>
#include <stdexcept>

#include "planner/entry_choice.hpp"

namespace compound::bench {
namespace {

constexpr bool complex_scalars = sizeof(PetscScalar) == 16;
constexpr ScalarType scalar_type{complex_scalars ? Field::complex : Field::real, Precision::double_};

template <class F>
std::string refusal_of(const F& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "(no failure)";
}

TEST(GeneratedRows, AreTheSameWhateverTheShares) {
  const Generated matrix{Grid(find_grid("15"), 4), Shuffle(64, 16, 3), {}};

  const BlockRows whole = generated_rows(matrix, 0, 64), second = generated_rows(matrix, 40, 24);

  EXPECT_EQ(whole.entries(), matrix.grid.entries());
  const auto from = whole.column.begin() + whole.start[40];
  EXPECT_EQ(second.column, std::vector<PetscInt>(from, whole.column.end()));
  EXPECT_EQ(second.first, 40);
}

TEST(GeneratedRows, ColumnsAscend) {
  const BlockRows rows = generated_rows({Grid(find_grid("27"), 4), Shuffle(64, 64, 3), {3, 2}}, 0, 64);

  int descents = 0;
  for (std::size_t r = 1; r < rows.start.size(); ++r)
    descents += !std::is_sorted(rows.column.begin() + rows.start[r - 1], rows.column.begin() + rows.start[r]);

  EXPECT_EQ(descents, 0);
}

TEST(CoordinateRows, MakeColumnMajorBlocksAndAddDoubleEntriesUp) {
  CoordinateMatrix m{4, 4, false, {}};
  m.entries = {{3, 2, 5.0}, {0, 1, 1.0}, {1, 0, 2.0}, {0, 1, 0.5}};

  const BlockRows rows = coordinate_rows(m, 2, 0, 2);

  EXPECT_EQ(rows.start, (std::vector<PetscInt>{0, 1, 2}));
  EXPECT_EQ(rows.column, (std::vector<PetscInt>{0, 1}));
  EXPECT_EQ(rows.values, (std::vector<PetscScalar>{0.0, 2.0, 1.5, 0.0, 0.0, 5.0, 0.0, 0.0}));
}

TEST(CoordinateRows, TakeTheirShareOnlyAndKeepEmptyRows) {
  CoordinateMatrix m{6, 3, false, {}};
  m.entries = {{0, 0, 1.0}, {5, 2, 2.0}, {3, 1, 3.0}};

  const BlockRows rows = coordinate_rows(m, 1, 2, 3);

  EXPECT_EQ(rows.start, (std::vector<PetscInt>{0, 0, 1, 1}));
  EXPECT_EQ(rows.column, (std::vector<PetscInt>{1}));
  EXPECT_EQ(rows.all_rows, 6);
  EXPECT_EQ(rows.all_columns, 3);
}

TEST(CoordinateRows, RefuseBlockSizesThatDoNotDivide) {
  const CoordinateMatrix m{4, 6, false, {}};

  EXPECT_EQ(refusal_of([&] { coordinate_rows(m, 3, 0, 1); }),
            "-block_size 3 does not divide the file's 4 x 6 rows and columns; choose a common divisor");
}

TEST(CoordinateRows, RefuseComplexValuesInRealBuilds) {
  const CoordinateMatrix m{2, 2, true, {{0, 0, {1, 2}}}};

  if (complex_scalars)
    EXPECT_EQ(coordinate_rows(m, 1, 0, 2).values.size(), 1u);
  else
    EXPECT_NE(refusal_of([&] { coordinate_rows(m, 1, 0, 2); }).find("built for a complex PETSc"), std::string::npos);
}

std::vector<PetscScalar> block_of(std::string_view entry, int block_size, std::int64_t row, std::int64_t column,
                                  std::uint64_t seed = 1) {
  std::vector<PetscScalar> block(static_cast<std::size_t>(block_size * block_size));
  ValueRule(entry, {block_size, block_size}, seed).write(row, column, 7, block.data());
  return block;
}

TEST(ValueRule, DependsOnRowColumnAndSeed) {
  const auto block = block_of("dense", 3, 5, 9);

  EXPECT_EQ(block, block_of("dense", 3, 5, 9));
  EXPECT_NE(block, block_of("dense", 3, 9, 5));
  EXPECT_NE(block, block_of("dense", 3, 5, 10));
  EXPECT_NE(block, block_of("dense", 3, 5, 9, 2));
}

TEST(ValueRule, IsBoundedWithADominantDiagonal) {
  const auto off = block_of("dense", 3, 5, 9), diagonal = block_of("dense", 3, 5, 5);

  EXPECT_EQ(std::ranges::count(off, PetscScalar(0.0)), 0);
  for (const PetscScalar v : off) EXPECT_LE(std::abs(v), std::sqrt(2.0));
  for (const int i : {0, 4, 8}) EXPECT_GE(std::abs(diagonal[static_cast<std::size_t>(i)]), 2.0 * 3 * 7 - 2);
}

TEST(ValueRule, QuaternionsAreLeftMultiplications) {
  if (complex_scalars) GTEST_SKIP() << "2x2 there";
  const auto b = block_of("quaternion", 4, 1, 2);

  // Columns are the products with 1, i, j, k, so all have one length and are orthogonal.
  const auto dot = [&](std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t r = 0; r < 4; ++r) sum += std::real(b[4 * i + r]) * std::real(b[4 * j + r]);
    return sum;
  };
  for (std::size_t j = 1; j < 4; ++j) {
    EXPECT_NEAR(dot(j, j), dot(0, 0), 1e-14);
    EXPECT_NEAR(dot(0, j), 0, 1e-14);
  }
}

/// A shape that a kind has.
BlockShape shape_of(const EntryKind& kind) {
  const EntryShape& s = complex_scalars ? kind.in_complex : kind.in_real;
  return kind.sizes == 0 ? BlockShape{s.rows, s.cols} : BlockShape{3, 3};
}

TEST(ValueRule, MakesBlocksOfEveryKindOnAndOffTheDiagonal) {
  for (const EntryKind& kind : entry_kinds()) {
    const BlockShape shape = shape_of(kind);
    if (shape.rows == 0) continue;
    for (const std::int64_t column : {2, 3}) {
      const auto block = block_of(kind.name, shape.rows, 3, column);
      EXPECT_EQ(backend("host").first_misfit({kind.name, {shape, scalar_type}, block.data(), 1}), std::nullopt)
          << kind.name;
    }
  }
}

TEST(ValueRule, MakesBlocksOfNoCheaperKind) {
  for (const EntryKind& kind : entry_kinds()) {
    const BlockShape shape = shape_of(kind);
    if (shape.rows == 0 || kind.approximate) continue;
    const auto block = block_of(kind.name, shape.rows, 3, 2);
    EXPECT_EQ(cheapest_entry({shape, scalar_type}, backend("host"), block.data(), 1), kind.name);
  }
}

TEST(ValueRule, IdentitiesAreEntriesOfEveryKind) {
  for (const EntryKind& kind : entry_kinds()) {
    const BlockShape shape = shape_of(kind);
    if (shape.rows == 0) continue;
    std::vector<PetscScalar> block(static_cast<std::size_t>(shape.rows * shape.cols));
    ValueRule::identity(shape).write(3, 3, 7, block.data());
    EXPECT_EQ(backend("host").first_misfit({kind.name, {shape, scalar_type}, block.data(), 1}), std::nullopt)
        << kind.name;
  }
}

TEST(ValueRule, GivesAllValuesOfBlocksThatAreNotSquare) {
  const BlockRows rows = generated_rows({Grid(find_grid("7"), 2), Shuffle(8, 1, 1), {}}, 0, 8);
  const ValueRule rule("dense", {3, 2}, 1);
  const auto values = rule.values(rows);

  std::vector<PetscScalar> block(6);
  rule.write(1, rows.column[static_cast<std::size_t>(rows.start[1])], rows.start[2] - rows.start[1], block.data());
  ASSERT_EQ(values.size(), rows.column.size() * 6);
  EXPECT_TRUE(std::ranges::equal(block, std::span(values).subspan(static_cast<std::size_t>(rows.start[1]) * 6, 6)));
}

std::set<std::vector<double>> blocks_of(const ValueRule& rule, const BlockRows& rows, std::size_t area) {
  std::set<std::vector<double>> blocks;
  const auto values = rule.values(rows);
  for (std::size_t first = 0; first < values.size(); first += area) {
    const auto* reals = reinterpret_cast<const double*>(values.data() + first);
    blocks.emplace(reals, reals + area * sizeof(PetscScalar) / sizeof(double));
  }
  return blocks;
}

TEST(ValueRule, StencilsRepeatTheirBlocksAndNumbers) {
  const Generated matrix{Grid(find_grid("27"), 6), Shuffle(216, 216, 5), {}};
  const BlockRows rows = generated_rows(matrix, 0, 216);

  const auto few = blocks_of({"dense", {3, 3}, 1, Values::stencil, &matrix}, rows, 9);
  const auto many = blocks_of({"dense", {3, 3}, 1, Values::random, &matrix}, rows, 9);

  EXPECT_EQ(few.size(), 27u);
  EXPECT_EQ(many.size(), static_cast<std::size_t>(rows.entries()));
  std::set<double> numbers;
  for (const auto& block : few) numbers.insert(block.begin(), block.end());
  EXPECT_LE(numbers.size(), 40u);
  EXPECT_FALSE(numbers.contains(0.0));
}

TEST(ValueRule, EntriesOfLongRowsShareOneMoreBlockOfAStencil) {
  const Generated matrix{Grid(find_grid("7"), 6), Shuffle(216, 1, 5), {2, 10}};

  EXPECT_EQ(blocks_of({"dense", {2, 2}, 1, Values::stencil, &matrix}, generated_rows(matrix, 0, 216), 4).size(), 8u);
}

TEST(ValueRule, ConvectionHasTheCoefficientsOfCentralDifferences) {
  const Generated matrix{Grid(find_grid("7"), 3), Shuffle(27, 1, 1), {}};
  const ValueRule rule("dense", {2, 2}, 1, Values::convection, &matrix);
  const auto coefficient = [&](std::int64_t row, std::int64_t column) {
    PetscScalar block[4];
    rule.write(row, column, 7, block);
    EXPECT_EQ(block[0], block[3]);
    EXPECT_EQ(block[1], PetscScalar(0.0));
    EXPECT_EQ(block[2], PetscScalar(0.0));
    return std::real(block[0]);
  };
  const double upwind = 1 / std::sqrt(3.0) * 0.25 / 2;

  EXPECT_DOUBLE_EQ(coefficient(13, 13), 6.0 / 80);
  for (const int step : {1, 3, 9}) {
    EXPECT_DOUBLE_EQ(coefficient(13, 13 + step), -1.0 / 80 + upwind) << step;
    EXPECT_DOUBLE_EQ(coefficient(13, 13 - step), -1.0 / 80 - upwind) << step;
  }
}

TEST(ValueRule, RefusesConvectionWhereThereIsNone) {
  const auto refused = [](const char* grid, LongRows longer, const char* entry, BlockShape block) {
    const Generated matrix{Grid(find_grid(grid), 3), Shuffle(27, 1, 1), longer};
    return refusal_of([&] { ValueRule(entry, block, 1, Values::convection, &matrix); });
  };

  for (const char* grid : {"15", "27", "surface", "dense", "kkt"})
    EXPECT_NE(refused(grid, {}, "dense", {1, 1}).find("; choose -grid 5 or 7"), std::string::npos) << grid;
  EXPECT_NE(refused("7", {1, 2}, "dense", {1, 1}).find("of -long_rows; leave one out"), std::string::npos);
  const int side = complex_scalars ? 2 : 4;
  EXPECT_NE(refused("7", {}, "unit_quaternion", {side, side}).find("which -entry unit_quaternion does not hold"),
            std::string::npos);
}

TEST(ValueRule, RefusesUnknownKindsAndWrongSizes) {
  EXPECT_NE(refusal_of([] {
              ValueRule("octonion", {8, 8}, 1);
            }).find("unknown -entry 'octonion'; choose dense, "),
            std::string::npos);
  EXPECT_NE(refusal_of([] {
              ValueRule("quaternion", {3, 3}, 1);
            }).find("-block_size: entry quaternion needs blocks of"),
            std::string::npos);
}

/// Scalar rows of a matrix, with zeros where blocks have nothing.
std::vector<std::vector<PetscScalar>> dense(const BlockRows& b, BlockShape shape) {
  std::vector<std::vector<PetscScalar>> all(
      static_cast<std::size_t>(b.all_rows * shape.rows),
      std::vector<PetscScalar>(static_cast<std::size_t>(b.all_columns * shape.cols)));
  std::size_t at = 0;
  for (std::int64_t row = 0; row < b.all_rows; ++row)
    for (PetscInt k = b.start[static_cast<std::size_t>(row)]; k < b.start[static_cast<std::size_t>(row) + 1]; ++k)
      for (int j = 0; j < shape.cols; ++j)
        for (int i = 0; i < shape.rows; ++i)
          all[static_cast<std::size_t>(row * shape.rows + i)]
             [static_cast<std::size_t>(b.column[static_cast<std::size_t>(k)] * shape.cols + j)] = b.values[at++];
  return all;
}

TEST(Regrouped, HasTheSameScalarsInEachShape) {
  BlockRows given;  // blocks of 2x3
  given.all_rows = 3, given.all_columns = 2;
  given.start = {0, 1, 1, 3};
  given.column = {1, 0, 1};
  for (int k = 0; k < 3 * 6; ++k) given.values.push_back(1.0 + k);
  const auto wanted = dense(given, {2, 3});

  for (const BlockShape to : {BlockShape{1, 1}, {2, 3}, {3, 2}, {4, 4}, {6, 6}, {5, 1}, {7, 8}}) {
    SCOPED_TRACE(block_text(to));
    const BlockRows b = regrouped(given, {2, 3}, to);

    EXPECT_EQ(b.all_rows, (6 + to.rows - 1) / to.rows);
    EXPECT_EQ(b.all_columns, (6 + to.cols - 1) / to.cols);
    for (std::size_t r = 1; r < b.start.size(); ++r)
      EXPECT_TRUE(std::is_sorted(b.column.begin() + b.start[r - 1], b.column.begin() + b.start[r]));
    auto found = dense(b, to);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < found[i].size(); ++j)
        EXPECT_EQ(found[i][j], i < 6 && j < 6 ? wanted[i][j] : PetscScalar(0.0)) << i << ", " << j;
  }
}

TEST(Regrouped, HasNoBlockWithoutAScalar) {
  BlockRows given;
  given.all_rows = given.all_columns = 8;
  given.start = {0, 1, 2, 2, 2, 2, 2, 3, 3};
  given.column = {0, 7, 1};
  given.values = {1.0, 2.0, 3.0};

  const BlockRows b = regrouped(given, {1, 1}, {2, 2});

  EXPECT_EQ(b.start, (std::vector<PetscInt>{0, 2, 2, 2, 3}));
  EXPECT_EQ(b.column, (std::vector<PetscInt>{0, 3, 0}));
}

}  // namespace
}  // namespace compound::bench
