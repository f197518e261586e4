// Plans that store a half of a symmetric or Hermitian matrix: all products of all kinds of entry whose transposes are
// of the kind, against the definition; what they refuse; what they take.
#include <gtest/gtest.h>

#include "support/entry_cases.hpp"
#include "support/errors.hpp"
#include "support/recording_backend.hpp"
#include "support/row_words.hpp"
#include "support/symmetric.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

Plan half_plan(const HalfCase& c, std::string_view words) {
  Plan base;
  set_entry(base, c.entry.entry);
  const std::string half = c.half == Half::hermitian ? " half=hermitian" : " half=symmetric";
  return parse_plan(std::string(words) + half + c.scalar.values, base);
}

class PackedHalf : public testing::TestWithParam<HalfCase> {};
INSTANTIATE_TEST_SUITE_P(Kinds, PackedHalf, testing::ValuesIn(half_cases()),
                         [](const auto& i) { return "case_" + std::to_string(i.index); });

TEST_P(PackedHalf, MultipliesAsTheWholeDoes) {
  const HalfCase& c = GetParam();
  SCOPED_TRACE(seed_text());
  with_scalar(c.scalar.vectors, [&]<class S>(S) {
    const BlockShape shape = c.entry.in(c.scalar.vectors.field);
    // Blocks on the diagonal are their own transposes: of kinds other than dense those may be none.
    const Pattern p = symmetric_pattern(23, 4, c.entry.entry == "dense", test_seed());
    const Problem problem{shape, scalar_type_of<S>()};
    if (applicable(half_plan(c, "csr"), problem)) return;  // there is no such kind
    Random random;
    const auto o = symmetric_operands<S>(p, c.entry.entry, shape, c.half, random);
    PackedMatrix first(p.view(), problem, half_plan(c, "csr"), backend("host"));
    if (first.try_update_values(o.blocks.data())) {
      EXPECT_TRUE(c.entry.entry != "dense" && c.entry.entry != "quaternion" && c.entry.entry != "complex");
      return;  // whose transposes are not of the kind
    }
    for (const std::string_view words : {"csr", "csr plain", "csr rowlist", "csr columns=16", "csr vectors=4",
                                         "csr words=4", "csr words=1:row", "csr words=all:row plain"}) {
      const Plan plan = half_plan(c, words);
      if (applicable(plan, problem)) continue;
      const PackedMatrix A = packed(o, plan);
      EXPECT_FALSE(A.lies_on_blocks());
      EXPECT_EQ(A.slots(), slot_t(p.view().entries() + (c.entry.entry == "dense" ? p.rows - p.rows / 5 - 1 : 0)) / 2);
      EXPECT_EQ(A.padding(), 0);
      const Footprint counted = bytes_of(p.view(), problem, plan, backend("host"));
      EXPECT_EQ(counted.allocated.total(), A.bytes().total()) << to_string(plan);
      for (const Op op : ops)
        for (const Form form : forms)
          EXPECT_TRUE(agrees(multiplied(A, o, op, form), reference_product(o, plan.values, op, form)))
              << to_string(plan) << ": " << product_name(op, form);
    }
  });
}

/// The entries on the diagonal and above, as PETSc's SBAIJ gives them: what is below the diagonal of diagonal blocks is
/// undefined there.
template <class S>
struct Upper {
  Pattern pattern;
  std::vector<S> blocks;

  Upper(const Pattern& p, const std::vector<S>& all, int side) : pattern{p.rows, p.cols, {0}, {}} {
    const std::size_t scalars = std::size_t(side) * side;
    for (idx row = 0; row < p.rows; ++row) {
      for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
        if (p.column[e] < row) continue;
        pattern.column.push_back(p.column[e]);
        blocks.insert(blocks.end(), all.begin() + e * scalars, all.begin() + (e + 1) * scalars);
        if (p.column[e] == row)
          for (int j = 0; j < side; ++j)
            for (int i = j + 1; i < side; ++i) (blocks.end() - scalars)[j * side + i] = S{real_of<S>(1e30)};
      }
      pattern.start.push_back(static_cast<count32>(pattern.column.size()));
    }
  }
};

