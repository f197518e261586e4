// The rules of src/default_plan.cpp: which plan a matrix gets that nobody gave one.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend.hpp"
#include "host/processor.hpp"
#include "plan.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"
#if defined(COMPOUND_HAVE_CUDA)
#include "cuda/kernel_source.hpp"
#endif

namespace compound::test {
namespace {

constexpr Problem real_of(int rows, int cols) { return {{rows, cols}, {Field::real, Precision::double_}}; }
constexpr Problem real_3x3 = real_of(3, 3);
constexpr Problem real_4x4 = real_of(4, 4);
constexpr Problem complex_2x2{{2, 2}, {Field::complex, Precision::double_}};
constexpr Problem complex_3x3{{3, 3}, {Field::complex, Precision::double_}};
constexpr Problem float_3x3{{3, 3}, {Field::real, Precision::single}};

PatternStatistics rows_of_which_empty(idx rows, idx empty) { return {.rows = rows, .cols = rows, .empty_rows = empty}; }

TEST(DefaultPlan, IsCompressedRowsOfColumnMajorBlocks) {
  const Plan plan = default_plan(rows_of_which_empty(100, 0), real_3x3, "host");

  EXPECT_EQ(plan, parse_plan("entry=dense csr words=1:column vectors=1 values=double", {}));
}

PatternStatistics even_rows(idx rows, idx row) {
  return {.rows = rows,
          .cols = rows,
          .entries = count32(rows) * count32(row),
          .shortest_row = row,
          .longest_row = row,
          .mean_row = double(row)};
}

TEST(DefaultPlan, SlicesNothingButUnitQuaternionsOnTheHost) {
  for (const idx rows : {64, 500, 100000})
    for (const std::string_view entry : {"dense", "quaternion", "unit_quaternion"}) {
      const Plan plan = default_plan(even_rows(rows, 7), real_4x4, "host", entry);
      EXPECT_EQ(plan.entry, entry);
      EXPECT_EQ(plan.layout.preset, entry == "unit_quaternion" ? "sell" : "csr") << entry << ' ' << rows;
    }
}

TEST(DefaultPlan, FetchesXAheadWhereRowsAreInNoOrder) {
  PatternStatistics s = even_rows(100000, 27);
  const auto ahead = [&] { return default_plan(s, real_3x3, "host").schedule.fetch_x; };

  EXPECT_FALSE(ahead());
  s.scattered = 0.9;
  EXPECT_FALSE(ahead()) << "neighbours lie together";
  const auto columns_of_cache = double(host::processor().second_cache) / (3 * 8);
  s.mean_distance = 0.9 * columns_of_cache;
  EXPECT_FALSE(ahead()) << "x stays in the second cache";
  s.mean_distance = 1.1 * columns_of_cache;
  EXPECT_TRUE(ahead());
  s.scattered = 0.1;
  EXPECT_FALSE(ahead()) << "a large mesh in order";
}

TEST(DefaultPlan, ListsRowsWhenMostAreEmpty) {
  EXPECT_TRUE(default_plan(rows_of_which_empty(100, 51), real_3x3, "host").layout.row_list);
  EXPECT_FALSE(default_plan(rows_of_which_empty(100, 50), real_3x3, "host").layout.row_list);
  EXPECT_FALSE(default_plan(rows_of_which_empty(0, 0), real_3x3, "host").layout.row_list);
}

TEST(DefaultPlan, KeepsThePrecisionOfTheVectors) {
  EXPECT_EQ(default_plan({}, float_3x3, "host").values, Precision::single);
  EXPECT_EQ(default_plan({}, real_3x3, "host").values, Precision::double_);
}

TEST(DefaultPlan, IsApplicableEverywhere) {
  for (const auto& problem : {real_3x3, real_4x4, complex_2x2, float_3x3})
    EXPECT_EQ(applicable(default_plan({}, problem, "host"), problem).value_or(""), "");
}

TEST(PlanForLayout, HasTheLayoutsWordGroupAndTheRuleForRowLists) {
  const Plan plan = plan_for_layout("sell:16", rows_of_which_empty(10, 9), float_3x3, "host");

  EXPECT_EQ(plan, parse_plan("sell:16 words=16:column values=float rowlist", {}));
}

TEST(PlanForLayout, IsApplicableForEveryPreset) {
  for (const Preset& p : presets())
    EXPECT_EQ(applicable(plan_for_layout(p.name, {}, real_3x3, "host"), real_3x3).value_or(""), "") << p.name;
}

std::string cuda_line(const PatternStatistics& s, const Problem& problem) {
  return to_string(default_plan(s, problem, "cuda"));
}

/// A whole line of the rule's; `schedule` is what follows the columns.
std::string line(const char* layout, const char* schedule, const char* values = "double") {
  return std::string("entry=dense ") + layout + " vectors=1 values=" + values + " columns=32 " + schedule;
}

const char* const csr = "csr words=1:column";
const char* const slices = "sell:32 words=32:column";

/// What an even matrix of `rows` rows of `row` blocks gets.
struct CudaRow {
  idx rows, row;
  int block_rows, block_cols;
  const char *layout, *schedule;
};

const char* const short_rows = "rows lanes=16 unroll=1 threads=128 blocks=8 grid cached";
const char* const small_blocks = "components lanes=32 unroll=4 threads=128 blocks=12 grid cached";
const char* const large_blocks = "components lanes=32 unroll=2 threads=128 blocks=8 grid cached";
const char* const large_blocks_streamed = "components lanes=32 unroll=2 threads=128 blocks=8 grid stream";

const CudaRow cuda_table[] = {
    // Many workers each while there are few rows: an entry a worker for small blocks in short rows, else a word.
    {1, 1, 1, 1, csr, short_rows},
    {4200, 7, 3, 3, csr, short_rows},
    {4200, 16, 2, 2, csr, short_rows},
    {4200, 17, 3, 3, csr, small_blocks},
    {4200, 7, 4, 4, csr, "components lanes=32 unroll=1 threads=128 blocks=12 grid cached"},
    {4200, 7, 5, 5, csr, large_blocks},
    {4200, 7, 8, 8, csr, large_blocks},
    {4200, 7, 2, 4, csr, "components lanes=32 unroll=1 threads=128 blocks=12 grid cached"},
    // Half as many for 4x4 a little longer.
    {4201, 7, 4, 4, csr, "components lanes=16 unroll=1 threads=128 blocks=12 grid cached"},
    {8400, 7, 4, 4, csr, "components lanes=16 unroll=1 threads=128 blocks=12 grid cached"},
    {8401, 7, 4, 4, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    // Then workers of a scalar row each; several of them while they are few and the rows long.
    {4201, 7, 1, 1, slices, "components lanes=1 unroll=2 threads=128 blocks=8 grid cached"},
    {4201, 7, 2, 2, slices, "components lanes=1 unroll=2 threads=128 blocks=8 grid cached"},
    {4201, 7, 3, 3, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    {5461, 28, 3, 3, slices, "components lanes=4 unroll=1 threads=128 blocks=8 grid cached"},
    {5461, 15, 3, 3, slices, "components lanes=2 unroll=1 threads=128 blocks=8 grid cached"},
    {5462, 28, 3, 3, slices, "components lanes=2 unroll=1 threads=128 blocks=8 grid cached"},
    {10922, 28, 3, 3, slices, "components lanes=2 unroll=1 threads=128 blocks=8 grid cached"},
    {10923, 28, 3, 3, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    {4201, 100, 1, 1, slices, "components lanes=4 unroll=2 threads=128 blocks=8 grid cached"},
    {39999, 7, 4, 4, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    {39999, 3, 7, 7, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid stream"},
    {99999, 5, 3, 3, slices, "components lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    {99999, 7, 1, 1, slices, "components lanes=1 unroll=2 threads=128 blocks=8 grid cached"},
    // Then one of a block row each: from 40000 rows for blocks of 4x4 on, from 100000 for smaller ones.
    {40000, 7, 4, 4, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"},
    {40000, 2, 5, 5, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"},
    {40000, 2, 6, 6, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"},
    {40000, 2, 7, 7, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"},
    {40000, 2, 2, 4, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"},
    {100000, 7, 1, 1, slices, "components lanes=1 unroll=2 threads=128 blocks=8 grid cached"},
    {100000, 7, 2, 2, slices, "rows lanes=1 unroll=2 threads=128 blocks=8 grid cached"},
    {100000, 5, 3, 3, slices, "rows lanes=1 unroll=1 threads=128 blocks=8 grid cached"},
    // 8x8: warps until there are many rows. Larger blocks: always.
    {4201, 7, 8, 8, csr, large_blocks},
    {39999, 7, 8, 8, csr, large_blocks_streamed},
    {40000, 7, 8, 8, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid stream"},
    {40000, 7, 3, 8, slices, "rows lanes=1 unroll=1 threads=128 blocks=4 grid stream"},
    {1000000, 7, 12, 12, csr, large_blocks_streamed},
    {1000000, 7, 33, 33, csr, large_blocks_streamed},
    {1000000, 1, 3, 33, csr, large_blocks_streamed},
};

TEST(CudaRule, GoesByTheNumberOfRowsAndTheBlock) {
  for (const CudaRow& r : cuda_table)
    EXPECT_EQ(cuda_line(even_rows(r.rows, r.row), real_of(r.block_rows, r.block_cols)), line(r.layout, r.schedule))
        << r.rows << " rows of " << r.row << ", blocks of " << r.block_rows << "x" << r.block_cols;
}

TEST(CudaRule, SharesRowsOfSmallBlocksInNoOrder) {
  const auto text = [](idx rows, double scattered, const Problem& problem) {
    PatternStatistics s = even_rows(rows, 7);
    s.scattered = scattered;
    return cuda_line(s, problem);
  };
  const std::string shared = line(csr, "rows lanes=16 unroll=2 threads=128 blocks=8 grid cached");
  EXPECT_EQ(text(4201, 0.51, real_3x3), shared);
  EXPECT_EQ(text(70000, 0.51, real_3x3), shared);
  EXPECT_NE(text(70000, 0.5, real_3x3), shared);
  EXPECT_NE(text(100000, 0.9, real_3x3), shared) << "enough rows for one worker each";
  EXPECT_NE(text(5000, 0.9, real_4x4), shared);
}

TEST(CudaRule, DoesNotPadAFewLongRows) {
  for (const idx rows : {5000, 50000, 500000}) {
    PatternStatistics s = even_rows(rows, 7);
    const auto slice = [&] { return default_plan(s, real_3x3, "cuda").layout.slice; };

    s.longest_row = 8 * 7 + 32;
    EXPECT_EQ(slice(), 32) << rows;
    s.longest_row += 1;
    EXPECT_EQ(slice(), 1) << rows;
  }
}

TEST(CudaRule, StreamsWordsThatTheCacheCannotHold) {
  const auto cache = [](count32 entries, const Problem& problem) {
    PatternStatistics s = even_rows(50000, 7);
    s.entries = entries;
    return default_plan(s, problem, "cuda").schedule.cache;
  };

  // 40 MB of a block and its column: 76, 40 and 148 bytes an entry.
  EXPECT_EQ(cache(526315, real_3x3), Cache::keep);
  EXPECT_EQ(cache(526316, real_3x3), Cache::stream);
  EXPECT_EQ(cache(1000000, float_3x3), Cache::keep);
  EXPECT_EQ(cache(1000001, float_3x3), Cache::stream);
  EXPECT_EQ(cache(270270, complex_3x3), Cache::keep);
  EXPECT_EQ(cache(270271, complex_3x3), Cache::stream);
}

TEST(CudaRule, KeepsThePrecisionOfTheVectors) {
  const char* const schedule = "components lanes=1 unroll=1 threads=128 blocks=8 grid cached";
  EXPECT_EQ(cuda_line(even_rows(5000, 7), float_3x3), line(slices, schedule, "float"));
  EXPECT_EQ(cuda_line(even_rows(5000, 7), complex_3x3), line(slices, schedule));
}

TEST(CudaRule, ListsRowsWhenMostAreEmpty) {
  PatternStatistics s = even_rows(5000, 7);
  s.empty_rows = 2500;
  EXPECT_FALSE(default_plan(s, real_3x3, "cuda").layout.row_list);
  s.empty_rows = 2501;
  EXPECT_TRUE(default_plan(s, real_3x3, "cuda").layout.row_list);
}

TEST(CudaRule, HasAPlanForMatricesOfNothing) {
  const std::string nothing = line(csr, short_rows);
  for (const PatternStatistics& s :
       {PatternStatistics{}, statistics(pattern_of(0, {}).view()), statistics(pattern_of(5, {}).view())}) {
    EXPECT_EQ(cuda_line(s, real_3x3), nothing);
    EXPECT_EQ(plan_for_layout("sell:32", s, real_3x3, "cuda").schedule.lanes, 1);
  }
}

TEST(PlanForLayout, OnCudaBringsTheScheduleThatSuitsIt) {
  const auto text = [](const char* layout, idx rows) {
    return to_string(plan_for_layout(layout, even_rows(rows, 7), real_4x4, "cuda"));
  };
  const char* const warps = "components lanes=32 unroll=1 threads=128 blocks=12 grid cached";
  const char* const workers = "components lanes=1 unroll=1 threads=128 blocks=8 grid cached";

  EXPECT_EQ(text("csr", 100), line(csr, warps));
  EXPECT_EQ(text("csr", 40000), line(csr, warps)) << "where the rule takes slices";
  EXPECT_EQ(text("sell:8:64", 100), line("sell:8:64 words=8:column", workers)) << "where the rule takes warps";
  EXPECT_EQ(text("ellr", 40000),
            line("ellr words=32:column", "rows lanes=1 unroll=1 threads=128 blocks=4 grid cached"));
}

/// Statistics on all sides of the rule's limits.
std::vector<PatternStatistics> many_statistics() {
  std::vector<PatternStatistics> all = {{}};
  for (const idx rows : {1, 64, 4200, 4201, 40000, 100000, 2000000})
    for (const idx row : {0, 1, 7, 27, 200}) {
      PatternStatistics s = even_rows(rows, row);
      all.push_back(s);
      s.longest_row = 20 * row + 33;
      all.push_back(s);
      s.empty_rows = rows - rows / 4;
      all.push_back(s);
    }
  return all;
}

std::vector<Problem> many_problems() {
  std::vector<Problem> all;
  for (const Field field : {Field::real, Field::complex})
    for (const Precision precision : {Precision::single, Precision::double_})
      for (const BlockShape block : {BlockShape{1, 1},
                                     {2, 2},
                                     {3, 3},
                                     {4, 4},
                                     {5, 5},
                                     {6, 6},
                                     {7, 7},
                                     {8, 8},
                                     {12, 12},
                                     {3, 2},
                                     {2, 8},
                                     {32, 32},
                                     {33, 33},
                                     {1, 40}})
        all.push_back({block, {field, precision}});
  return all;
}

/// Why a backend of this name refuses a plan, whether or not it is in this build.
std::string refusal(const Plan& plan, const Problem& problem, std::string_view name) {
  if (const auto reason = applicable(plan, problem)) return *reason;
  if (name == "host") return backend("host").applicable(plan, problem).value_or("");
#if defined(COMPOUND_HAVE_CUDA)
  return cuda::why_no_kernel(plan, problem).value_or("");
#else
  return plan.schedule.of_device() ? "" : "a device's schedule needs threads=";
#endif
}

/// What a kind gets on an H200, by rows of 7 entries.
TEST(CudaRule, GivesKindsAQuarterWarpThenLanesThenOneWorkerARow) {
  const auto taken = [](std::string_view entry, int size, idx rows) {
    const Plan plan =
        default_plan(even_rows(rows, 7), {{size, size}, {Field::real, Precision::double_}}, "cuda", entry);
    return std::string(plan.layout.preset) + " " + std::to_string(plan.schedule.lanes) + " " +
           std::to_string(plan.schedule.unroll);
  };

  EXPECT_EQ(taken("quaternion", 4, 10000), "csr 8 1");
  EXPECT_EQ(taken("quaternion", 4, 35000), "sell 2 2");
  EXPECT_EQ(taken("quaternion", 4, 173000), "sell 1 2");
  EXPECT_EQ(taken("complex", 2, 1000000), "sell 1 2");
  EXPECT_EQ(taken("scaled_identity", 3, 8000), "csr 8 1");
  EXPECT_EQ(taken("dual_quaternion", 8, 1000), "csr 8 1");
  EXPECT_EQ(taken("dual_quaternion", 8, 200000), "sell 2 1");
  EXPECT_EQ(taken("diagonal", 32, 200000), "csr 8 1");
}

/// By its words, not by the blocks they stand for.
TEST(CudaRule, StreamsAKindAboutAsLargeAsTheSecondCache) {
  const auto cache = [](idx rows) {
    return default_plan(even_rows(rows, 7), {{4, 4}, {Field::real, Precision::double_}}, "cuda", "quaternion")
        .schedule.cache;
  };

  EXPECT_EQ(cache(158000), Cache::keep);
  EXPECT_EQ(cache(160000), Cache::stream);
}

class PlansOf : public testing::TestWithParam<const char*> {
 protected:
  /// f(statistics, problem) for all that the backend can have.
  template <class F>
  void for_all(const F& f) const {
    const bool host = GetParam() == std::string_view("host");
    for (const Problem& problem : many_problems()) {
      if (host && std::max(problem.block.rows, problem.block.cols) > 32) continue;
      for (const EntryKind& kind : entry_kinds()) {
        if (kind.shape(problem.scalar.field, problem.block).words == 0) continue;
        for (const PatternStatistics& s : many_statistics()) f(s, problem, kind.name);
      }
    }
  }
  /// Every plan must be one that the backend takes.
  void expect_taken(const std::vector<Plan>& plans, const Problem& problem) const {
    for (const Plan& plan : plans)
      EXPECT_EQ(refusal(plan, problem, GetParam()), "")
          << problem.block.rows << "x" << problem.block.cols << ": " << to_string(plan);
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, PlansOf, testing::Values("host", "cuda"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(PlansOf, TheRuleAreTaken) {
  for_all([&](const PatternStatistics& s, const Problem& problem, std::string_view entry) {
    expect_taken({default_plan(s, problem, GetParam(), entry)}, problem);
  });
}

TEST_P(PlansOf, ALayoutAreTaken) {
  for_all([&](const PatternStatistics& s, const Problem& problem, std::string_view entry) {
    for (const char* layout : {"csr", "ellr", "sell", "sell:8:64"})
      expect_taken({plan_for_layout(layout, s, problem, GetParam(), entry)}, problem);
  });
}

TEST_P(PlansOf, AKindAreOfIt) {
  for_all([&](const PatternStatistics& s, const Problem& problem, std::string_view entry) {
    EXPECT_EQ(default_plan(s, problem, GetParam(), entry).entry, entry);
    EXPECT_EQ(plan_for_layout("sell", s, problem, GetParam(), entry).entry, entry);
    for (const Plan& plan : near_plans(s, problem, GetParam(), entry)) EXPECT_EQ(plan.entry, entry);
  });
}

TEST_P(PlansOf, TheNeighbourhoodAreTakenAndDifferAndBeginWithTheRules) {
  for_all([&](const PatternStatistics& s, const Problem& problem, std::string_view entry) {
    const auto plans = near_plans(s, problem, GetParam(), entry);

    expect_taken(plans, problem);
    EXPECT_EQ(plans.front(), default_plan(s, problem, GetParam(), entry));
    EXPECT_GT(plans.size(), 1u);
    for (auto plan = plans.begin(); plan != plans.end(); ++plan)
      EXPECT_EQ(std::find(plan + 1, plans.end(), *plan), plans.end()) << to_string(*plan);
  });
}

}  // namespace
}  // namespace compound::test
