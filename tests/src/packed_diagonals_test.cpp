// Diagonals and inverses of diagonal blocks over square patterns, in all layouts, entries and scalars.
#include <gtest/gtest.h>

#include "support/entry_cases.hpp"
#include "support/errors.hpp"
#include "support/pairwise.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Square ones of the zoo, and some with all diagonal blocks.
const std::vector<ZooPattern>& square_patterns() {
  static const std::vector<ZooPattern> all = [] {
    std::vector<ZooPattern> square;
    for (const auto& z : zoo())
      if (z.pattern.rows == z.pattern.cols) square.push_back(z);
    square.push_back({"even", even_pattern(77, 300)});
    square.push_back({"twice on the diagonal", pattern_of(3, {{0, 1, 0}, {1}, {2, 2, 0, 2}})});
    square.push_back({"last column first", pattern_of(4, {{3, 0}, {1, 0}, {3, 2, 1}, {3}})});
    square.push_back({"last row missing", pattern_of(4, {{0}, {1}, {2}, {}})});
    return square;
  }();
  return all;
}

/// Approximate ones have a test of their own below.
const std::vector<EntryCase> entries = [] {
  auto all = square_entry_cases();
  // Multiples of the identity are added to their blocks.
  std::erase_if(all, [](const EntryCase& c) { return entry_kind(c.entry).multiples == Multiples::none; });
  all.push_back(entry_of("dense", 11, 11));
  all.push_back(entry_of("dense", 32, 32));
  return all;
}();
const std::vector<std::string> layouts = {"csr",       "ellr",        "sell:2",  "sell:8", "sell:32",
                                          "sell:8:64", "sell:32:all", "hdia:32", "dia",    "ccoo:32"};
const std::vector<std::string> word_groups = {" words=1:row",       " words=1:column", " words=8:column",
                                              " words=32:row",      " words=all:row",  " words=all:column",
                                              " words=1:row:padded"};
const std::vector<std::string> occupancies = {"", " presence"};
const std::vector<std::string> row_lists = {"", " rowlist"};
const std::vector<std::string> later_parts = {"", " longest=1 + sell:2", " longest=2 + csr longest=3 + ccoo:32"};

const std::vector<ScalarCase>& scalars = scalar_cases();

enum Factor { pattern, entry, layout, words, occupancy, row_list, scalar, later };

int size_in(const Choice& c) { return entries[c[entry]].in(scalars[c[scalar]].vectors.field).rows; }

Problem problem_in(const Choice& c) { return {{size_in(c), size_in(c)}, scalars[c[scalar]].vectors}; }

Plan plan_in(const Choice& c) {
  return padded_if_it_can(parse_plan("entry=" + std::string(entries[c[entry]].entry) + " " + layouts[c[layout]] +
                                         word_groups[c[words]] + occupancies[c[occupancy]] + row_lists[c[row_list]] +
                                         scalars[c[scalar]].values + later_parts[c[later]],
                                     {}),
                          problem_in(c));
}

template <class List>
int count(const List& list) {
  return static_cast<int>(list.size());
}

const std::vector<Choice>& cases() {
  static const std::vector<Choice> set =
      covering_set({{count(square_patterns()), count(entries), count(layouts), count(word_groups), count(occupancies),
                     count(row_lists), count(scalars), count(later_parts)},
                    [](const Choice& c) { return !applicable(plan_in(c), problem_in(c)); },
                    {entry, layout, occupancy, scalar}},
                   1);
  return set;
}

/// [rows] diagonal blocks, those given several times added up, and which rows have one.
template <class S>
struct Diagonal {
  std::vector<std::vector<S>> block;
  std::vector<bool> there;
};

template <class S>
Diagonal<S> diagonal_of(const Pattern& p, int n, const std::vector<S>& blocks) {
  Diagonal<S> d{std::vector<std::vector<S>>(p.rows, std::vector<S>(std::size_t(n) * n)), std::vector<bool>(p.rows)};
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
      if (p.column[e] != row) continue;
      d.there[row] = true;
      for (int k = 0; k < n * n; ++k) d.block[row][k] += blocks[std::size_t{e} * n * n + k];
    }
  return d;
}

/// |a b - 1|, the largest of its scalars.
template <class S>
long double distance_from_one(const std::vector<S>& a, const S* b, int n) {
  long double most = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      wide_of<S> sum{};
      for (int k = 0; k < n; ++k) sum += widened(a[i + k * n]) * widened(b[k + j * n]);
      sum -= widened(S(i == j ? 1 : 0));
      most = std::max(most, magnitude(sum));
    }
  return most;
}

/// Far from singular: numbers with 3 added to their real part, dense blocks with a large diagonal.
template <class S>
std::vector<S> regular_blocks(std::string_view entry, int n, count32 blocks_needed, Random& random) {
  auto blocks = random_blocks<S>(entry, {n, n}, blocks_needed, random);
  const real_of<S> added = entry == "dense" ? real_of<S>(2 * n) : real_of<S>(3);
  for (count32 e = 0; e < blocks_needed; ++e)
    for (int i = 0; i < n; ++i) blocks[(std::size_t{e} * n + i) * n + i] += S(added);
  return blocks;
}

