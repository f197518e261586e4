// The rules of src/planner/default_plan.cpp: the plan of a matrix when no other one was named.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/backend.hpp"
#include "host/processor.hpp"
#include "plan/plan.hpp"
#include "planner/device_tables.hpp"
#include "support/problems.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"
#if defined(COMPOUND_HAVE_CUDA)
#include "cuda/kernel_source.hpp"
#include "planner/default_plan.hpp"
#endif

namespace compound::test {
namespace {

constexpr Problem real_of(int rows, int cols) { return {{rows, cols}, {Field::real, Precision::double_}}; }

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

TEST(DefaultPlan, FetchesXAndYOfAHalfAheadWhereBothAreLarge) {
  const auto rows = static_cast<idx>(host::processor().second_cache / (2 * 3 * 8));
  const auto ahead = [](PatternStatistics s, std::string_view line, const Problem& problem) {
    s.scattered = 0.9;
    return plan_for_line(line, default_plan(s, problem, "host"), s, problem, "host", "dense", {}).schedule.fetch_x;
  };
  EXPECT_TRUE(ahead(even_rows(rows + rows / 10, 27), "csr half=symmetric", real_3x3));
  EXPECT_FALSE(ahead(even_rows(rows - rows / 10, 27), "csr half=symmetric", real_3x3)) << "they stay in the cache";
  EXPECT_FALSE(ahead(even_rows(rows + rows / 10, 27), "csr half=symmetric xnear", real_3x3));
  EXPECT_FALSE(ahead(even_rows(rows + rows / 10, 27), "csr", real_3x3));
  EXPECT_FALSE(ahead(even_rows(10 * rows, 27), "csr half=symmetric", Problem{{1, 1}, {}})) << "scalars lose";
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

TEST(DefaultPlan, ReadsValuesInTheOrderOfRowsWhereTheyLie) {
  const Problem rows{{3, 6}, {}, ValueOrder::rows};

  EXPECT_EQ(default_plan(rows_of_which_empty(10, 9), rows, "host"), parse_plan("csr words=rows rowlist", {}));
  EXPECT_EQ(default_plan({}, rows, "host", "dense", Precision::single), parse_plan("csr values=float", {}));
  EXPECT_EQ(default_plan({}, {{3, 3}, {}, ValueOrder::rows}, "host", "diagonal"), parse_plan("csr entry=diagonal", {}));
  EXPECT_EQ(default_plan({}, {{1, 4}, {}, ValueOrder::rows}, "host"), parse_plan("csr", {}))
      << "one order is the other";
  EXPECT_EQ(plan_for_layout("csr", {}, rows, "host"), parse_plan("csr words=rows", {}));
  EXPECT_EQ(plan_for_layout("sell:8", {}, rows, "host"), parse_plan("sell:8", {}));
  EXPECT_EQ(near_plans({}, rows, "host"),
            (std::vector<Plan>{parse_plan("csr words=rows", {}), parse_plan("csr", {}), parse_plan("sell:8", {})}));
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

// The rule for devices, by what must hold whatever its numbers are (src/planner/device_policy.cpp).

PatternStatistics uneven_rows(idx rows, idx row) {
  PatternStatistics s = even_rows(rows, row);
  s.longest_row = 8 * row + 33;
  return s;
}

/// f(problem, entry) for square blocks of every kind.
template <class F>
void for_square_blocks(const F& f) {
  for (const Field field : {Field::real, Field::complex})
    for (const int size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12}) {
      const Problem problem{{size, size}, {field, Precision::double_}};
      for (const EntryKind& kind : entry_kinds())
        if (kind.shape(field, problem.block).words != 0) f(problem, kind.name);
    }
}

/// That share a block row.
int workers_of_row(const Plan& plan, const Problem& problem) {
  const bool by_scalar_row = plan.schedule.traversal == Traversal::components && plan.layout.slice != 1;
  return plan.schedule.lanes * (by_scalar_row ? problem.block.rows : 1);
}

TEST(DeviceRule, GivesARowNoMoreWorkersWhereThereAreMoreRows) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    for (const idx row : {1, 7, 27, 200})
      for (const double scattered : {0.0, 0.9}) {
        int least = 1024;
        for (double rows = 1; rows < 1e9; rows *= 1.1) {
          PatternStatistics s = even_rows(static_cast<idx>(rows), row);
          s.scattered = scattered;
          const int workers = workers_of_row(default_plan(s, problem, "cuda", entry), problem);
          ASSERT_LE(workers, least) << entry << ", " << problem.block.rows << ": " << rows << " rows of " << row;
          least = workers;
        }
      }
  });
}

