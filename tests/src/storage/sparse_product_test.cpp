// Products of sparse matrices of full blocks, beside dense ones: whole numbers, so that equal means equal.
#include "storage/sparse_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/errors.hpp"
#include "support/fenced.hpp"
#include "support/random.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Values in the order of rows, in memory that ends with them.
template <class S>
struct SparseMatrix {
  Pattern pattern;
  BlockShape block;
  std::vector<S> drawn;
  Fenced<S> values;

  SparseMatrix(Pattern p, BlockShape b, Random& random)
      : pattern(std::move(p)), block(b), drawn(draw(pattern.column.size() * scalars_in(b), random)), values(drawn) {}

  FullBlocks blocks() const { return {pattern.view(), block, values.data()}; }

 private:
  static std::vector<S> draw(std::size_t n, Random& random) {
    std::vector<S> all(n);
    for (S& v : all) v = random.whole_number<S>();
    return all;
  }
};

/// rows x cols scalars, by row.
template <class S>
struct Dense {
  int rows = 0, cols = 0;
  std::vector<S> value = std::vector<S>(std::size_t{1} * rows * cols);
  S& at(int i, int j) { return value[std::size_t{1} * i * cols + j]; }
  bool operator==(const Dense&) const = default;
};

template <class S>
Dense<S> dense(const PatternView& p, BlockShape block, const S* values) {
  Dense<S> d{p.rows * block.rows, p.cols * block.cols};
  for (idx row = 0; row < p.rows; ++row) {
    const slot_t length = slot_t{p.length(row)} * block.cols;
    for (int i = 0; i < block.rows; ++i)
      for (slot_t k = 0; k < length; ++k)
        d.at(row * block.rows + i, p.column[p.start[row] + k / block.cols] * block.cols + k % block.cols) += *values++;
  }
  return d;
}

template <class S>
Dense<S> dense(const SparseMatrix<S>& m) {
  return dense(m.pattern.view(), m.block, m.values.data());
}

