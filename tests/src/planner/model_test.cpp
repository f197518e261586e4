// Times predicted for devices: what must hold whatever the numbers are, and some that were measured.
#include "planner/model.hpp"
#include "support/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "storage/packed.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Of a grid of n x n nodes, their neighbours at these distances of columns.
Pattern grid(idx n, std::initializer_list<idx> distances) {
  std::vector<std::vector<idx>> rows(static_cast<std::size_t>(n) * n);
  for (idx r = 0; r < n * n; ++r)
    for (const idx d : distances)
      if (r + d >= 0 && r + d < n * n) rows[r].push_back(r + d);
  return pattern_of(n * n, rows);
}

class Model : public testing::Test {
 protected:
  const DeviceTable table = table_for(device_tables().all, "NVIDIA H200", {});
  RecordingBackend on;

  double microseconds(const Pattern& pattern, const char* line, const Problem& problem = real_1x1) {
    const Plan plan = parse_plan(line, {});
    return 1e6 * seconds_of(table, work_of(table, table.traits(), plan, bytes_of(pattern.view(), problem, plan, on),
                                           statistics(pattern.view()), problem));
  }
};

constexpr const char slices[] = "sell:32 rows lanes=1 unroll=2 threads=128 blocks=8 stream",
                     diagonals[] = "hdia:32 components lanes=1 unroll=2 threads=128 blocks=8 stream";

TEST_F(Model, KnowsWhatWasMeasuredOfAFivePointGrid) {
  const Pattern pattern = grid(1000, {-1000, -1, 0, 1, 1000});

  EXPECT_NEAR(microseconds(pattern, slices), 20.4, 0.1 * 20.4);
  EXPECT_NEAR(microseconds(pattern, diagonals), 17.1, 0.1 * 17.1);
}

TEST_F(Model, CountsStepsOfDiagonalsApartAndNoneOfChunks) {
  const Pattern pattern = grid(50, {-50, -1, 0, 1, 50});
  const auto counted = [&](const char* line, std::string_view field) {
    const Plan plan = parse_plan(line, {});
    const Work work = work_of(table, table.traits(), plan, bytes_of(pattern.view(), real_1x1, plan, on),
                              statistics(pattern.view()), real_1x1);
    const auto found = std::ranges::find(seconds_fields, field, &DeviceField::name);
    return work.sums[static_cast<std::size_t>(found - std::begin(seconds_fields))] > 0;
  };
  constexpr const char chunks[] = "ccoo:128:1 slots threads=128 blocks=8";
  EXPECT_TRUE(counted(slices, "step") && !counted(slices, "diagonal_step") && counted(slices, "longest"));
  EXPECT_TRUE(!counted(diagonals, "step") && counted(diagonals, "diagonal_step") && !counted(diagonals, "longest"));
  EXPECT_TRUE(counted(chunks, "step") && counted(chunks, "chunk_entry") && !counted(chunks, "longest"));
}

TEST_F(Model, TakesLongerForMore) {
  const Pattern small = grid(300, {-300, -1, 0, 1, 300}), wide = grid(300, {-300, -2, -1, 0, 1, 2, 300}),
                large = grid(600, {-600, -1, 0, 1, 600});
  for (const char* line :
       {slices, diagonals, "csr rows lanes=8 unroll=1 threads=128 blocks=8", "ccoo:128:1 slots threads=128 blocks=8"}) {
    EXPECT_LT(microseconds(small, line), microseconds(wide, line)) << line;
    EXPECT_LT(microseconds(small, line), microseconds(large, line)) << line;
    EXPECT_GT(microseconds(small, line), 1e6 * table.launch_s) << line;
  }
}

TEST_F(Model, KnowsThatALongRowKeepsTheOthersWaiting) {
  std::vector<std::vector<idx>> rows(20000, {0, 1, 2});
  const double even = microseconds(pattern_of(20000, rows), slices);
  for (idx c = 0; c < 20000; ++c) rows[5].push_back(c);
  rows[5].erase(rows[5].begin(), rows[5].begin() + 3);

  EXPECT_GT(microseconds(pattern_of(20000, rows), "csr rows lanes=1 threads=128 blocks=8"), even + 50);
}

/// Of dense matrices, whose few rows leave most workers of a device without any (H200, 2026-11-23).
TEST_F(Model, KnowsThatAWorkerWithARowOfItsOwnIsSlow) {
  const std::vector<idx> all = [] {
    std::vector<idx> columns(667);
    std::iota(columns.begin(), columns.end(), 0);
    return columns;
  }();
  const Pattern dense = pattern_of(667, std::vector<std::vector<idx>>(667, all));
  const auto us = [&](const char* line) { return microseconds(dense, line, real_3x3); };

  EXPECT_NEAR(us("bellpack:256 rows lanes=1 unroll=2 threads=128 blocks=8"), 249, 0.4 * 249);
  EXPECT_NEAR(us("sell:32 components lanes=2 unroll=1 threads=128 blocks=8"), 44, 0.4 * 44);
  EXPECT_NEAR(us("csr rows lanes=32 unroll=2 threads=128 blocks=8"), 9.4, 0.4 * 9.4);
}