TEST(DeviceRule, SharesFewRowsAndSlicesMany) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    const Plan few = default_plan(even_rows(500, 27), problem, "cuda", entry);
    EXPECT_GE(workers_of_row(few, problem), 8) << to_string(few);
    EXPECT_EQ(few.layout.slice, 1) << to_string(few);
    if (problem.block.rows > 8) return;
    const Plan many = default_plan(even_rows(2000000, 27), problem, "cuda", entry);
    EXPECT_LE(workers_of_row(many, problem), 2) << to_string(many);
    EXPECT_EQ(many.layout.slice, 32) << to_string(many);
  });
}

TEST(DeviceRule, DoesNotPadAFewLongRows) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    for (const idx rows : {100, 5000, 50000, 500000})
      EXPECT_EQ(default_plan(uneven_rows(rows, 7), problem, "cuda", entry).layout.slice, 1) << entry << ' ' << rows;
  });
}

TEST(DeviceRule, CutsRowsThatWouldKeepTheDeviceWaiting) {
  PatternStatistics s = even_rows(20000, 25);
  const auto layout = [&](const Problem& problem, std::string_view entry = "dense") {
    return default_plan(s, problem, "cuda", entry).layout.preset;
  };

  s.longest_row = 2500;
  for (const int size : {1, 2, 3}) EXPECT_EQ(layout(real_of(size, size)), "ccoo") << size;
  EXPECT_EQ(layout(real_4x4), "csr") << "larger blocks";
  EXPECT_EQ(layout(real_4x4, "quaternion"), "csr");
  s.entries *= 2;
  EXPECT_EQ(layout(real_3x3), "csr") << "others take as long";
  s.longest_row = 1600;
  s.entries = 10000;
  EXPECT_EQ(layout(real_3x3), "csr") << "not long enough";
  s.longest_row = 2500;
  for (const char* asked : {"csr", "sell:32"})
    EXPECT_NE(plan_for_layout(asked, s, real_3x3, "cuda").schedule.traversal, Traversal::slots) << asked;
}

/// As of quadratic tetrahedra: a worker alone with the longest row would still work when all others are read.
TEST(DeviceRule, SharesRowsOfKindsWhereTheLongestWouldLag) {
  const Problem real_2x2 = real_of(2, 2);
  PatternStatistics s = even_rows(90000, 25);
  const auto slice = [&](std::string_view entry) { return default_plan(s, real_2x2, "cuda", entry).layout.slice; };

  EXPECT_EQ(slice("complex"), 32);
  s.longest_row = 125;
  EXPECT_EQ(slice("complex"), 1);
  s.entries *= 10;
  s.rows *= 10;
  EXPECT_EQ(slice("complex"), 32) << "others take longer";
  s = even_rows(90000, 60);
  s.longest_row = 150;
  EXPECT_EQ(slice("complex"), 32) << "as long as the others, nearly";
}

TEST(DeviceRule, SortsRowsOfKindsByLengthWhereTheyVary) {
  for (const idx rows : {30000, 400000})
    for (const auto& [problem, entry] : {std::pair{real_4x4, "quaternion"}, std::pair{real_of(2, 2), "complex"}}) {
      PatternStatistics s = even_rows(rows, 7);
      EXPECT_EQ(default_plan(s, problem, "cuda", entry).layout.preset, "sell") << entry << ' ' << rows;
      s.row_deviation = 1.7;
      EXPECT_EQ(default_plan(s, problem, "cuda", entry).layout.preset, "bellpack") << entry << ' ' << rows;
    }
}

TEST(DeviceRule, GivesSomeThousandRowsOf3x3ToManyWorkersWhereTheyVary) {
  PatternStatistics s = even_rows(7000, 12);
  EXPECT_EQ(default_plan(s, real_3x3, "cuda").layout.slice, 32);
  s.row_deviation = 4;
  EXPECT_EQ(default_plan(s, real_3x3, "cuda").layout.slice, 1);
  s.rows = 9000;
  EXPECT_EQ(default_plan(s, real_3x3, "cuda").layout.slice, 32) << "slices enough";
}

/// A million rows of 7 entries and ten of 7000.
PatternStatistics with_long_rows() {
  PatternStatistics s = even_rows(1000000, 7);
  s.longest_row = 7000;
  s.usual_row = 7;
  s.long_entries = 70000;
  return s;
}