TEST_P(PackedHalf, MultipliesAnUpperTriangleWhereItLies) {
  const HalfCase& c = GetParam();
  SCOPED_TRACE(seed_text());
  if (c.entry.entry != "dense") return;  // undefined scalars make blocks be of no other kind
  with_scalar(c.scalar.vectors, [&]<class S>(S) {
    const BlockShape shape = c.entry.in(c.scalar.vectors.field);
    const Pattern p = symmetric_pattern(23, 4, true, test_seed());
    Problem problem{shape, scalar_type_of<S>()};
    problem.upper = true;
    Random random;
    const auto o = symmetric_operands<S>(p, "dense", shape, c.half, random);
    const Upper<S> upper(p, o.blocks, shape.rows);
    for (const std::string_view words : {"csr", "csr plain", "csr columns=16", "csr words=1:row"}) {
      const Plan plan = half_plan(c, words);
      PackedMatrix A(upper.pattern.view(), problem, plan, backend("host"));
      A.update_values(upper.blocks.data());
      EXPECT_EQ(A.lies_on_blocks(), words_are_blocks(plan, problem)) << to_string(plan);
      EXPECT_EQ(A.padding(), 0);
      const Footprint counted = bytes_of(upper.pattern.view(), problem, plan, backend("host"));
      EXPECT_EQ(counted.allocated.total(), A.bytes().total()) << to_string(plan);
      for (const Op op : ops)
        for (const Form form : forms)
          EXPECT_TRUE(agrees(multiplied(A, o, op, form), reference_product(o, plan.values, op, form)))
              << to_string(plan) << ": " << product_name(op, form);
    }
  });
}

const Problem real_2x2{{2, 2}, {}};

TEST(HalfPlan, AnUpperTriangleNeedsHalfAndAscendsFromTheDiagonal) {
  Problem problem = real_2x2;
  problem.upper = true;
  EXPECT_NE(applicable(parse_plan("csr", {}), problem).value_or("").find("needs half=symmetric"), std::string::npos);
  const auto refused = [&](const std::vector<std::vector<idx>>& rows, std::string_view why) {
    const Pattern p = pattern_of(3, rows);
    EXPECT_ERROR(PackedMatrix(p.view(), problem, parse_plan("csr half=symmetric", {}), backend("host")),
                 ErrorKind::argument, why);
  };
  refused({{0}, {0, 1}, {2}}, "block (1, 0) comes first in its row");
  refused({{0, 2, 1}, {1}, {2}}, "block (0, 1) comes after (0, 2)");
  refused({{0, 0}, {1}, {2}}, "block (0, 0) comes after (0, 0)");
}

PackedMatrix half_of(const Pattern& p, const Problem& problem = real_2x2,
                     std::string_view line = "csr half=symmetric") {
  return {p.view(), problem, parse_plan(line, {}), backend("host")};
}

TEST(HalfPlan, IsPrintedAndRead) {
  const Plan plan = parse_plan("csr half=hermitian", {});
  EXPECT_EQ(plan.half, Half::hermitian);
  EXPECT_EQ(parse_plan(to_string(plan), {}), plan);
  EXPECT_EQ(to_string(Plan{}).find("half"), std::string::npos);
  EXPECT_EQ(parse_plan("half=none", plan).half, Half::none);
  EXPECT_ERROR(parse_plan("csr half=upper", {}), ErrorKind::argument, "symmetric");
}