class Diagonals : public testing::TestWithParam<Choice> {
 protected:
  /// f(S{}, pattern, block size, blocks as stored, packed matrix).
  template <class F>
  void on_packed(const F& f) {
    const Choice& c = GetParam();
    const Pattern& p = square_patterns()[c[pattern]].pattern;
    const int n = size_in(c);
    SCOPED_TRACE(std::string(square_patterns()[c[pattern]].name) + ", blocks of " + std::to_string(n) + ", " +
                 to_string(plan_in(c)) + ", " + seed_text());
    with_scalar(scalars[c[scalar]].vectors, [&]<class S>(S) {
      Random random;
      const auto blocks = regular_blocks<S>(entries[c[entry]].entry, n, p.view().entries(), random);
      PackedMatrix A(p.view(), problem_in(c), plan_in(c), backend("host"));
      A.update_values(blocks.data());
      f(S{}, p, n, as_stored(blocks, plan_in(c).values), A);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Pairwise, Diagonals, testing::ValuesIn(cases()),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

TEST_P(Diagonals, AreThoseOfTheBlocks) {
  on_packed([]<class S>(S, const Pattern& p, int n, const std::vector<S>& blocks, const PackedMatrix& A) {
    const auto wanted = diagonal_of(p, n, blocks);
    std::vector<S> found(std::size_t(p.rows) * n, not_a_number<S>());

    A.diagonal(found.data());

    int wrong = 0;
    for (idx row = 0; row < p.rows; ++row)
      for (int i = 0; i < n; ++i) wrong += !(found[std::size_t(row) * n + i] == wanted.block[row][i + i * n]);
    EXPECT_EQ(wrong, 0);
  });
}

TEST_P(Diagonals, AreInverted) {
  on_packed([]<class S>(S, const Pattern& p, int n, const std::vector<S>& blocks, const PackedMatrix& A) {
    const auto d = diagonal_of(p, n, blocks);
    const std::size_t scalars_of_block = std::size_t(n) * n;
    std::vector<S> found(p.rows * scalars_of_block, not_a_number<S>());

    const auto first_bad = A.invert_diagonal(found.data());

    std::optional<idx> first_missing;
    for (idx row = 0; row < p.rows; ++row) {
      const S* const inverse = found.data() + row * scalars_of_block;
      if (!d.there[row] && !first_missing) first_missing = row;
      if (d.there[row])
        EXPECT_LE(distance_from_one(d.block[row], inverse, n), 16 * n * std::numeric_limits<real_of<S>>::epsilon())
            << "row " << row;
      else
        EXPECT_TRUE(std::all_of(inverse, inverse + scalars_of_block, [](S s) { return s == S{}; })) << "row " << row;
    }
    EXPECT_EQ(first_bad, first_missing);
  });
}

TEST(InvertDiagonal, NamesTheFirstSingularRowInAnyRowOrder) {
  for (const char* layout : {"csr", "sell:2:all", "sell:8:all presence", "ellr rowlist", "hdia:32", "ccoo:32"}) {
    const Pattern p = pattern_of(5, {{0}, {1, 0, 2}, {2, 1}, {3}, {4, 1, 2, 3}});
    std::vector<double> blocks(4 * p.view().entries(), 0.0);
    for (count32 e = 0; e < p.view().entries(); ++e) blocks[4 * e] = 2, blocks[4 * e + 3] = 4;
    for (const count32 singular : {p.start[4], p.start[2]}) blocks[4 * singular + 3] = 0;  // rows 4 and 2
    PackedMatrix A(p.view(), {{2, 2}, {}}, parse_plan(layout, {}), backend("host"));
    A.update_values(blocks.data());
    std::vector<double> found(20);

    EXPECT_EQ(A.invert_diagonal(found.data()), 2) << layout;

    EXPECT_EQ(found[4 * 3], 0.5) << layout;
    EXPECT_EQ(found[4 * 2], 0) << layout;
  }
}

TEST(Diagonal, NeedsSquareBlocks) {
  const Pattern p = pattern_of(1, {{0}});
  const std::vector<double> blocks(6);
  PackedMatrix A(p.view(), {{3, 2}, {}}, {}, backend("host"));
  A.update_values(blocks.data());
  double found[9];

  EXPECT_ERROR(A.diagonal(found), ErrorKind::argument,
               "diagonal blocks of a matrix with blocks of 3x2; only square blocks have a diagonal");
  EXPECT_ERROR(A.invert_diagonal(found), ErrorKind::argument,
               "diagonal blocks of a matrix with blocks of 3x2; only square blocks have a diagonal");
}

TEST(UnitQuaternions, HaveTheDiagonalsAndInversesOfTheirBlocks) {
  Random random;
  const Pattern p = pattern_of(2, {{1, 0}, {1}});
  const Problem problem{{4, 4}, {Field::real, Precision::double_}};
  const auto blocks = random_blocks<double>("unit_quaternion", problem.block, 3, random);
  PackedMatrix A(p.view(), problem, parse_plan("csr entry=unit_quaternion", {}), backend("host"));
  A.update_values(blocks.data());
  double diagonal[8], inverse[2][16];

  A.diagonal(diagonal);
  ASSERT_FALSE(A.invert_diagonal(inverse));

  for (int row = 0; row < 2; ++row) {  // the inverse of a rotation is its transpose
    const double* const block = &blocks[std::size_t(row == 0 ? 1 : 2) * 16];
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(diagonal[4 * row + i], block[5 * i], 2e-15) << seed_text();
      for (int j = 0; j < 4; ++j) EXPECT_NEAR(inverse[row][i + 4 * j], block[j + 4 * i], 2e-15);
    }
  }
}

}  // namespace
}  // namespace compound::test