TEST(DeviceRule, GivesAFewLongRowsAPartAndTheOthersWhatTheyHaveAlone) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    const Plan even = default_plan(even_rows(1000000, 7), problem, "cuda", entry),
               plan = default_plan(with_long_rows(), problem, "cuda", entry);
    SCOPED_TRACE(to_string(plan));
    if (even.layout.slice == 1 || entry != "dense") {  // kinds: by tuning alone, for the kernels that would be built in
      EXPECT_TRUE(plan.later.empty());
      return;
    }
    ASSERT_EQ(plan.later.size(), 1u);
    EXPECT_EQ(plan.longest, 7);
    EXPECT_EQ(parts(plan).front(), parts(even).front());
    EXPECT_EQ(plan.later.front().layout.preset, "ccoo");
    EXPECT_EQ(parse_plan(to_string(plan), {}), plan);
    EXPECT_EQ(applicable(plan, problem).value_or(""), "");
    const Plan one = default_plan(with_long_rows(), problem, "cuda", entry, {}, Parts::one);
    EXPECT_TRUE(one.later.empty());
  });
}

TEST(DeviceRule, HasPartsOnlyWhereTheyPay) {
  const auto has_parts = [](const PatternStatistics& s) { return !default_plan(s, real_3x3, "cuda").later.empty(); };
  PatternStatistics s = with_long_rows();
  EXPECT_TRUE(has_parts(s));
  s.long_entries = s.entries / 2;
  EXPECT_FALSE(has_parts(s)) << "half of all entries are in long rows";
  s = with_long_rows();
  s.entries = 999999;
  EXPECT_FALSE(has_parts(s)) << "launches take longer";
  s = with_long_rows();
  s.longest_row = s.usual_row * 4 - 1;
  EXPECT_FALSE(has_parts(s)) << "not much longer";
  s = with_long_rows();
  s.usual_row = 100;
  EXPECT_FALSE(has_parts(s)) << "the others are uneven, too";
  s = with_long_rows();
  s.rows = 4000;
  EXPECT_FALSE(has_parts(s)) << "few rows go by several workers each";
  s = with_long_rows();
  EXPECT_TRUE(plan_for_layout("sell:32", s, real_3x3, "cuda").later.empty()) << "asked for";
  EXPECT_TRUE(default_plan(s, real_3x3, "host").later.empty());
}

TEST(DeviceRule, TakesOneWorkerARowOnlyForWhatFitsItsRegisters) {
  for (const idx rows : {100, 50000, 2000000})
    for (const Problem& large : {real_of(9, 9), real_of(12, 12), real_of(3, 33)})
      EXPECT_EQ(default_plan(even_rows(rows, 7), large, "cuda").schedule.traversal, Traversal::components);
}

TEST(DeviceRule, SharesRowsOfSmallBlocksInNoOrder) {
  PatternStatistics s = even_rows(70000, 7);
  s.scattered = 0.5;
  EXPECT_EQ(default_plan(s, real_of(2, 2), "cuda").layout.slice, 32);
  s.scattered = 0.51;
  EXPECT_EQ(default_plan(s, real_of(2, 2), "cuda").layout.slice, 1);
  EXPECT_EQ(default_plan(s, real_3x3, "cuda").layout.slice, 32) << "larger blocks";
  EXPECT_EQ(default_plan(s, real_of(1, 1), "cuda").layout.slice, 32) << "seven scalars are too few for half a warp";
  s.mean_row = 20;
  EXPECT_EQ(default_plan(s, real_of(1, 1), "cuda").layout.slice, 1);
}

/// By an entry's words and its column, whatever the blocks are that the words stand for, and by the vectors.
TEST(DeviceRule, StreamsWordsThatTheCacheCannotHold) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    const EntryShape shape = entry_kind(entry).shape(problem.scalar.field, problem.block);
    const double each = double(bytes_of(shape, problem.scalar)) + 4;
    PatternStatistics s = even_rows(50000, 7);
    const auto cache = [&] { return default_plan(s, problem, "cuda", entry).schedule.cache; };

    const double vectors = 2.0 * s.rows * problem.block.rows * double(bytes_of(problem.scalar));
    s.entries = static_cast<count32>((device_policies().front().cached_bytes - vectors) / each);
    EXPECT_EQ(cache(), Cache::keep) << entry;
    s.entries += 1;
    EXPECT_EQ(cache(), Cache::stream) << entry;
    const Plan single = default_plan(s, problem, "cuda", entry, Precision::single);
    EXPECT_EQ(single.values, Precision::single);
    EXPECT_EQ(single.schedule.cache, Cache::keep) << entry << ": half as many bytes";
  });
}