TEST(HalfPlan, GoesWithCompressedRowsOfSquareBlocksAlone) {
  const auto why = [](std::string_view line, Problem problem = real_2x2) {
    return applicable(parse_plan(line, {}), problem).value_or("");
  };
  EXPECT_EQ(why("csr half=symmetric"), "");
  EXPECT_NE(why("sell:8 half=symmetric").find("layout csr alone, not with layout sell"), std::string::npos);
  EXPECT_NE(why("ccoo half=symmetric").find("layout csr alone"), std::string::npos);
  EXPECT_NE(why("csr half=symmetric codes=scalars8").find("codes=none alone"), std::string::npos);
  EXPECT_NE(why("csr half=symmetric", {{2, 3}, {}}).find("square blocks, not for blocks of 2x3"), std::string::npos);
  EXPECT_NE(why("csr half=hermitian").find("half=symmetric"), std::string::npos);
  EXPECT_NE(why("csr half=symmetric longest=3 + csr").find("one part"), std::string::npos);
  EXPECT_NE(why("csr words=rows half=symmetric", given_in_rows(real_2x2)).find("words=1"), std::string::npos);
  const auto why_on = [](Reach reach, const Plan& plan) {
    return RecordingBackend("recording", reach).applicable(plan, real_2x2).value_or("");
  };
  const Plan rows = parse_plan("csr half=symmetric", {}), patches = parse_plan("sell:32:64 columns=patch", rows);
  EXPECT_NE(why_on(Reach::copies, rows).find("copies them: leave half= out"), std::string::npos);
  EXPECT_NE(why_on(Reach::device, rows).find("in patches of rows: sell:32:256"), std::string::npos);
  EXPECT_NE(backend("host").applicable(patches, real_2x2).value_or("").find("columns=patch is for devices"),
            std::string::npos);
}

TEST(HalfPlan, NamesWhatIsNotSymmetricInAPattern) {
  const auto refused = [](idx columns, const std::vector<std::vector<idx>>& rows, std::string_view why) {
    EXPECT_ERROR(half_of(pattern_of(columns, rows)), ErrorKind::argument, why);
  };
  refused(3, {{0, 2}, {1}, {2}}, "it has block (0, 2) and not (2, 0)");
  refused(3, {{0}, {1}, {1, 2}}, "it has block (2, 1) and not (1, 2)");
  refused(3, {{0, 1}, {2}, {1}}, "it has block (0, 1) and not (1, 0)");
  refused(3, {{0}, {0, 1}, {2}}, "it has block (1, 0) and not (0, 1)");
  refused(4, {{0}, {1}, {2}}, "3 block rows and 4 block columns");
  refused(2, {{1, 0}, {0, 1}}, "those of block row 0 do not");
  refused(2, {{0, 0}, {1}}, "those of block row 0 do not");
  EXPECT_EQ(half_of(pattern_of(3, {{}, {}, {}})).slots(), 0);
  EXPECT_EQ(half_of(pattern_of(0, {})).slots(), 0);
}

/// [[4, a], [a^T, 9]] of 2x2 blocks.
struct TwoRows {
  Pattern pattern = pattern_of(2, {{0, 1}, {0, 1}});
  std::vector<double> blocks = {4, 1, 1, 4, 1, 2, 3, 5, 1, 3, 2, 5, 9, 1, 1, 9};
  double& lower(int i, int j) { return blocks[8 + 2 * j + i]; }
};

