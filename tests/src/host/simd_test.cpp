// SIMD traversals: that they are taken where they should be, and that they touch nothing but their arrays. Their
// products are tested with all others (packed_products_test.cpp), once per instruction set, and drawn by the property
// runner.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/instruction_set.hpp"
#include "support/fenced.hpp"
#include "support/problems.hpp"
#include "support/row_words.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

using host::SimdKernel;

std::vector<SimdKernel> all_kernels() {
  const host::SimdTable table = host::simd_table(host::instruction_set_in_use());
  std::vector<SimdKernel> all(table.of_doubles.begin(), table.of_doubles.end());
  all.insert(all.end(), table.of_floats.begin(), table.of_floats.end());
  return all;
}

/// What there is of a form: its name, and a plan.
struct FormRow {
  HostTraversal form;
  const char *name, *plan;
};
constexpr FormRow form_rows[] = {{HostTraversal::rows, "blocks", "csr xahead"},
                                 {HostTraversal::row_words, "scalar rows", "csr words=rows xahead"},
                                 {HostTraversal::slices, "slices", "sell:8"},
                                 {HostTraversal::diagonals, "diagonals", "hdia:32"}};

const FormRow& form_of(const SimdKernel& k) { return *std::ranges::find(form_rows, k.form, &FormRow::form); }

std::string name_of_kernel(const SimdKernel& k) {
  return std::string(k.entry) + (k.complex_scalars ? " complex " : " real ") + std::to_string(k.rows) + "x" +
         std::to_string(k.cols) + (k.single ? " float " : " double ") + form_of(k).name + (k.coded ? " of codes" : "");
}

Plan plan_of(const SimdKernel& k) {
  return parse_plan("entry=" + std::string(k.entry) + " " + form_of(k).plan +
                        (k.single ? " values=float" : " values=double") + (k.coded ? " codes=scalars8" : ""),
                    {});
}

Problem problem_of(const SimdKernel& k, int rows, int cols) {
  return {{rows, cols},
          {k.complex_scalars ? Field::complex : Field::real, Precision::double_},
          k.form == HostTraversal::row_words ? ValueOrder::rows : ValueOrder::blocks};
}

TEST(Simd, IsTakenForWhatItsTableHas) {
  for (const SimdKernel& k : all_kernels()) {
    EXPECT_EQ(backend("host").code_for(plan_of(k), problem_of(k, k.rows, k.cols))->name(),
              name_of(host::instruction_set_in_use()))
        << name_of_kernel(k);
  }
}

TEST(Simd, IsNotTakenForWhatItCannotDo) {
  for (const char* line : {"csr words=1:row", "csr words=2", "csr words=2 codes=scalars8", "sell:8 presence", "sell:2",
                           "sell:8 words=1", "csr vectors=32", "csr plain", "hdia:33", "hdia:32 words=16",
                           "dia words=1", "hdia:32 rowlist", "hdia:32 words=32:row", "hdia:32 vectors=32"})
    EXPECT_EQ(backend("host").code_for(parse_plan(line, {}), real_3x3)->name(), "plain") << line;
  EXPECT_EQ(
      backend("host").code_for(parse_plan("csr values=float", {}), {{3, 3}, {Field::real, Precision::single}})->name(),
      "plain");
}

TEST(Simd, ReadsCodesByPieces) {
  for (const char* line :
       {"csr columns=8", "csr codes=scalars8", "csr words=1 codes=blocks16", "csr codes=blocks1", "csr codes=blocks0",
        "sell:8 columns=16", "sell:8 codes=scalars8", "sell:8 words=1 codes=blocks8", "ellr words=32 columns=8",
        "hdia:32 words=1 codes=blocks8", "ccoo words=1 codes=blocks8"})
    EXPECT_EQ(backend("host").code_for(parse_plan(line, {}), real_3x3)->name(), name_of(host::instruction_set_in_use()))
        << line;
}

/// Square blocks of every size that a table's row serves, and some others; or its own shape.
std::vector<BlockShape> shapes_of(const SimdKernel& k) {
  if (!k.any_shape) return {{k.rows, k.cols}};
  std::vector<BlockShape> shapes;
  for (int n = 1; n <= k.rows; ++n) shapes.push_back({n, n});
  for (const BlockShape b : {BlockShape{3, 5}, BlockShape{k.rows, 1}, BlockShape{1, k.cols}, BlockShape{13, 9}})
    if (k.entry == std::string_view("dense")) shapes.push_back(b);
  return shapes;
}

