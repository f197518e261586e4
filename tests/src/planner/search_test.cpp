// A search for a plan by each effort: what is tried, what is kept, and what is said of it.
#include "planner/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/partition.hpp"
#include "planner/default_plan.hpp"
#include "support/environment.hpp"
#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/temporary.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

class Searches : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const Variable site{"COMPOUND_SITE_WISDOM", folder / "site"};
  const Pattern pattern = random_pattern(300, 280, 9, test_seed());
  const PatternView view = pattern.view();
  Random random;
  const Operands<double> operands{pattern, "dense", {3, 3}, random};
  const Problem problem = operands.problem();
  const PatternStatistics numbers = statistics(view);
  const SearchedMatrix matrix{view, numbers, problem, backend("host")};
  const Plan base = default_plan(numbers, problem, "host");
  SearchOptions options;
  int values_asked_for = 0;

  Searches() {
    options.measuring.products = 1;  // 40 ms are allowed always
    options.wisdom = folder / "wisdom";
  }

  FoundPlan found_by(Effort effort) {
    options.effort = effort;
    return search(matrix, base, "default heuristic", options, [&] {
      ++values_asked_for;
      return operands.blocks.data();
    });
  }
};

TEST(Efforts, HaveOneWordEach) {
  EXPECT_EQ(word_of(Effort::rule), "off");
  EXPECT_EQ(word_of(Effort::exhaustive), "exhaustive");
}

TEST_F(Searches, MeasureNothingWhereTheyNeedNot) {
  for (const auto& [effort, origin] : {std::pair(Effort::rule, "default heuristic"),
                                       {Effort::model, "default heuristic (not tuned: the model is of devices)"}}) {
    const FoundPlan found = found_by(effort);
    EXPECT_EQ(found.plan, base);
    EXPECT_EQ(found.origin, origin);
  }
  EXPECT_EQ(found_by(Effort::wisdom).origin, "default heuristic (nothing in " + options.wisdom + ")");
  options.products_expected = 50;
  EXPECT_EQ(found_by(Effort::measure).origin, "default heuristic (not tuned: 50 products are too few to pay for it)");
  options.limits.bytes = 1;
  options.limits.lifetime = PatternLifetime::temporary;
  EXPECT_NE(found_by(Effort::measure).origin.find("(not tuned: layout csr would own "), std::string::npos);
  EXPECT_EQ(values_asked_for, 0);
}

TEST_F(Searches, FindWhatTheyHaveMeasuredBefore) {
  const FoundPlan measured = found_by(Effort::measure);
  EXPECT_TRUE(measured.origin.starts_with("by measurement: ")) << measured.origin;
  EXPECT_EQ(values_asked_for, 1);
  ASSERT_FALSE(measured.measured.all.empty());

  for (const Effort effort : {Effort::wisdom, Effort::measure}) {
    const FoundPlan again = found_by(effort);
    EXPECT_EQ(again.plan, measured.plan);
    EXPECT_TRUE(again.origin.starts_with("by wisdom: for this pattern ")) << again.origin;
  }
  EXPECT_EQ(values_asked_for, 1);
  options.measuring.timing_s = 0.05;
  EXPECT_TRUE(found_by(Effort::exhaustive).origin.starts_with("by measurement: ")) << "of more effort";
}

/// A file may have been written by another program.
TEST_F(Searches, TakeNoWisdomWithOtherBlocksOrNumbers) {
  for (const char* line : {"entry=diagonal", "values=float", "codes=scalars8", "vectors=32"}) {
    Measured one;
    one.plan = parse_plan(line, base);
    one.seconds = 1e-3;
    EXPECT_EQ(keep_in_wisdom(matrix, base, options, one, 1.5), "");

    EXPECT_EQ(found_by(Effort::wisdom).plan, base) << line;
  }
}

TEST_F(Searches, KeepNothingThatIsNotTheFastest) {
  options.memory_weight = 1;
  const FoundPlan small = found_by(Effort::measure);
  EXPECT_NE(small.origin.find("; chosen by time and memory, which weighs 1"), std::string::npos) << small.origin;

  options.memory_weight = 0;
  EXPECT_EQ(found_by(Effort::wisdom).origin, "default heuristic (nothing in " + options.wisdom + ")");
}

