// Which plans a search goes through: applicable ones, each once, the rule's first; the papers' whole product among
// them.
#include "planner/candidates.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"
#if defined(COMPOUND_HAVE_CUDA)
#include "cuda/kernel_source.hpp"
#include "planner/default_plan.hpp"
#endif

namespace compound::test {
namespace {

std::set<std::string> lines(const std::vector<Plan>& plans) {
  std::set<std::string> all;
  for (const Plan& plan : plans) all.insert(to_string(plan));
  return all;
}

bool has_plan(const std::vector<Plan>& plans, const char* text, const Plan& base) {
  return std::ranges::find(plans, parse_plan(text, base)) != plans.end();
}

void expect_sound(const std::vector<Plan>& plans, const Problem& problem, const Backend& on) {
  EXPECT_EQ(lines(plans).size(), plans.size());
  for (const Plan& plan : plans) {
    EXPECT_EQ(applicable(plan, problem), std::nullopt) << to_string(plan);
    EXPECT_EQ(on.applicable(plan, problem), std::nullopt) << to_string(plan);
    EXPECT_EQ(plan.codes, "none");
  }
}

const Pattern regular = random_pattern(400, 400, 9, 1);

TEST(Candidates, OfTheHostBeginWithTheRulesAndGoThroughHeightsAndWindows) {
  for (const std::string_view entry : {"dense", "quaternion"}) {
    const PatternStatistics s = statistics(regular.view());
    const Plan rule = default_plan(s, real_4x4, "host", entry);
    const auto near = candidates(Search::near, rule, s, real_4x4, backend("host")),
               all = candidates(Search::all, rule, s, real_4x4, backend("host"));

    for (const auto& plans : {near, all}) {
      expect_sound(plans, real_4x4, backend("host"));
      EXPECT_EQ(plans.front(), rule);
      for (const Plan& plan : plans) EXPECT_EQ(plan.entry, entry);
      EXPECT_TRUE(has_plan(plans, "sell:4", rule) && has_plan(plans, "sell:32", rule) &&
                  has_plan(plans, "sell:8:256", rule));
    }
    EXPECT_TRUE(std::ranges::includes(lines(all), lines(near)));
    EXPECT_TRUE(has_plan(all, "hdia:32", rule) && has_plan(all, "sell:8:all words=all:column presence", rule));
    EXPECT_LT(near.size(), 20u);
    EXPECT_GT(all.size(), 100u);
  }
}

TEST(Candidates, KnowVectorsInOtherOrdersWhereTheyAreAskedFor) {
  const PatternStatistics s = statistics(regular.view());
  const Plan rule = default_plan(s, real_3x3, "host");

  const auto petsc = candidates(Search::all, rule, s, real_3x3, backend("host")),
             any = candidates(Search::all, rule, s, real_3x3, backend("host"), VectorOrder::any);

  EXPECT_TRUE(std::ranges::all_of(petsc, [](const Plan& p) { return p.layout.vector_group == 1; }));
  for (const char* line : {"sell:32 vectors=all", "hdia:32 vectors=all"})
    EXPECT_TRUE(has_plan(any, line, rule)) << line;
}

TEST(Candidates, HaveTheFirstOnesPrecision) {
  const PatternStatistics s = statistics(regular.view());
  Plan base = default_plan(s, real_3x3, "host");
  base.values = Precision::single;

  const auto plans = candidates(Search::all, base, s, real_3x3, backend("host"));

  expect_sound(plans, real_3x3, backend("host"));
  EXPECT_EQ(plans.front(), base);
  EXPECT_TRUE(std::ranges::all_of(plans, [](const Plan& p) { return p.values == Precision::single; }));
}

TEST(Schedules, LeaveAllElseAsItIs) {
  const Plan given = parse_plan("sell:8 words=4:column values=float", {});

  const auto plans = schedules(Search::near, given, real_3x3, backend("host"));

  expect_sound(plans, real_3x3, backend("host"));
  EXPECT_EQ(plans.front(), given);
  EXPECT_TRUE(has_plan(plans, "xahead", given));
  for (const Plan& plan : plans) {
    Plan same = plan;
    same.schedule = given.schedule;
    EXPECT_EQ(same, given);
  }
}

/// 3000 rows of 5 entries, and some of 1000 and more.
Pattern with_long_rows(idx long_ones) {
  std::vector<std::vector<idx>> rows(3000);
  for (idx r = 0; r < 3000; ++r)
    for (idx c = 0; c < (r < long_ones ? 1000 + r : 5); ++c) rows[r].push_back(c);
  return pattern_of(3000, rows);
}

TEST(Candidates, HaveAPartForAFewLongRows) {
  const auto near = [](const Pattern& p) {
    const PatternStatistics s = statistics(p.view());
    const Plan rule = default_plan(s, real_3x3, "host");
    const auto plans = candidates(Search::near, rule, s, real_3x3, backend("host"));
    expect_sound(plans, real_3x3, backend("host"));
    return std::pair(plans, rule);
  };
  const auto [plans, rule] = near(with_long_rows(3));

  EXPECT_TRUE(has_plan(plans, "sell:32 longest=5 + ccoo", rule));
  EXPECT_TRUE(has_plan(plans, "sell:8 longest=5 + csr", rule));
  for (const Pattern& none : {with_long_rows(0), with_long_rows(300), regular})
    for (const Plan& plan : near(none).first) EXPECT_TRUE(plan.later.empty()) << to_string(plan);
}

TEST(LeaveOutLarge, KeepsTheFirstAndWhatIsNotMuchLarger) {
  std::vector<std::vector<idx>> rows(2000, {0, 1, 2});
  for (idx c = 0; c < 2000; ++c) rows[11].push_back(c);
  const Pattern uneven = pattern_of(2000, rows);
  const auto left = [&](std::initializer_list<const char*> texts, double most_padding) {
    std::vector<Plan> plans;
    for (const char* text : texts) plans.push_back(parse_plan(text, {}));
    leave_out_large(plans, uneven.view(), real_3x3, backend("host"), {.padding = most_padding});
    return lines(plans);
  };
  const auto line = [](const char* text) { return to_string(parse_plan(text, {})); };

  EXPECT_EQ(left({"csr", "sell:32", "ellr", "ellr plain", "csr xahead"}, 4),
            (std::set<std::string>{line("csr"), line("csr xahead")}));
  EXPECT_EQ(left({"csr", "sell:2:all"}, 4), (std::set<std::string>{line("csr"), line("sell:2:all")}));
  EXPECT_EQ(left({"ellr", "csr"}, 4), (std::set<std::string>{line("csr"), line("ellr")}));
  EXPECT_TRUE(left({}, 4).empty());
}

TEST(LeaveOutLarge, SaysWhyOfEachPlan) {
  std::vector<std::vector<idx>> rows(5000, {0});
  for (idx c = 0; c < 5000; ++c) rows[7].push_back(c);
  const Pattern uneven = pattern_of(5000, rows);
  const Plan csr = parse_plan("csr", {}), ellr = parse_plan("ellr", {}), slices = parse_plan("sell:32", {});
  std::vector<Plan> plans = {csr, ellr, parse_plan("plain", ellr), slices};

  const auto large = leave_out_large(plans, uneven.view(), real_3x3, backend("host"), {.padding = 4});

  EXPECT_EQ(plans, std::vector<Plan>{csr});
  ASSERT_EQ(large.size(), 3u);
  EXPECT_EQ(large[0].plan, ellr);
  EXPECT_NE(large[0].why.find("layout ellr would have"), std::string::npos) << large[0].why;
  EXPECT_EQ(large[1].why, large[0].why);
  EXPECT_NE(large[2].why.find("read a third more"), std::string::npos) << large[2].why;
}

TEST(LeaveOutLarge, LeavesWhatReadsMoreWhereAllIsAskedFor) {
  std::vector<std::vector<idx>> rows(50, {0});
  for (idx c = 0; c < 3; ++c) rows[7].push_back(c + 1);
  const Pattern uneven = pattern_of(50, rows);
  const Plan csr = parse_plan("csr", {}), slices = parse_plan("sell:32", {});
  std::vector<Plan> near = {csr, slices}, all = near;

  leave_out_large(near, uneven.view(), real_3x3, backend("host"), {.padding = 4}, Search::near);
  leave_out_large(all, uneven.view(), real_3x3, backend("host"), {.padding = 4}, Search::all);

  EXPECT_EQ(near, std::vector<Plan>{csr});
  EXPECT_EQ(all, (std::vector<Plan>{csr, slices}));
}

TEST(LeaveOutLarge, KnowsWhatIsOutForItsMemoryAlone) {
  std::vector<Plan> plans = {parse_plan("csr", {}), parse_plan("csr words=1:row", {}), parse_plan("csr xahead", {})};

  const auto large = leave_out_large(plans, regular.view(), real_3x3, backend("host"),
                                     {.padding = 4, .bytes = 0, .lifetime = PatternLifetime::outlives});

  EXPECT_EQ(plans.size(), 2u);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_TRUE(large[0].by_memory);
  EXPECT_EQ(large[0].plan, parse_plan("csr words=1:row", {}));
}

#if defined(COMPOUND_HAVE_CUDA)

/// Knows which kernels there are, and runs none.
class KernelBackend final : public RecordingBackend {
 public:
  KernelBackend() : RecordingBackend("cuda") {}

