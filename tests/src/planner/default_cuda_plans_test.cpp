// The list of all plans that the rule can give on a device, which machine code is made of beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/plan.hpp"
#include "planner/default_plan.hpp"
#include "planner/entry_choice.hpp"
#include "support/random.hpp"

namespace compound::test {
namespace {

/// On both sides of the rule's limits, mostly of even rows.
PatternStatistics any_statistics(Random& random) {
  constexpr double limits[] = {1, 1000, 4200, 8400, 10000, 40000, 1e5, 1e7};
  const auto between = [&](double least, double most) {
    return least + (most - least) * (random.scalar<double>() + 1) / 2;
  };
  PatternStatistics s;
  s.rows = s.cols = static_cast<idx>(limits[random.below(std::size(limits))] *
                                     (random.below(2) == 0 ? between(0.98, 1.2) : between(0.1, 3)));
  s.mean_row = std::pow(10.0, between(-0.5, 4));
  s.entries = static_cast<count32>(std::min(4e9, s.rows * s.mean_row));
  s.longest_row = static_cast<idx>(s.mean_row * (random.below(4) == 0 ? between(1, 100) : 1.2) + 1);
  // Of entries that a few rows have, whatever the others have.
  if (random.below(3) == 0) {
    s.entries = static_cast<count32>(std::pow(10.0, between(5.8, 9.6)));
    s.usual_row = std::max<idx>(1, static_cast<idx>(s.mean_row));
    s.longest_row = static_cast<idx>(100 * s.mean_row + 100);
    s.long_entries = static_cast<count32>(s.entries * between(0, 0.3));
  }
  s.empty_rows = random.below(2) == 0 ? 0 : static_cast<idx>(s.rows * between(0, 1));
  s.row_deviation = s.mean_row * between(0, 0.5);
  s.scattered = between(0, 1);
  return s;
}

/// What machine code is made of beforehand (cuda/default_kernels.hpp): a rule that gives anything else would compile
/// while programs run, without a word.
TEST(DefaultCudaPlans, AreThoseThatTheRuleGivesForSomePattern) {
  Random random;
  SCOPED_TRACE(seed_text());
  for (const Field field : {Field::real, Field::complex})
    for (int size = 1; size <= 9; ++size) {
      const Problem problem{{size, size}, {field, Precision::double_}};
      for (const std::string_view entry : entries_to_find(problem)) {
        const std::vector<Plan> listed = default_cuda_plans(problem, entry);
        std::vector<bool> given(listed.size());
        for (int draw = 0; draw < 40000; ++draw) {
          Plan plan = default_plan(any_statistics(random), problem, "cuda", entry);
          if (!plan.later.empty()) plan.longest = 1;
          const auto at = std::ranges::find(listed, plan);
          ASSERT_NE(at, listed.end()) << size << ": " << to_string(plan) << " is not listed";
          given[at - listed.begin()] = true;
        }
        for (std::size_t i = 0; i < listed.size() && size <= 8; ++i)  // beyond, a kind's slices take 10^9 rows
          EXPECT_TRUE(given[i]) << size << ": " << to_string(listed[i]) << " is listed, but never given";
      }
    }
}

}  // namespace
}  // namespace compound::test