TEST_F(Model, KnowsThatTheSecondCacheIsFaster) {
  const Pattern pattern = grid(750, {-750, -1, 0, 1, 750});  // 45 MB

  EXPECT_LT(microseconds(pattern, "sell:32 rows threads=128 blocks=8 cached"),
            0.9 * microseconds(pattern, "sell:32 rows threads=128 blocks=8 stream"));
}

TEST_F(Model, TakesAnotherPlanOnlyForWhatItPromises) {
  const Plan first = parse_plan(slices, {}), other = parse_plan(diagonals, {}),
             slow = parse_plan("csr rows lanes=1", first);
  const auto best = [&](const Pattern& pattern, const std::vector<Plan>& plans, double most_padding = 4) {
    return predicted_best(plans, pattern.view(), statistics(pattern.view()), real_1x1, on, {.padding = most_padding});
  };

  const Pattern large = grid(1000, {-1000, -1, 0, 1, 1000}), small = grid(60, {-60, -1, 0, 1, 60});
  EXPECT_EQ(best(large, {first, slow, other}).plan, other);
  EXPECT_GT(best(large, {first, slow, other}).gain, 1.1);
  EXPECT_EQ(best(small, {first, slow, other}).plan, first);
  EXPECT_EQ(best(small, {first, slow, other}).gain, 1);
  EXPECT_EQ(best(large, {first}).plan, first);
  const Pattern scattered = random_pattern(3000, 3000, 9, 1);
  EXPECT_EQ(best(scattered, {first, other}).plan, first) << "diagonals would be mostly padding";
}

TEST_F(Model, KnowsThatAPartForLongRowsPaysOff) {
  std::vector<std::vector<idx>> rows(200000, {0, 1, 2, 3, 4});
  for (idx c = 5; c < 20000; ++c) rows[7].push_back(c);
  const Pattern pattern = pattern_of(200000, rows);
  const PatternStatistics s = statistics(pattern.view());
  Predictor predictor(pattern.view(), s, real_1x1, on);
  const Plan whole = parse_plan(slices, {}),
             parts = parse_plan("sell:32 longest=5 + ccoo:128:1 slots threads=128 blocks=8", whole);

  EXPECT_LT(predictor.seconds(parts), 0.5 * predictor.seconds(whole));
  EXPECT_GT(predictor.seconds(parts), 2 * table.launch_s) << "two kernels";
  EXPECT_EQ(predictor.seconds(whole),
            seconds_of(table, work_of(table, table.traits(), whole, bytes_of(pattern.view(), real_1x1, whole, on), s,
                                      real_1x1)));
}

TEST_F(Model, OrdersPlansAndLeavesSlowOnesOut) {
  const Pattern large = grid(1000, {-1000, -1, 0, 1, 1000});
  const Plan first = parse_plan(slices, {}), fast = parse_plan(diagonals, {}),
             slow = parse_plan("csr rows lanes=32", first), slower = parse_plan("threads=32 blocks=1", slow),
             near = parse_plan("unroll=1", first);
  std::vector<Plan> plans = {first, slower, near, slow, fast};

  const auto left_out = order_by_model(plans, large.view(), statistics(large.view()), real_1x1, on);

  EXPECT_EQ(plans, (std::vector<Plan>{first, fast, near}));
  ASSERT_EQ(left_out.size(), 2u);
  EXPECT_NE(left_out[0].why.find("predicted to take more than twice as long"), std::string::npos);
  std::vector<Plan> none;
  EXPECT_TRUE(order_by_model(none, large.view(), statistics(large.view()), real_1x1, on).empty());
}

TEST_F(Model, KnowsNothingOfLibrariesAndLeavesNoneOut) {
  const Pattern large = grid(1000, {-1000, -1, 0, 1, 1000});
  const Plan first = parse_plan(slices, {}), fast = parse_plan(diagonals, {}),
             by_library = parse_plan("cusparse:csr-alg2 rows lanes=32", first);  // ours would be slow
  std::vector<Plan> plans = {first, fast, by_library};

  const auto left_out = order_by_model(plans, large.view(), statistics(large.view()), real_1x1, on);

  EXPECT_EQ(plans, (std::vector<Plan>{first, by_library, fast}));
  EXPECT_TRUE(left_out.empty());
}

TEST_F(Model, KeepsAsMuchMoreAsTheCacheIsLarger) {
  const Pattern pattern = grid(1000, {-1000, -1, 0, 1, 1000});  // 80 MB
  const Plan plan = parse_plan("sell:32 rows threads=128 blocks=8 cached", {});
  const auto work = [&](double caches) {
    DeviceTraits device = table.traits();
    device.second_cache_bytes = static_cast<std::size_t>(caches * table.cache);
    return work_of(table, device, plan, bytes_of(pattern.view(), real_1x1, plan, on), statistics(pattern.view()),
                   real_1x1);
  };

  EXPECT_EQ(work(1).sums[2], 0) << "of the second cache";
  EXPECT_GT(work(2).sums[2], 60e6);
  EXPECT_EQ(work(2).sums[1], 0) << "of memory";
}

}  // namespace
}  // namespace compound::test