 protected:
  std::optional<std::string> why_not(const Plan& plan, const Problem& problem) const override {
    return cuda::why_no_kernel(plan, problem);
  }
};

TEST(Candidates, OfDevicesHaveAPartForAFewLongRows) {
  const KernelBackend on;
  const PatternStatistics s = statistics(with_long_rows(3).view());
  const Plan rule = default_plan(s, real_3x3, "cuda");
  for (const Search search : {Search::few, Search::near}) {
    const auto plans = candidates(search, rule, s, real_3x3, on);

    expect_sound(plans, real_3x3, on);
    EXPECT_EQ(
        std::ranges::count_if(plans, [](const Plan& plan) { return plan.longest == 5 && plan.later.size() == 1; }), 3);
  }
}

TEST(Candidates, OfADeviceHaveThePapersWholeProduct) {
  const KernelBackend device;
  const PatternStatistics s = statistics(regular.view());
  const Plan rule = default_plan(s, real_3x3, "cuda");

  for (const VectorOrder vectors : {VectorOrder::petsc, VectorOrder::any}) {
    const auto papers = search_of_2019(rule, real_3x3, device, vectors);
    const auto all = candidates(Search::all, rule, s, real_3x3, device, vectors);

    expect_sound(papers, real_3x3, device);
    expect_sound(all, real_3x3, device);
    EXPECT_EQ(papers.size(), vectors == VectorOrder::any ? 1920u : 960u);
    EXPECT_TRUE(std::ranges::includes(lines(all), lines(papers)));
    EXPECT_EQ(all.front(), rule);
  }
}

TEST(Candidates, NearTheRulesOnADeviceHaveOtherLayoutsAndBothWaysToReadWords) {
  const KernelBackend device;
  const PatternStatistics s = statistics(regular.view());
  const Plan rule = default_plan(s, real_3x3, "cuda");

  const auto near = candidates(Search::near, rule, s, real_3x3, device);

  expect_sound(near, real_3x3, device);
  EXPECT_EQ(near.front(), rule);
  for (const char* other : {"stream", "hdia:32 rows lanes=1 unroll=1 threads=128 blocks=8",
                            "bellpack:32 rows lanes=2 unroll=2 threads=128 blocks=4 stream"})
    EXPECT_TRUE(has_plan(near, other, rule)) << other;
  EXPECT_LT(near.size(), 50u);
  EXPECT_TRUE(std::ranges::includes(lines(candidates(Search::all, rule, s, real_3x3, device)), lines(near)));
}

TEST(Candidates, AreOfALibraryWhereItIsAskedForAlone) {
  const KernelBackend device;
  const PatternStatistics s = statistics(regular.view());
  for (const Search search : {Search::few, Search::near, Search::all})
    for (const idx size : {1, 3}) {
      Problem problem{{size, size}, {Field::real, Precision::double_}};
      const Plan rule = default_plan(s, problem, "cuda");
      const auto words_of = [&](std::string_view library) {
        std::set<std::string_view> words;
        for (const Plan& plan : candidates(search, rule, s, problem, device, VectorOrder::petsc, library))
          if (!plan.schedule.library.empty()) words.insert(plan.schedule.library);
        return words;
      };

      EXPECT_TRUE(words_of("").empty());
      EXPECT_EQ(words_of("cusparse"),
                size == 1 ? (std::set<std::string_view>{"cusparse:csr", "cusparse:csr-alg2"})
                          : (std::set<std::string_view>{"cusparse:bsr-row", "cusparse:bsr-column", "cusparse:bsrmv-row",
                                                        "cusparse:bsrmv-column"}));
      problem.repeatable = true;
      EXPECT_EQ(words_of("cusparse").contains("cusparse:csr"), false);
      EXPECT_EQ(words_of("cusparse").size(), size == 1 ? 1u : 4u);
    }
}

TEST(Candidates, OfALibraryComeAfterTheRulesWithScheduleOfCsr) {
  const KernelBackend device;
  const PatternStatistics s = statistics(regular.view());
  const Plan rule = default_plan(s, real_3x3, "cuda");

  const auto near = candidates(Search::near, rule, s, real_3x3, device, VectorOrder::petsc, "cusparse");

  expect_sound(near, real_3x3, device);
  EXPECT_EQ(near.front(), rule);
  Plan own = near[1];
  EXPECT_EQ(own.schedule.library, "cusparse:bsr-row");
  own.schedule.library = {};
  EXPECT_EQ(own, parse_plan("words=1:row", plan_for_layout("csr", s, real_3x3, "cuda")));
}

TEST(Schedules, OfADeviceChangeOnePlaceAtATimeOrThreadsAndBlocks) {
  const KernelBackend device;
  const Plan given = parse_plan("sell:32 rows lanes=2 unroll=2 threads=128 blocks=8", {});

  const auto near = schedules(Search::near, given, real_3x3, device),
             all = schedules(Search::all, given, real_3x3, device);

  for (const auto& plans : {near, all}) {
    expect_sound(plans, real_3x3, device);
    EXPECT_EQ(plans.front(), given);
    for (const Plan& plan : plans) EXPECT_EQ(plan.layout, given.layout);
    for (const char* other : {"components", "lanes=8", "unroll=1", "dynamic", "stream", "threads=256 blocks=4"})
      EXPECT_TRUE(has_plan(plans, other, given)) << other;
  }
  EXPECT_LT(near.size(), 40u);
  EXPECT_TRUE(has_plan(all, "threads=768 blocks=2 static", given));
}

TEST(Schedules, KeepTheThreadsThatALayoutIsMadeFor) {
  const KernelBackend device;
  const Plan given = parse_plan("ccoo:256:1 slots threads=256 blocks=8", {});

  const auto plans = schedules(Search::all, given, real_3x3, device);

  expect_sound(plans, real_3x3, device);
  EXPECT_GT(plans.size(), 5u);
  for (const Plan& plan : plans) EXPECT_EQ(plan.schedule.threads, 256);
}

#endif

}  // namespace
}  // namespace compound::test