TEST(HalfPlan, RefusesValuesThatAreNotSymmetricAndKeepsTheOldOnes) {
  TwoRows m;
  PackedMatrix A = half_of(m.pattern);
  A.update_values(m.blocks.data());
  const std::vector<double> x = {1, 2, 3, 4}, before = {21, 35, 36, 52};
  std::vector<double> y(4);
  const auto product = [&] {
    A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
    return y;
  };
  EXPECT_EQ(product(), before);
  m.lower(1, 0) += 1e-9;
  EXPECT_ERROR(A.update_values(m.blocks.data()), ErrorKind::argument,
               "blocks (0, 1) and (1, 0) differ by 1e-09 in their scalars (0, 1) and (1, 0)");
  EXPECT_EQ(product(), before);
  m = {};
  m.blocks[1] = 2;
  EXPECT_ERROR(A.update_values(m.blocks.data()), ErrorKind::argument, "blocks (0, 0) and (0, 0) differ by 1");
  for (double& v : m.blocks) v = std::numeric_limits<double>::quiet_NaN();
  A.update_values(m.blocks.data());
  EXPECT_TRUE(std::isnan(product()[3]));
  m = {};
  m.lower(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_ERROR(A.update_values(m.blocks.data()), ErrorKind::argument, "differ by nan");
  m.lower(0, 0) = std::numeric_limits<double>::infinity();
  EXPECT_ERROR(A.update_values(m.blocks.data()), ErrorKind::argument, "differ by inf");
  m.blocks[4] = m.lower(0, 0);
  A.update_values(m.blocks.data());
  EXPECT_TRUE(std::isinf(product()[0]));
}

/// Relative to the diagonal: a mean of 6 here, of any scale.
TEST(HalfPlan, TakesDifferencesOfRounding) {
  for (const double scale : {1e-300, 1e-150, 1.0, 1e150}) {
    TwoRows m;
    for (double& v : m.blocks) v *= scale;
    m.blocks[4] = 0;  // sums that cancel
    m.lower(0, 0) = 6 * 0x1p-44 * scale;
    PackedMatrix A = half_of(m.pattern);
    A.update_values(m.blocks.data());
    m.lower(0, 0) = 6 * 0x1p-42 * scale;
    EXPECT_ERROR(A.update_values(m.blocks.data()), ErrorKind::argument, "differ by");
  }
  TwoRows no_diagonal;
  no_diagonal.pattern = pattern_of(2, {{1}, {0}});
  no_diagonal.blocks = {0, 2, 3, 5, 1e-300, 3, 2, 5};
  EXPECT_ERROR(half_of(no_diagonal.pattern).update_values(no_diagonal.blocks.data()), ErrorKind::argument, "1e-300");
}

TEST(HalfPlan, HasDiagonals) {
  Random random;
  const Pattern p = symmetric_pattern(31, 5, true, test_seed());
  SCOPED_TRACE(seed_text());
  const auto o = symmetric_operands<double>(p, "dense", {3, 3}, Half::symmetric, random);
  const PackedMatrix half = packed(o, parse_plan("csr half=symmetric", {})), whole = packed(o, parse_plan("csr", {}));
  std::vector<double> a(3 * 31, 7), b(3 * 31, 8);
  half.diagonal(a.data());
  whole.diagonal(b.data());
  EXPECT_EQ(a, b);
  std::vector<double> inverses(9 * 31), expected(9 * 31);
  EXPECT_EQ(half.invert_diagonal(inverses.data()), whole.invert_diagonal(expected.data()));
  EXPECT_EQ(inverses, expected);
}

TEST(HalfPlan, TakesValuesInTheOrderOfRowsAndSeveralVectors) {
  Random random;
  const Pattern p = symmetric_pattern(40, 6, true, test_seed());
  SCOPED_TRACE(seed_text());
  const auto o = symmetric_operands<double>(p, "dense", {3, 3}, Half::symmetric, random);
  const Plan plan = parse_plan("csr half=symmetric", {});
  const PackedMatrix A = packed_from_rows(o, plan, in_rows(p, {3, 3}, o.blocks));
  const auto once = multiplied(A, o, Op::none, Form::assign);
  EXPECT_TRUE(agrees(once, reference_product(o, plan.values, Op::none, Form::assign)));
  const std::size_t n = once.size();
  std::vector<double> x(3 * n), y(3 * n);
  for (std::size_t k = 0; k < 3 * n; ++k) x[k] = o.cols_vector[k % n];
  A.multiply_vectors(Op::none, Update::assign,
                     {.count = 3, .x_apart = slot_t(n), .z_apart = slot_t(n), .y_apart = slot_t(n)}, x.data(), nullptr,
                     y.data());
  for (std::size_t k = 0; k < 3 * n; ++k) ASSERT_EQ(y[k], once[k % n]);
}

}  // namespace
}  // namespace compound::test
