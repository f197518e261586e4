// Products over the zoo: a pairwise covering set of patterns, entries, layouts, scalars and operations.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/entry_cases.hpp"
#include "support/pairwise.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

const std::vector<EntryCase> entries = entry_cases(32);

const std::vector<std::string> layouts = {
    "csr",         "ellr",         "sell:2",  "sell:8",   "sell:32", "sell:33", "sell:1024", "sell:8:64", "sell:32:256",
    "sell:32:all", "sell:256:all", "hdia:32", "hdia:256", "dia",     "ccoo:32", "ccoo:32:4", "ccoo:256"};
const std::vector<std::string> matrix_word_groups = {
    " words=1:row",  " words=1:column",  " words=4:row",   " words=1:row:padded", " words=1:column:padded",
    " words=32:row", " words=32:column", " words=all:row", " words=all:column"};
const std::vector<std::string> vector_groups = {" vectors=1", " vectors=32", " vectors=all"};
const std::vector<std::string> occupancies = {"", " presence"};
const std::vector<std::string> row_lists = {"", " rowlist"};
const std::vector<std::string> column_codes = {"", " columns=16", " columns=8"};
/// What follows the first part.
const std::vector<std::string> later_parts = {"", " longest=2 + csr", " longest=3 + ccoo:32", " width=2 + ccoo:32",
                                              " longest=1 + sell:2 words=4:row columns=8 longest=4 + ellr presence"};
const std::vector<std::string> value_codes = {
    "", " codes=scalars8", " codes=chunks8", " codes=blocks8", " codes=blocks16", " codes=blocks0", " codes=blocks1"};

const std::vector<ScalarCase>& scalars = scalar_cases();

enum Factor {
  pattern,
  entry,
  layout,
  words,
  vectors,
  occupancy,
  row_list,
  columns,
  codes,
  later,
  scalar,
  op,
  form,
  factors
};

const Pattern& pattern_in(const Choice& c) { return zoo()[c[pattern]].pattern; }

Problem problem_in(const Choice& c) {
  const ScalarType s = scalars[c[scalar]].vectors;
  return {entries[c[entry]].in(s.field), s};
}

Plan plan_in(const Choice& c) {
  return padded_if_it_can(parse_plan("entry=" + std::string(entries[c[entry]].entry) + " " + layouts[c[layout]] +
                                         matrix_word_groups[c[words]] + vector_groups[c[vectors]] +
                                         occupancies[c[occupancy]] + row_lists[c[row_list]] + column_codes[c[columns]] +
                                         value_codes[c[codes]] + scalars[c[scalar]].values + later_parts[c[later]],
                                     {}),
                          problem_in(c));
}

std::string text_of(const Choice& c) {
  const Problem problem = problem_in(c);
  return std::string(zoo()[c[pattern]].name) + ", blocks " + std::to_string(problem.block.rows) + " x " +
         std::to_string(problem.block.cols) + (problem.scalar.field == Field::complex ? ", complex " : ", ") +
         std::string(name_of(problem.scalar.precision)) + " vectors, " + to_string(plan_in(c)) + ": " +
         product_name(ops[c[op]], forms[c[form]]);
}

const Space& space() {
  static const Space all{
      {static_cast<int>(zoo().size()), static_cast<int>(entries.size()), static_cast<int>(layouts.size()),
       static_cast<int>(matrix_word_groups.size()), static_cast<int>(vector_groups.size()),
       static_cast<int>(occupancies.size()), static_cast<int>(row_lists.size()), static_cast<int>(column_codes.size()),
       static_cast<int>(value_codes.size()), static_cast<int>(later_parts.size()), static_cast<int>(scalars.size()), 3,
       3},
      [](const Choice& c) { return !applicable(plan_in(c), problem_in(c)); },
      {entry, layout, occupancy, columns, codes, scalar}};
  return all;
}

const CoveringSet& cases() {
  static const CoveringSet set = covering_set(space(), 1);
  return set;
}

TEST(ProductCases, HaveEveryPairThatIsApplicable) {
  ASSERT_EQ(space().sizes.size(), static_cast<std::size_t>(factors));

  EXPECT_EQ(missing_pairs(cases().pairs, cases().choices).size(), 0u);
}