TEST_F(Searches, TellThatALayoutThatWasAskedForIsSlower) {
  const auto keep = [&](const Plan& plan, const Plan& of, double seconds, double gain) {
    Measured one;
    one.plan = plan;
    one.seconds = seconds;
    EXPECT_EQ(keep_in_wisdom(matrix, of, options, one, gain), "");
  };
  const Plan ellr = plan_for_layout("ellr", numbers, problem, "host");
  const auto faster = [&] {
    SearchOptions pinned = options;
    pinned.layout = "ellr";
    return faster_by_wisdom(matrix, ellr, base, pinned);
  };

  EXPECT_FALSE(faster()) << "nothing was measured";
  keep(base, base, 1e-3, 1);
  ASSERT_TRUE(faster());
  EXPECT_EQ(faster()->layout, "csr");
  EXPECT_EQ(faster()->times, 0) << "ellr was not measured";
  options.layout = "ellr";
  keep(ellr, ellr, 2e-3, 1.5);  // the default plan of ellr takes 3 ms
  EXPECT_EQ(faster()->times, 3);
  keep(ellr, ellr, 1e-3, 1);
  EXPECT_FALSE(faster()) << "ellr is as fast";
  options.layout = "auto";
  keep(ellr, base, 1e-3, 1.5);
  EXPECT_FALSE(faster()) << "ellr is the fastest";
}

TEST_F(Searches, TellOfEachPlan) {
  std::size_t reported = 0;
  bool is_over = false;
  options.report = [&](const BestSoFar& best, bool) {
    ++reported;
    is_over = best.has_all();
  };

  const FoundPlan found = found_by(Effort::measure);

  EXPECT_EQ(reported + 1, found.measured.all.size()) << "all but the first";
  EXPECT_TRUE(is_over);
}

TEST_F(Searches, TryPlansBesideRightAfterTheFirst) {
  std::vector<std::vector<idx>> rows(20000, {7});
  for (idx k = 8; k < 2000; ++k) rows[150].push_back(k);  // of one long row ellr pads much
  const Pattern uneven = pattern_of(2000, rows);
  const PatternView of = uneven.view();
  const PatternStatistics counted = statistics(of);
  const Plan rule = default_plan(counted, problem, "host");
  const Plan small = parse_plan("ccoo", rule), huge = parse_plan("ellr", rule);
  options.limits.padding = 4;

  const PlansToTry tried =
      plans_to_try({of, counted, problem, backend("host")}, rule, options, std::vector<Plan>{small, huge, rule, small});

  ASSERT_GT(tried.plans.size(), 1u);
  EXPECT_EQ(tried.plans[0], rule);
  EXPECT_EQ(tried.plans[1], small);
  EXPECT_EQ(std::ranges::count(tried.plans, small), 1);
  EXPECT_EQ(std::ranges::count(tried.plans, rule), 1);
  EXPECT_EQ(std::ranges::count(tried.plans, huge), 0);
  EXPECT_NE(std::ranges::find(tried.left_out, huge, &LargePlan::plan), tried.left_out.end());
}

/// Programs have PETSc's vectors; compound-tune may ask for others.
TEST_F(Searches, TryOtherVectorsWhereTheyAreAskedFor) {
  const auto others = [&](Effort effort, VectorOrder vectors) {
    options.effort = effort;
    options.vectors = vectors;
    const auto plans = plans_to_try(matrix, base, options).plans;
    return std::ranges::count_if(plans, [](const Plan& plan) { return plan.layout.vector_group != 1; });
  };

  EXPECT_EQ(others(Effort::exhaustive, VectorOrder::petsc), 0);
  EXPECT_GT(others(Effort::exhaustive, VectorOrder::any), 20);
  EXPECT_EQ(others(Effort::measure, VectorOrder::any), 0);
}

/// HYB is a baseline, by name alone.
TEST_F(Searches, TryNoRowsThatAreCut) {
  std::vector<std::vector<idx>> rows(20000, {7, 8, 9});
  for (idx k = 10; k < 2000; ++k) rows[150].push_back(k);
  const Pattern uneven = pattern_of(2000, rows);
  const PatternView of = uneven.view();
  const PatternStatistics counted = statistics(of);
  const Plan rule = default_plan(counted, problem, "host"), hybrid = parse_plan("ellr width=auto + ccoo", rule);
  options.effort = Effort::exhaustive;
  const SearchedMatrix m{of, counted, problem, backend("host")};

  const auto plans = plans_to_try(m, rule, options).plans;

  EXPECT_TRUE(std::ranges::any_of(plans, [](const Plan& plan) { return plan.longest != any_number; }));
  EXPECT_TRUE(std::ranges::all_of(plans, [](const Plan& plan) { return plan.width == any_number; }));
  const std::vector<Plan> beside{hybrid};
  EXPECT_EQ(plans_to_try(m, rule, options, beside).plans[1], hybrid);
  EXPECT_FALSE(is_laid_out_alike(hybrid, parse_plan("ellr width=3 + ccoo", rule)));
}

TEST_F(Searches, TrySchedulesAloneOfALayoutThatWasAskedFor) {
  options.layout = "sell:4";
  const Plan asked = plan_for_layout("sell:4", numbers, problem, "host");

  for (const Plan& plan : plans_to_try(matrix, asked, options).plans) EXPECT_EQ(plan.layout, asked.layout);
}

}  // namespace
}  // namespace compound::test