TEST(DeviceRule, KeepsThePrecisionOfTheVectorsAndListsRowsWhenMostAreEmpty) {
  PatternStatistics s = even_rows(5000, 7);
  EXPECT_EQ(default_plan(s, float_3x3, "cuda").values, Precision::single);
  EXPECT_EQ(default_plan(s, complex_3x3, "cuda").values, Precision::double_);
  s.empty_rows = 2500;
  EXPECT_FALSE(default_plan(s, real_3x3, "cuda").layout.row_list);
  s.empty_rows = 2501;
  EXPECT_TRUE(default_plan(s, real_3x3, "cuda").layout.row_list);
}

TEST(DeviceRule, HasAPlanForMatricesOfNothing) {
  for (const PatternStatistics& s :
       {PatternStatistics{}, statistics(pattern_of(0, {}).view()), statistics(pattern_of(5, {}).view())}) {
    EXPECT_EQ(default_plan(s, real_3x3, "cuda"), default_plan({}, real_3x3, "cuda"));
    EXPECT_EQ(plan_for_layout("sell:32", s, real_3x3, "cuda").schedule.lanes, 1);
  }
}

TEST(DeviceRule, BringsALayoutThatWasAskedForTheScheduleThatSuitsIt) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    const auto workers = [&](const char* layout, idx rows) {
      return workers_of_row(plan_for_layout(layout, even_rows(rows, 7), problem, "cuda", entry), problem);
    };
    EXPECT_GE(workers("csr", 1000000), 4) << entry << ": where the rule takes slices";
    EXPECT_LE(workers("sell:8:64", 100), 8 * problem.block.rows) << entry << ": where the rule takes warps";
  });
  const auto lanes = [&](const Problem& problem, idx mean_row) {
    return plan_for_layout("csr", even_rows(1000000, mean_row), problem, "cuda").schedule.lanes;
  };
  EXPECT_EQ(lanes(real_of(1, 1), 5), 4) << "more have nothing to do in rows of five scalars";
  EXPECT_EQ(lanes(real_of(1, 1), 27), 4);
  EXPECT_EQ(lanes(real_3x3, 7), 8);
  EXPECT_EQ(lanes(real_3x3, 14), 16);
  EXPECT_EQ(plan_for_layout("sell:8:64", even_rows(100, 7), real_4x4, "cuda").layout,
            parse_plan("sell:8:64", {}).layout);
}

/// As by -mat_compound_plan: a schedule for compressed rows, many workers a row, is none for slices.
TEST(DeviceRule, BringsALineThatNamesALayoutTheScheduleThatSuitsIt) {
  for_square_blocks([](const Problem& problem, std::string_view entry) {
    for (const idx rows : {100, 10000, 1000000}) {
      const PatternStatistics s = even_rows(rows, 27);
      const auto by_line = [&](const std::string& line) {
        return plan_for_line(line, default_plan(s, problem, "cuda", entry), s, problem, "cuda", entry);
      };
      for (const std::string layout :
           {"bellpack:32", "bellpack:256", "sell:8", "sell:64:128", "ellr", "hdia:32", "csr"}) {
        const Plan plan = by_line(layout);
        EXPECT_EQ(plan, plan_for_layout(layout, s, problem, "cuda", entry)) << layout;
        EXPECT_EQ(by_line(layout + " lanes=4").schedule.lanes, 4) << layout;
        EXPECT_EQ(by_line("values=float " + layout + " longest=9 + ccoo").schedule, plan.schedule) << layout;
        if (layout != "csr") {
          EXPECT_LE(workers_of_row(plan, problem), 8 * problem.block.rows) << layout;
        }
      }
      EXPECT_EQ(by_line("lanes=4").layout, default_plan(s, problem, "cuda", entry).layout);
    }
  });
}

TEST(DevicePolicies, AreTakenByTheDeviceThatIsNearest) {
  const std::vector<DeviceTable> rows = device_tables().all;
  for (const DevicePolicy& p : device_policies()) {
    const DeviceTable& row = table_for(rows, p.device, {});
    EXPECT_EQ(row.name, p.device) << "a row of its own";
    EXPECT_EQ(&policy_for(row.traits()), &p) << p.device;
  }
  EXPECT_EQ(&policy_for({}), &device_policies().front()) << "nothing is known";
  EXPECT_EQ(&policy_for({132, std::size_t{50} << 20, 3.352e12}), &device_policies().front()) << "an H100 has none";
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
        for (const ValueOrder order : {ValueOrder::blocks, ValueOrder::rows})
          all.push_back({block, {field, precision}, order});
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