TEST(ProductCases, LackOnlyPairsWithAReason) {
  std::size_t pairs = 0, all = 0;
  for (int f = 0; f < factors; ++f)
    for (int g = f + 1; g < factors; ++g) all += std::size_t(space().sizes[f]) * space().sizes[g];

  pairs = cases().pairs.size();

  const std::size_t presence_without_slices = 7, row_lists_of_coordinates = 3, codes_of_no_columns = 12,
                    codes_of_blocks_in_groups = 24, bits_of_columns_that_have_none = 10;
  // Layouts without chunks and what goes with those alone, groups of all words, several parts.
  const std::size_t codes_by_chunks = 14 + 2 + 1 + 1 + 2 + 4;
  std::size_t kinds_that_do_not_exist = 0;  // in matrices of such scalars
  for (const EntryCase& e : entries)
    for (const ScalarCase& s : scalars)
      kinds_that_do_not_exist += entry_kind(e.entry).shape(s.vectors.field, e.in(s.vectors.field)).words == 0;
  EXPECT_EQ(pairs, all - presence_without_slices - row_lists_of_coordinates - codes_of_no_columns -
                       codes_of_blocks_in_groups - bits_of_columns_that_have_none - codes_by_chunks -
                       kinds_that_do_not_exist);
}

class Products : public testing::TestWithParam<Choice> {};

INSTANTIATE_TEST_SUITE_P(Pairwise, Products, testing::ValuesIn(cases().choices),
                         [](const auto& instance) { return "case_" + std::to_string(instance.index); });

TEST_P(Products, AreThoseOfTheDefinition) {
  const Choice& c = GetParam();
  const Op o = ops[c[op]];
  const Form f = forms[c[form]];
  SCOPED_TRACE(text_of(c) + ", " + seed_text());

  with_scalar(scalars[c[scalar]].vectors, [&]<class S>(S) {
    Random random;
    const Operands<S> operands =
        Operands<S>(pattern_in(c), entries[c[entry]].entry, problem_in(c).block, random).for_codes_of(plan_in(c));
    const Plan plan = plan_in(c);

    const PackedMatrix A = packed(operands, plan);
    const auto y = multiplied(A, operands, o, f);

    EXPECT_TRUE(agrees(y, reference_product(operands, plan.values, o, f)));
  });
}

TEST_P(Products, NeverReadWhatHasNoEntry) {
  const Choice& c = GetParam();
  SCOPED_TRACE(text_of(c) + ", " + seed_text());
  const Op o = ops[c[op]];

  with_scalar(scalars[c[scalar]].vectors, [&]<class S>(S) {
    Random random;
    Operands<S> operands =
        Operands<S>(pattern_in(c), entries[c[entry]].entry, problem_in(c).block, random).for_codes_of(plan_in(c));
    const PackedMatrix A = packed(operands, plan_in(c));
    const auto wanted = multiplied(A, operands, o, forms[c[form]]);
    spoil_what_is_not_read(operands, o);

    EXPECT_TRUE(same_bits(wanted, multiplied(A, operands, o, forms[c[form]])));
  });
}

TEST_P(Products, GiveTheSameBitsEveryTime) {
  const Choice& c = GetParam();
  SCOPED_TRACE(text_of(c) + ", " + seed_text());

  with_scalar(scalars[c[scalar]].vectors, [&]<class S>(S) {
    Random random;
    const Operands<S> operands =
        Operands<S>(pattern_in(c), entries[c[entry]].entry, problem_in(c).block, random).for_codes_of(plan_in(c));
    const PackedMatrix A = packed(operands, plan_in(c)), again = packed(operands, plan_in(c));

    const auto y = multiplied(A, operands, ops[c[op]], forms[c[form]]);

    EXPECT_TRUE(same_bits(y, multiplied(A, operands, ops[c[op]], forms[c[form]])));
    EXPECT_TRUE(same_bits(y, multiplied(again, operands, ops[c[op]], forms[c[form]])));
  });
}

}  // namespace
}  // namespace compound::test
