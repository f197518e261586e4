// SIMD traversals: that they are taken where they should be, and that they touch nothing but their arrays. Their
// products are tested with all others (packed_products_test.cpp), once per instruction set, and drawn by the property
// runner.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/instruction_set.hpp"
#include "support/fenced.hpp"
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
  constexpr Problem real_3x3{{3, 3}, {Field::real, Precision::double_}};
  for (const char* line : {"csr words=1:row", "csr words=2", "csr words=2 codes=scalars8", "sell:8 presence", "sell:2",
                           "sell:8 words=1", "csr vectors=32", "csr plain", "hdia:33", "hdia:32 words=16",
                           "dia words=1", "hdia:32 rowlist", "hdia:32 words=32:row", "hdia:32 vectors=32"})
    EXPECT_EQ(backend("host").code_for(parse_plan(line, {}), real_3x3)->name(), "plain") << line;
  EXPECT_EQ(
      backend("host").code_for(parse_plan("csr values=float", {}), {{3, 3}, {Field::real, Precision::single}})->name(),
      "plain");
}

TEST(Simd, ReadsCodesByPieces) {
  constexpr Problem real_3x3{{3, 3}, {Field::real, Precision::double_}};
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

}  // namespace
}  // namespace compound::test