template <class S>
void expect_right_within_fences(const SimdKernel& k, BlockShape shape, const Pattern& pattern) {
  Random random;
  const Operands<S> operands = Operands<S>(pattern, k.entry, shape, random).for_codes_of(plan_of(k));
  PackedMatrix A(pattern.view(), problem_of(k, shape.rows, shape.cols), plan_of(k), backend("host"),
                 PatternLifetime::outlives);
  const bool by_rows = k.form == HostTraversal::row_words;
  const Fenced<S> blocks(by_rows ? in_rows(pattern, shape, operands.blocks) : operands.blocks), x(operands.cols_vector),
      z(operands.rows_z);
  const Fenced<S> y(std::vector<S>(operands.rows_z.size(), not_a_number<S>()));
  A.update_values(blocks.data());
  const auto result = [&] { return std::vector<S>(y.data(), y.data() + operands.rows_z.size()); };

  A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());
  EXPECT_TRUE(agrees(result(), reference_product(operands, plan_of(k).values, Op::none, Form::assign)));
  A.multiply(Op::none, Update::add, x.data(), z.data(), y.data());
  EXPECT_TRUE(agrees(result(), reference_product(operands, plan_of(k).values, Op::none, Form::add)));
  if (!k.scatter) return;
  const Fenced<S> from(operands.rows_vector), to(operands.cols_z);
  A.multiply(Op::hermitian, Update::add, from.data(), to.data(), to.data());
  EXPECT_TRUE(agrees(std::vector<S>(to.data(), to.data() + operands.cols_z.size()),
                     reference_product(operands, plan_of(k).values, Op::hermitian, Form::add)));
}

/// The last row has the last column, as a matrix's last row has.
Pattern pattern_to_the_corner(idx rows, idx cols, idx longest) {
  Pattern p = random_pattern(rows, cols, longest, test_seed());
  if (!p.column.empty()) p.column.back() = cols - 1;
  return p;
}

TEST(Simd, ReadsAndWritesNothingBeyondItsArrays) {
  const Pattern patterns[] = {pattern_to_the_corner(37, 29, 9), pattern_to_the_corner(1, 1, 1),
                              pattern_to_the_corner(9, 40, 1), pattern_to_the_corner(11, 70, 50), pattern_of(2, {{1}})};
  SCOPED_TRACE(seed_text());
  for (const SimdKernel& k : all_kernels()) {
    for (const BlockShape shape : shapes_of(k))
      for (const Pattern& pattern : patterns) {
        SCOPED_TRACE(name_of_kernel(k) + ", blocks " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
                     ", " + std::to_string(pattern.rows) + " rows");
        if (k.complex_scalars)
          expect_right_within_fences<complex_number<double>>(k, shape, pattern);
        else
          expect_right_within_fences<double>(k, shape, pattern);
      }
  }
}

/// Columns and values that are codes are read by pieces, whose rows do not begin with x's: the lanes of rows without an
/// entry may read x only where those beside them do.
TEST(Simd, ReadsXWithinItsArrayWhereFewRowsOfAPieceHaveEntries) {
  std::vector<std::vector<idx>> rows(33);
  rows[29] = {0, 0, 0};
  for (const auto& [line, block] :
       {std::pair{"hdia:192 codes=blocks8", BlockShape{3, 7}}, std::pair{"hdia codes=blocks8", BlockShape{1, 1}},
        std::pair{"entry=quaternion hdia codes=scalars8", BlockShape{4, 4}}}) {
    const Pattern pattern = pattern_of(1, rows);
    const Plan plan = parse_plan(line, {});
    Random random;
    const Operands<double> operands = Operands<double>(pattern, plan.entry, block, random).for_codes_of(plan);
    const PackedMatrix A = packed(operands, plan);
    const Fenced<double> x(operands.cols_vector);
    std::vector<double> y(operands.rows_z.size());

    A.multiply(Op::none, Update::assign, x.data(), nullptr, y.data());

    EXPECT_TRUE(agrees(y, reference_product(operands, plan.values, Op::none, Form::assign))) << line;
  }
}

/// Random vectors with gaps between them, which are not numbers; the last one ends where its memory does.
template <class S>
struct FencedVectors {
  slot_t apart;
  std::size_t scalars;  ///< with the gaps
  Fenced<S> array;

  FencedVectors(int count, std::size_t size, std::size_t gap, Random& random)
      : apart(static_cast<slot_t>(size + gap)),
        scalars((count - 1) * (size + gap) + size),
        array(drawn(count, size, random)) {}
  std::vector<S> drawn(int count, std::size_t size, Random& random) const {
    std::vector<S> all(scalars, not_a_number<S>());
    for (int n = 0; n < count; ++n) std::ranges::copy(random_vector<S>(size, random), all.begin() + n * apart);
    return all;
  }
  S* at(int n) const { return array.data() + n * apart; }
  std::vector<S> all() const { return {at(0), at(0) + scalars}; }
};

