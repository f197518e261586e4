// Products by a library in plans: lines, what they imply, and what they do not go with. No device and no library is
// needed.
#include "plan/library_products.hpp"

#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "planner/candidates.hpp"
#include "planner/default_plan.hpp"
#include "support/errors.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

constexpr ScalarType real{Field::real, Precision::double_}, complex{Field::complex, Precision::double_};

Problem blocks_of(int rows, int cols, ScalarType scalar = real) { return {{rows, cols}, scalar}; }

const Plan of_device = parse_plan("sell:32 rows lanes=2 unroll=3 threads=128 blocks=8", {});

std::string reason_on_device(std::string_view line, const Problem& problem) {
  return applicable(parse_plan(line, of_device), problem).value_or("");
}

TEST(LibraryPlan, IsALineThatIsReadBack) {
  for (const LibraryProduct& product : library_products()) {
    const Plan plan = parse_plan(product.word, of_device);
    const std::string line = to_string(plan);

    EXPECT_EQ(plan.schedule.library, product.word);
    EXPECT_TRUE(line.ends_with(" " + std::string(product.word))) << line;
    EXPECT_EQ(parse_plan(line, of_device), plan) << line;
    EXPECT_EQ(parse_plan(line, Plan{}), plan) << line;
  }
}

TEST(LibraryPlan, ImpliesTheLayoutAndTheWordsThatTheLibraryReads) {
  const Plan base = parse_plan("sell:32 words=32:row columns=16 rowlist threads=128 blocks=8", {});

  const Plan plan = parse_plan("cusparse:bsr-column", base);

  Plan own = plan;
  own.schedule.library = {};
  EXPECT_EQ(own, parse_plan("csr words=1:column columns=32 allrows threads=128 blocks=8", {}));
  EXPECT_EQ(parse_plan("cusparse:bsr-row", base).layout.word_order, WordOrder::row);
  EXPECT_EQ(layout_in("lanes=4 cusparse:bsr-row"), "csr");
  EXPECT_EQ(layout_in("cusparse:bsr-row sell:8"), "sell:8");
}

TEST(LibraryPlan, TakesWordsInAnyOrder) {
  const Plan wanted = parse_plan("csr cusparse:bsr-row lanes=4 words=1:row", of_device);
  for (const char* line : {"words=1:row lanes=4 cusparse:bsr-row csr", "cusparse:bsr-row words=1:row csr lanes=4",
                           "lanes=4 cusparse:bsr-row", "cusparse:bsr-row lanes=4 cusparse:bsr-row"})
    EXPECT_EQ(parse_plan(line, of_device), wanted) << line;
}

TEST(LibraryPlan, EndsWhereALayoutIsNamed) {
  const Plan base = parse_plan("cusparse:bsr-row", of_device);

  EXPECT_EQ(parse_plan("sell:32", base).schedule.library, "");
  EXPECT_EQ(parse_plan("lanes=8", base).schedule.library, "cusparse:bsr-row");
  EXPECT_EQ(parse_plan("cusparse:bsrmv-column", base).schedule.library, "cusparse:bsrmv-column");
}

/// Lines come from files of wisdom, too: whatever is no word of the table names nothing.
TEST(LibraryPlan, IsOneOfTheTableAndNamesNoFile) {
  for (const char* line : {"cusparse:", "cusparse", "cusparse:ell", "cusparse:bsr-row:2", "cusparse:/tmp/lib.so",
                           "cusparse:../bsr-row", "Cusparse:csr"})
    EXPECT_ERROR(parse_plan(line, of_device), ErrorKind::argument,
                 std::string("unknown plan keyword '") + line + "': did you mean cusparse:");
  EXPECT_ERROR(parse_plan("cusparse:csr cusparse:csr-alg2", of_device), ErrorKind::argument,
               "a plan names two products of libraries, cusparse:csr and cusparse:csr-alg2; name one");
  EXPECT_ERROR(parse_plan("csr,x", of_device), ErrorKind::argument, "cusparse:bsr-row, cusparse:bsr-column");
}

TEST(LibraryPlan, IsForFullSquareBlocksOrScalars) {
  for (const LibraryProduct& product : library_products()) {
    const std::string word(product.word);
    const bool of_blocks = product.form == LibraryForm::blocks;
    for (const ScalarType scalar : {real, complex}) {
      EXPECT_EQ(reason_on_device(word, blocks_of(3, 3, scalar)).empty(), of_blocks) << word;
      EXPECT_EQ(reason_on_device(word, blocks_of(1, 1, scalar)).empty(), !of_blocks) << word;
      EXPECT_NE(reason_on_device(word, blocks_of(3, 2, scalar)), "") << word;
    }
    EXPECT_EQ(reason_on_device("entry=complex " + word, blocks_of(2, 2)).empty(), !of_blocks) << word;
    EXPECT_NE(reason_on_device("entry=quaternion " + word, blocks_of(4, 4)), "") << word;
    EXPECT_NE(reason_on_device("entry=diagonal " + word, blocks_of(1, 1)), "") << word;
  }
  EXPECT_EQ(
      reason_on_device("cusparse:csr", blocks_of(3, 3)),
      "cusparse:csr multiplies scalars (1x1 blocks, or entry=complex), not blocks of 3 with entry=dense; for full "
      "square blocks take cusparse:bsr-row or cusparse:bsr-column");
  EXPECT_EQ(reason_on_device("cusparse:bsr-row", blocks_of(3, 2)),
            "cusparse:bsr-row multiplies square blocks, not 3x2; take the kernels of this plugin (csr)");
  EXPECT_EQ(reason_on_device("cusparse:bsr-row", blocks_of(1, 1)),
            "cusparse:bsr-row multiplies blocks, and these are scalars; take cusparse:csr-alg2");
}