template <class S>
Dense<S> product(Dense<S> a, Dense<S> b) {
  Dense<S> c{a.rows, b.cols};
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

template <class S>
Dense<S> transposed(Dense<S> a) {
  Dense<S> t{a.cols, a.rows};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

/// Of one block by ones: where A B has entries.
Pattern wanted_pattern(const PatternView& A, const PatternView& B) {
  std::vector<std::vector<idx>> rows(static_cast<std::size_t>(A.rows));
  for (idx row = 0; row < A.rows; ++row) {
    std::set<idx> columns;
    for (count32 e = A.start[row]; e < A.start[row + 1]; ++e)
      for (count32 f = B.start[A.column[e]]; f < B.start[A.column[e] + 1]; ++f) columns.insert(B.column[f]);
    rows[static_cast<std::size_t>(row)].assign(columns.begin(), columns.end());
  }
  return pattern_of(B.cols, rows);
}

Pattern product_of_two(const PatternView& A, const PatternView& B) {
  const Term<PatternView> sum[] = {{A, B}};
  return product_pattern(sum);
}

Pattern galerkin_of_one(const PatternView& Q, const PatternView& A, const PatternView& P) {
  const Term<PatternView> sum[] = {{A, P}};
  return galerkin_pattern(Q, sum);
}

bool are_equal(const Pattern& a, const Pattern& b) {
  return a.rows == b.rows && a.cols == b.cols && a.start == b.start && a.column == b.column;
}

/// Each with room for it alone, full of what must not stay.
template <class S>
Fenced<S> room_for(const Pattern& pattern, BlockShape block) {
  return Fenced<S>(std::vector<S>(pattern.column.size() * scalars_in(block), S(99)));
}

template <class S>
void check_product(Pattern of_A, Pattern of_B, int rows, int inner, int width, Random& random) {
  SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(inner) + "x" + std::to_string(width));
  const SparseMatrix<S> A(std::move(of_A), {rows, inner}, random), B(std::move(of_B), {inner, width}, random);
  const Pattern pattern = product_of_two(A.pattern.view(), B.pattern.view());
  ASSERT_TRUE(are_equal(pattern, wanted_pattern(A.pattern.view(), B.pattern.view())));
  const Fenced<S> C = room_for<S>(pattern, {rows, width});

  const Term<FullBlocks> sum[] = {{A.blocks(), B.blocks()}};
  multiply(sum, scalar_type_of<S>(), pattern.view(), C.data());

  EXPECT_TRUE(dense(pattern.view(), {rows, width}, C.data()) == product(dense(A), dense(B)));
}

template <class S>
void check_galerkin(Pattern of_Q, Pattern of_A, Pattern of_P, BlockShape a, int coarse, int width, Random& random) {
  SCOPED_TRACE(text_of(a) + " to " + std::to_string(coarse) + "x" + std::to_string(width));
  const SparseMatrix<S> Q(std::move(of_Q), {a.rows, coarse}, random), A(std::move(of_A), a, random),
      P(std::move(of_P), {a.cols, width}, random);
  const Pattern pattern = galerkin_of_one(Q.pattern.view(), A.pattern.view(), P.pattern.view());
  const Pattern fine = product_of_two(A.pattern.view(), P.pattern.view());
  const Pattern to_fine = compound::transposed(Q.pattern.view()).pattern;
  ASSERT_TRUE(are_equal(pattern, wanted_pattern(to_fine.view(), fine.view())));
  const Fenced<S> C = room_for<S>(pattern, {coarse, width});

  const Term<FullBlocks> sum[] = {{A.blocks(), P.blocks()}};
  multiply_galerkin(Q.blocks(), sum, scalar_type_of<S>(), pattern.view(), C.data());

  EXPECT_TRUE(dense(pattern.view(), {coarse, width}, C.data()) ==
              product(transposed(dense(Q)), product(dense(A), dense(P))));
}

/// Columns in any order, some twice, and rows that are empty.
Pattern drawn_pattern(idx rows, idx cols, Random& random) {
  return random_pattern(rows, cols, std::min<idx>(cols, 4), static_cast<std::uint64_t>(random.below(1 << 30)));
}

constexpr int largest = 9;  // a vector, and one more

TEST(SparseProduct, OfBlocksOfAnySizeIsTheDenseOne) {
  SCOPED_TRACE(seed_text());
  Random random;
  for (int rows = 1; rows <= 7; ++rows)
    for (int inner = 1; inner <= 7; ++inner)
      for (int width = 1; width <= largest; ++width)
        check_product<double>(drawn_pattern(6, 5, random), drawn_pattern(5, 7, random), rows, inner, width, random);
}

TEST(SparseProduct, OfGalerkinIsTheDenseOne) {
  SCOPED_TRACE(seed_text());
  Random random;
  for (int size = 1; size <= 7; ++size)
    for (int coarse = 1; coarse <= largest; ++coarse)
      for (int width = 1; width <= largest; ++width)
        check_galerkin<double>(drawn_pattern(8, 3, random), drawn_pattern(8, 8, random), drawn_pattern(8, 4, random),
                               {size, size}, coarse, width, random);
}

TEST(SparseProduct, OfGalerkinTakesBlocksThatAreNotSquare) {
  SCOPED_TRACE(seed_text());
  Random random;
  for (const BlockShape a : {BlockShape{3, 2}, {2, 3}, {1, 4}, {5, 1}, {8, 9}})
    check_galerkin<double>(drawn_pattern(6, 4, random), drawn_pattern(6, 9, random), drawn_pattern(9, 5, random), a, 3,
                           6, random);
}

template <class S>
Dense<S> sum_of(Dense<S> a, const Dense<S>& b) {
  for (std::size_t k = 0; k < a.value.size(); ++k) a.value[k] += b.value[k];
  return a;
}

TEST(SparseProduct, OfTwoPartsIsTheirSum) {
  SCOPED_TRACE(seed_text());
  Random random;
  for (const int size : {1, 3, 8}) {
    const BlockShape a{size, size}, b{size, 6};
    const SparseMatrix<double> A(drawn_pattern(9, 9, random), a, random), B(drawn_pattern(9, 7, random), b, random),
        A2(drawn_pattern(9, 4, random), a, random), B2(drawn_pattern(4, 7, random), b, random),
        Q(drawn_pattern(9, 5, random), {size, 2}, random);
    const Term<FullBlocks> sum[] = {{A.blocks(), B.blocks()}, {A2.blocks(), B2.blocks()}};
    const Term<PatternView> patterns[] = {{A.pattern.view(), B.pattern.view()}, {A2.pattern.view(), B2.pattern.view()}};
    const Pattern fine = product_pattern(patterns), coarse = galerkin_pattern(Q.pattern.view(), patterns);
    const Fenced<double> C = room_for<double>(fine, b), D = room_for<double>(coarse, {2, 6});

    multiply(sum, scalar_type_of<double>(), fine.view(), C.data());
    multiply_galerkin(Q.blocks(), sum, scalar_type_of<double>(), coarse.view(), D.data());

    const auto wanted = sum_of(product(dense(A), dense(B)), product(dense(A2), dense(B2)));
    EXPECT_TRUE(dense(fine.view(), b, C.data()) == wanted) << size;
    EXPECT_TRUE(dense(coarse.view(), {2, 6}, D.data()) == product(transposed(dense(Q)), wanted)) << size;
  }
}

template <class S>
struct SparseProductOf : testing::Test {};
using Scalars = testing::Types<float, double, complex_number<float>, complex_number<double>>;
TYPED_TEST_SUITE(SparseProductOf, Scalars);

TYPED_TEST(SparseProductOf, EveryScalar) {
  SCOPED_TRACE(seed_text());
  Random random;
  for (const int size : {1, 3, 8}) {
    check_product<TypeParam>(drawn_pattern(9, 8, random), drawn_pattern(8, 5, random), 2, size, 6, random);
    check_galerkin<TypeParam>(drawn_pattern(9, 4, random), drawn_pattern(9, 9, random), drawn_pattern(9, 4, random),
                              {size, size}, 6, 6, random);
  }
}

TEST(SparseProduct, OfTheZooIsTheDenseOne) {
  Random random;
  for (const ZooPattern& z : zoo()) {
    const PatternView p = z.pattern.view();
    if (std::max(p.rows, p.cols) > 70) continue;  // dense ones take long
    SCOPED_TRACE(std::string(z.name));
    const Pattern t = compound::transposed(p).pattern;
    check_product<double>(z.pattern, t, 3, 3, 3, random);
    check_galerkin<double>(z.pattern, product_of_two(p, t.view()), z.pattern, {3, 3}, 6, 6, random);
  }
}

/// Rows are put in order in two ways, by how far apart their columns are.
TEST(SparseProduct, HasItsColumnsInOrderNearAndFarApart) {
  Random random;
  SCOPED_TRACE(seed_text());
  for (const idx reach : {40, 500, 5000, 200000}) {
    const idx rows = 50;
    Pattern A{rows, rows, {0}, {}}, B{rows, 200000, {0}, {}};
    for (idx row = 0; row < rows; ++row) {
      for (const idx k : {row, (row * 7 + 3) % rows, (row + 11) % rows}) A.column.push_back(k);
      for (int e = 0; e < 5; ++e) B.column.push_back(random.below(reach));
      A.start.push_back(static_cast<count32>(A.column.size()));
      B.start.push_back(static_cast<count32>(B.column.size()));
    }
    const Term<PatternView> sum[] = {{A.view(), B.view()}};

    const Pattern C = product_pattern(sum);

    for (idx row = 0; row < rows; ++row) {
      std::set<idx> wanted;
      for (count32 a = A.start[row]; a < A.start[row + 1]; ++a)
        wanted.insert(B.column.begin() + B.start[A.column[a]], B.column.begin() + B.start[A.column[a] + 1]);
      const std::vector<idx> found(C.column.begin() + C.start[row], C.column.begin() + C.start[row + 1]);
      EXPECT_EQ(found, std::vector<idx>(wanted.begin(), wanted.end())) << "row " << row << ", reach " << reach;
    }
  }
}

TEST(SparseProduct, CountsItsMultiplications) {
  const Pattern A = pattern_of(2, {{0, 1}, {}, {1}}), B = pattern_of(4, {{3}, {0, 2, 3}});
  Random random;
  const SparseMatrix<double> a(A, {2, 3}, random), b(B, {3, 5}, random),
      q(pattern_of(1, {{0}, {0}, {}}), {2, 4}, random);
  const Pattern c = product_of_two(A.view(), B.view()), coarse = galerkin_of_one(q.pattern.view(), A.view(), B.view());
  std::vector<double> values(1000);

  const Term<FullBlocks> sum[] = {{a.blocks(), b.blocks()}};
  EXPECT_EQ(multiply(sum, scalar_type_of<double>(), c.view(), values.data()), 7 * 2 * 3 * 5);

  // A P row by row: 4 products, none of the empty row, none of the row that Q leaves out; 3 blocks with Q's one.
  EXPECT_EQ(multiply_galerkin(q.blocks(), sum, scalar_type_of<double>(), coarse.view(), values.data()),
            4 * 2 * 3 * 5 + 3 * 2 * 4 * 5);
}

TEST(SparseProduct, RefusesShapesThatDoNotFit) {
  const Pattern A = pattern_of(2, {{0, 1}}), B = pattern_of(4, {{3}, {0}, {1}}), P = pattern_of(4, {{3}, {0}}),
                none = pattern_of(4, {{}, {}, {}, {}});
  EXPECT_TRUE(
      throws([&] { product_of_two(A.view(), B.view()); }, ErrorKind::argument, "2 block columns but 3 block rows"));
  EXPECT_TRUE(throws([&] { galerkin_of_one(P.view(), A.view(), P.view()); }, ErrorKind::argument,
                     "1 block rows but 2 block rows"));
  const Term<PatternView> sum[] = {{A.view(), P.view()}, {P.view(), none.view()}};
  EXPECT_TRUE(
      throws([&] { product_pattern(sum); }, ErrorKind::argument, "1 block rows but 2 block rows in its second part"));
}

}  // namespace
}  // namespace compound::test