template <class S>
void expect_bits_of_one(const PackedMatrix& A, const Operands<S>& operands, int count, Random& random) {
  const FencedVectors<S> x(count, operands.cols_vector.size(), 3, random), z(count, operands.rows_z.size(), 1, random);
  FencedVectors<S> y(count, operands.rows_z.size(), 2, random), wanted(count, operands.rows_z.size(), 2, random);
  const VectorsTask task{count, x.apart, z.apart, y.apart}, in_place{count, x.apart, y.apart, y.apart};
  const auto expect = [&](const char* form) {
    EXPECT_TRUE(same_bits(y.all(), wanted.all())) << count << " vectors, " << form;
  };

  A.multiply_vectors(Op::none, Update::assign, task, x.at(0), nullptr, y.at(0));
  for (int n = 0; n < count; ++n) A.multiply(Op::none, Update::assign, x.at(n), nullptr, wanted.at(n));
  expect("y = A x");
  A.multiply_vectors(Op::none, Update::add, task, x.at(0), z.at(0), y.at(0));
  for (int n = 0; n < count; ++n) A.multiply(Op::none, Update::add, x.at(n), z.at(n), wanted.at(n));
  expect("y = z + A x");
  A.multiply_vectors(Op::none, Update::add, in_place, x.at(0), y.at(0), y.at(0));
  for (int n = 0; n < count; ++n) A.multiply(Op::none, Update::add, x.at(n), wanted.at(n), wanted.at(n));
  expect("y += A x");
}

/// Rows of 0 to 13 entries: with and without pairs, fours and eights.
Pattern pattern_of_several() { return pattern_to_the_corner(41, 29, 13); }

TEST(SeveralVectors, HaveTheBitsOfOne) {
  const Pattern pattern = pattern_of_several();
  SCOPED_TRACE(seed_text());
  Random random;
  for (const SimdKernel& k : all_kernels()) {
    if (!k.several) continue;
    SCOPED_TRACE(name_of_kernel(k));
    const auto expect = [&]<class S>(S) {
      const BlockShape shape{k.rows, k.cols};
      const Operands<S> operands(pattern, k.entry, shape, random);
      PackedMatrix A(pattern.view(), problem_of(k, k.rows, k.cols), plan_of(k), backend("host"));
      const bool by_rows = k.form == HostTraversal::row_words;
      const auto blocks = by_rows ? in_rows(pattern, shape, operands.blocks) : operands.blocks;
      A.update_values(blocks.data());
      for (const int count : {2, k.together, 2 * k.together + 1}) expect_bits_of_one(A, operands, count, random);
    };
    k.complex_scalars ? expect(complex_number<double>{}) : expect(double{});
  }
}

TEST(SeveralVectors, GoOneByOneWhereNoKernelTakesThem) {
  const Pattern pattern = pattern_of_several();
  SCOPED_TRACE(seed_text());
  Random random;
  for (const char* line : {"csr", "csr plain", "csr words=1:row", "csr rowlist", "sell:8", "hdia:32", "ccoo:32",
                           "csr columns=8", "csr codes=scalars8", "csr longest=5 + sell:8"}) {
    SCOPED_TRACE(line);
    const Plan plan = parse_plan(line, {});
    const Operands<double> operands = Operands<double>(pattern, "dense", {3, 3}, random).for_codes_of(plan);
    expect_bits_of_one(packed(operands, plan), operands, 5, random);
  }
}

TEST(SeveralVectors, AreTakenByKernelsOfRows) {
  if (host::instruction_set_in_use() == host::InstructionSet::plain) GTEST_SKIP() << "the plain kernel takes one";
  int several = 0;
  for (const SimdKernel& k : all_kernels()) {
    const bool square = k.rows == k.cols && !k.any_shape;
    const bool takes = square && (k.form == HostTraversal::rows || k.form == HostTraversal::row_words);
    EXPECT_EQ(k.several != nullptr, takes) << name_of_kernel(k);
    several += takes;
  }
  EXPECT_GT(several, 20);
}

/// What is kept for x is part of the packed copy.
TEST(SeveralVectors, CountTheirMemory) {
  if (host::instruction_set_in_use() == host::InstructionSet::plain) GTEST_SKIP() << "the plain kernel takes one";
  const Pattern pattern = pattern_of_several();
  Random random;
  const Operands<double> operands(pattern, "dense", {3, 3}, random);
  const PackedMatrix A = packed(operands, parse_plan("csr", {}));
  const std::size_t before = A.bytes().total();

  expect_bits_of_one(A, operands, 40, random);

  const std::size_t room = A.bytes().total() - before, x = operands.cols_vector.size() * sizeof(double);
  EXPECT_GE(room, 8 * x);
  EXPECT_LE(room, 16 * x);
}

}  // namespace
}  // namespace compound::test