TEST(LibraryPlan, RefusesWhatTheLibraryDoesNotRead) {
  struct Row {
    const char *words, *why;
  };
  for (const Row& row :
       {Row{"sell:32", "goes with layout csr alone, not with sell"},
        {"ccoo:128", "goes with layout csr alone, not with ccoo"},
        {"rowlist", "goes with allrows alone, not with rowlist"},
        {"columns=16", "goes with columns=32 alone, not with columns=16"},
        {"codes=scalars8", "goes with codes=none alone, not with codes=scalars8"},
        {"vectors=32", "goes with vectors=1 alone, not with vectors=32"},
        {"values=float", "goes with values=double alone, not with values=float"},
        {"words=32:row", "goes with words=1:row alone, not with other values of words=; leave words= out"},
        {"words=1:column", "goes with words=1:row alone, not with other values of words=; leave words= out"},
        {"words=1:row:padded", "goes with words=1:row alone, not with other values of words="}})
    EXPECT_NE(reason_on_device(std::string("cusparse:bsr-row ") + row.words, blocks_of(3, 3)).find(row.why),
              std::string::npos)
        << row.words << ": " << reason_on_device(std::string("cusparse:bsr-row ") + row.words, blocks_of(3, 3));
  for (const char* line : {"cusparse:bsr-row longest=9 + ccoo", "sell:32 longest=9 + cusparse:bsr-row"})
    EXPECT_ERROR(parse_plan(line, of_device), ErrorKind::argument,
                 "a library's product is of a whole matrix: plans of several parts name none; leave cusparse: out");
}

TEST(LibraryPlan, RepeatsItsBitsWhereThatIsAskedFor) {
  Problem problem = blocks_of(1, 1);
  EXPECT_EQ(reason_on_device("cusparse:csr", problem), "");
  problem.repeatable = true;

  EXPECT_EQ(reason_on_device("cusparse:csr", problem),
            "cusparse:csr may give other bits each time; take cusparse:csr-alg2, or let such products in "
            "(-mat_compound_reproducible 0)");
  for (const LibraryProduct& product : library_products()) {
    Problem fitting = product.form == LibraryForm::blocks ? blocks_of(3, 3) : blocks_of(1, 1);
    fitting.repeatable = true;
    EXPECT_EQ(reason_on_device(product.word, fitting).empty(), product.repeats_bits) << product.word;
  }
}

TEST(LibraryPlan, IsNotForTheHost) {
  for (const char* line : {"cusparse:bsr-row", "cusparse:bsr-row threads=128 blocks=8"})
    EXPECT_EQ(why_not(parse_plan(line, {}), blocks_of(3, 3), backend("host")),
              "cusparse:bsr-row is a product of a device's library: it needs vectors there (-vec_type cuda)");
}

TEST(LibraryPlan, IsNobodysRule) {
  for (const Problem& problem : {blocks_of(1, 1), blocks_of(3, 3), blocks_of(4, 4, complex)})
    for (const Plan& plan : default_cuda_plans(problem, "dense")) EXPECT_EQ(plan.schedule.library, "");
}

TEST(Libraries, HaveNames) {
  EXPECT_EQ(library_names(), "cusparse");
  EXPECT_TRUE(is_library("cusparse"));
  EXPECT_FALSE(is_library("none") || is_library("") || is_library("cusparse:csr"));
  EXPECT_EQ(library_of(parse_plan("cusparse:csr", of_device)), "cusparse");
  EXPECT_EQ(library_of(of_device), "");
}

TEST(Libraries, SayWhyTheyHaveNoPlanForAMatrix) {
  const PatternStatistics s = statistics(random_pattern(100, 100, 5, 1).view());
  const Problem problem = blocks_of(3, 3);
  const Plan rule = default_plan(s, problem, "host");

  const Problem rectangular = blocks_of(3, 2);

  EXPECT_EQ(why_no_library_plan("cusparse", rule, s, problem, backend("host")),
            "cusparse:bsr-row is a product of a device's library: it needs vectors there (-vec_type cuda)");
  EXPECT_EQ(why_no_library_plan("cusparse", rule, s, rectangular, backend("host")),
            "cusparse:bsr-row multiplies square blocks, not 3x2; take the kernels of this plugin (csr)");
  EXPECT_EQ(why_no_library_plan("", rule, s, problem, backend("host")), "");
}

}  // namespace
}  // namespace compound::test
