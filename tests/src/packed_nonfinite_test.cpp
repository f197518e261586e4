// NaN and infinity in x: they reach the rows whose entries touch them and no others; padding never leaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

const char* const plans[] = {"csr",
                             "hdia:32",
                             "ccoo:32",
                             "csr rowlist",
                             "csr words=32:row",
                             "ellr",
                             "ellr presence",
                             "ellr rowlist",
                             "sell:2",
                             "sell:8 words=all",
                             "sell:32",
                             "sell:33",
                             "sell:256",
                             "sell:8:64",
                             "sell:32:all",
                             "sell:8 presence",
                             "sell:32 presence",
                             "sell:32:all presence rowlist",
                             "sell:32 vectors=32",
                             "sell:8 presence vectors=all"};

struct EntryOf {
  const char* name;
  std::string_view entry;
  Problem problem;
};

void PrintTo(const EntryOf& c, std::ostream* out) { *out << c.name; }

const EntryOf entries[] = {
    {"dense_1x1", "dense", {{1, 1}, {Field::real, Precision::double_}}},
    {"dense_3x3", "dense", {{3, 3}, {Field::real, Precision::double_}}},
    {"dense_3x2", "dense", {{3, 2}, {Field::real, Precision::double_}}},
    {"dense_complex_2x2", "dense", {{2, 2}, {Field::complex, Precision::double_}}},
    {"complex", "complex", {{2, 2}, {Field::real, Precision::double_}}},
    {"quaternion", "quaternion", {{4, 4}, {Field::real, Precision::single}}},
    {"quaternion_in_complex", "quaternion", {{2, 2}, {Field::complex, Precision::double_}}},
};

class NonFinite : public testing::TestWithParam<std::tuple<EntryOf, const char*>> {
 protected:
  const EntryOf& entry() const { return std::get<0>(GetParam()); }
  Plan plan() const {
    Plan base;
    base.entry = entry().entry;
    base.values = entry().problem.scalar.precision;
    return parse_plan(std::get<1>(GetParam()), base);
  }
};

std::string case_name(const testing::TestParamInfo<std::tuple<EntryOf, const char*>>& instance) {
  std::string name = std::string(std::get<0>(instance.param).name) + "__" + std::get<1>(instance.param);
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, NonFinite, testing::Combine(testing::ValuesIn(entries), testing::ValuesIn(plans)),
                         case_name);

/// Which blocks of n scalars have only scalars that are not finite, and that none is mixed.
template <class S>
std::vector<bool> spoilt_blocks(const std::vector<S>& y, int n) {
  std::vector<bool> spoilt(y.size() / n);
  for (std::size_t b = 0; b < spoilt.size(); ++b) {
    int not_finite = 0;
    for (int k = 0; k < n; ++k) not_finite += !std::isfinite(static_cast<double>(magnitude(y[b * n + k])));
    EXPECT_TRUE(not_finite == 0 || not_finite == n) << "block " << b;
    spoilt[b] = not_finite > 0;
  }
  return spoilt;
}

/// Blocks of y = op(A) x that have an entry with block `in` of x.
std::vector<bool> touched_blocks(const Pattern& p, Op op, idx in) {
  std::vector<bool> touched(op == Op::none ? p.rows : p.cols);
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      if ((op == Op::none ? p.column[e] : row) == in) touched[op == Op::none ? row : p.column[e]] = true;
  return touched;
}

/// x of ones but for scalar 0 of one block.
template <class S>
std::vector<S> spoilt_vector(idx blocks, int n, idx at, real_of<S> bad) {
  std::vector<S> x(std::size_t(blocks) * n, S{1});
  x[std::size_t(at) * n] = S{bad};
  return x;
}

template <class S>
void expect_only_touched_blocks_spoilt(const Operands<S>& operands, const PackedMatrix& A, idx at, real_of<S> bad) {
  for (const Op op : ops)
    for (const Form form : forms) {
      const Ends ends = ends_of(operands.pattern, operands.shape, op);
      const auto x = spoilt_vector<S>(ends.in_blocks, ends.in, at, bad);

      const auto y = multiplied(A, ends, op, form, x, operands.z(op));

      EXPECT_EQ(spoilt_blocks(y, ends.out), touched_blocks(operands.pattern, op, at))
          << product_name(op, form) << ", block " << at << " of x has " << bad;
    }
}

TEST_P(NonFinite, BlocksOfXReachOnlyTheRowsThatTouchThem) {
  const Pattern pattern = random_pattern(60, 50, 6, test_seed());
  SCOPED_TRACE(seed_text());

  with_scalar(entry().problem.scalar, [&]<class S>(S) {
    using R = real_of<S>;
    Random random;
    const Operands<S> operands(pattern, entry().entry, entry().problem.block, random);
    const PackedMatrix A = packed(operands, plan());
    for (const idx at : {0, 17, 49})
      for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
        expect_only_touched_blocks_spoilt(operands, A, at, bad);
  });
}

TEST_P(NonFinite, FirstBlockOfXDoesNotLeakThroughPaddingOfAMatrixWithoutThatColumn) {
  Pattern pattern = random_pattern(60, 50, 6, test_seed());
  for (idx& c : pattern.column) c = std::max(c, 1);
  SCOPED_TRACE(seed_text());

  with_scalar(entry().problem.scalar, [&]<class S>(S) {
    Random random;
    const Operands<S> operands(pattern, entry().entry, entry().problem.block, random);
    const PackedMatrix A = packed(operands, plan());
    const Ends ends = ends_of(pattern, operands.shape, Op::none);
    const auto x = spoilt_vector<S>(ends.in_blocks, ends.in, 0, std::numeric_limits<real_of<S>>::quiet_NaN());

    const auto y = multiplied(A, ends, Op::none, Form::assign, x, {});

    EXPECT_EQ(spoilt_blocks(y, ends.out), std::vector<bool>(60));
  });
}

/// Dense blocks: a block with NaN is of no compressed kind.
class NonFiniteDense : public NonFinite {};

INSTANTIATE_TEST_SUITE_P(All, NonFiniteDense,
                         testing::Combine(testing::ValuesIn(entries, entries + 4), testing::ValuesIn(plans)),
                         case_name);

TEST_P(NonFiniteDense, BlocksOfAReachOnlyTheirOwnRow) {
  const Pattern pattern = random_pattern(60, 50, 6, test_seed());
  SCOPED_TRACE(seed_text());

  with_scalar(entry().problem.scalar, [&]<class S>(S) {
    Random random;
    Operands<S> operands(pattern, "dense", entry().problem.block, random);
    const int scalars = operands.shape.rows * operands.shape.cols;
    std::fill_n(operands.blocks.begin() + 7 * scalars, scalars, not_a_number<S>());
    const PackedMatrix A = packed(operands, plan());
    const idx row =
        static_cast<idx>(std::upper_bound(pattern.start.begin(), pattern.start.end(), 7u) - pattern.start.begin()) - 1;
    std::vector<bool> expected(60);
    expected[row] = true;

    const auto y = multiplied(A, operands, Op::none, Form::assign);

    EXPECT_EQ(spoilt_blocks(y, operands.shape.rows), expected);
  });
}

}  // namespace
}  // namespace compound::test
