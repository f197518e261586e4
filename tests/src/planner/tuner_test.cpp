// Measuring candidates: what is timed, packed and left, by a clock that goes by the plans; and what failures do.
#include "planner/tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Products take the time that they are told to, remember their plans, and fail where they are told to.
class TimedBackend final : public RecordingBackend {
 public:
  std::size_t largest = ~std::size_t{0};  ///< of the allocations that succeed
  std::optional<ErrorKind> broken;        ///< kind of error that products by slices end in
  std::map<std::string, int> multiplied;  ///< products by plan
  std::map<std::string, double> seconds;  ///< of a product by plan; else 1 ms
  double pack_s = 0, clock_s = 0;
  double slowdown = 1;               ///< of all products, after
  int slow_after = 0;                ///< so many of them
  std::map<std::string, int> lucky;  ///< products of a plan that take half the time
  double wait_s = 0;                 ///< for products to end
  double cold_s = 0;                 ///< what a product takes longer after one of another plan
  int products = 0;

  void* allocate(std::size_t bytes) override {
    if (bytes > largest) throw std::bad_alloc();
    return RecordingBackend::allocate(bytes);
  }
  void pack(const PackTask& task) override {
    clock_s += pack_s;
    RecordingBackend::pack(task);
  }
  void multiply(const ProductTask& task) override {
    if (broken && task.layout.height > 1) throw error(*broken, "products by slices are broken");
    const std::string plan = to_string(task.plan);
    ++multiplied[plan];
    if (plan != last_) clock_s += cold_s;
    last_ = plan;
    const auto told = seconds.find(plan);
    clock_s += (lucky[plan]-- > 0 ? 0.5 : 1) * (told == seconds.end() ? 1e-3 : told->second) *
               (++products > slow_after ? slowdown : 1);
    RecordingBackend::multiply(task);
  }
  void synchronize() override {
    clock_s += wait_s;
    RecordingBackend::synchronize();
  }

 private:
  std::string last_;
};

std::string line(const char* text) { return to_string(parse_plan(text, {})); }

class Measure : public testing::Test {
 protected:
  const Pattern pattern = random_pattern(300, 280, 9, test_seed());
  Random random;
  const Operands<double> operands{pattern, "dense", {3, 3}, random};
  TimedBackend device;
  MeasureLimits limits{.now = [this] { return device.clock_s; }};
  testing::ScopedTrace trace{__FILE__, __LINE__, seed_text()};

  static std::vector<Plan> plans(std::initializer_list<const char*> lines) {
    std::vector<Plan> all;
    for (const char* text : lines) all.push_back(parse_plan(text, {}));
    return all;
  }
  Measurement measured(const std::vector<Plan>& candidates, const std::function<void(const Measured&)>& told = {}) {
    return measure(pattern.view(), operands.problem(), candidates, device, operands.blocks.data(), limits, told);
  }
  static const Measured& of(const Measurement& m, const char* text) {
    return *std::ranges::find(m.all, parse_plan(text, {}), &Measured::plan);
  }
};

TEST_F(Measure, GivesEveryCandidateBackTheFastestFirst) {
  device.seconds = {{line("csr"), 1e-3},
                    {line("sell:8"), 0.98e-3},
                    {line("csr plain"), 1.05e-3},
                    {line("sell:32 vectors=32"), 0.96e-3},
                    {line("sell:8:all vectors=all"), 1.02e-3}};
  const auto candidates = plans({"csr", "sell:8", "csr plain", "sell:32 vectors=32", "sell:8:all vectors=all"});

  const Measurement m = measured(candidates);

  ASSERT_EQ(m.all.size(), candidates.size());
  EXPECT_EQ(m.timed, 5);
  EXPECT_TRUE(std::ranges::is_sorted(m.all, {}, &Measured::seconds));
  for (const Measured& one : m.all) {
    EXPECT_EQ(one.plan, candidates[one.place]);
    EXPECT_NEAR(one.seconds, device.seconds.at(to_string(one.plan)), 1e-9) << to_string(one.plan);
    EXPECT_EQ(one.failure, "");
    EXPECT_GE(one.samples.size(), 3u);
  }
}

TEST_F(Measure, TellsTimesByTheStateOfTheMachineAtThatTime) {
  device.seconds = {{line("sell:8"), 0.95e-3}, {line("sell:32"), 1.04e-3}};
  device.slowdown = 3;
  device.slow_after = 25;  // within the samples of the second

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32"}));

  const double first = of(m, "csr").seconds;
  EXPECT_NEAR(of(m, "sell:8").seconds / first, 0.95, 1e-6);
  EXPECT_NEAR(of(m, "sell:32").seconds / first, 1.04, 1e-6);
}

TEST_F(Measure, KeepsItsSamplesBesideThoseOfTheFirst) {
  device.seconds = {{line("sell:8"), 0.95e-3}};
  device.slowdown = 3;
  device.slow_after = 25;
  limits.products = 1e4;
  limits.samples = 21;

  const Measurement m = measured(plans({"csr", "sell:8"}));

  const auto &first = of(m, "csr").samples, &other = of(m, "sell:8").samples;
  ASSERT_EQ(first.size(), 42u);
  ASSERT_EQ(other.size(), 21u) << "those that confirm it";
  for (std::size_t i = 0; i < other.size(); ++i) {
    EXPECT_EQ(first[21 + i].ratio, 1);
    EXPECT_NEAR(other[i].ratio, other[i].seconds / first[21 + i].seconds, 1e-12);
  }
  EXPECT_NEAR(other.back().seconds, 3 * 0.95e-3, 1e-9);
}

TEST_F(Measure, KeepsTheTimeOfPackingEachCopy) {
  device.pack_s = 0.5;

  const Measurement m = measured(plans({"csr words=1:row", "sell:8", "csr words=1:row plain", "sell:8 plain"}));

  EXPECT_EQ(device.packs, 2);
  for (const Measured& one : m.all) EXPECT_NEAR(one.packing_s, 0.5, 1e-9) << to_string(one.plan);
}

TEST_F(Measure, StaysWithinTheProductsThatItMayTake) {
  const auto candidates = plans({"csr", "csr plain", "csr xahead", "sell:2", "sell:4", "sell:8", "sell:16", "sell:32",
                                 "sell:8 plain", "sell:8 xahead", "sell:8:64", "sell:32:256", "ellr"});
  for (const double products : {110., 150., 1000.}) {
    limits.products = products;
    device.products = 0;

    const Measurement m = measured(candidates);

    EXPECT_LE(device.products, products);
    EXPECT_NEAR(m.products, device.products, 1);
    EXPECT_EQ(m.timed, 13) << products;
  }
}

TEST_F(Measure, TakesNoLongerSamplesThanAClockNeeds) {
  limits.products = std::numeric_limits<double>::infinity();
  for (const char* text : {"csr", "sell:8", "csr plain"}) device.seconds[line(text)] = 1e-5;

  const Measurement m = measured(plans({"csr", "sell:8", "csr plain"}));

  EXPECT_EQ(m.timed, 3);
  EXPECT_LE(m.timing_s, 0.06);
}

TEST_F(Measure, StaysWithinTheSecondsThatTimingMayTake) {
  limits.products = std::numeric_limits<double>::infinity();
  limits.timing_s = 0.06;
  limits.samples = 1000;
  device.seconds = {{line("sell:8"), 0.9e-3}};  // is sampled again

  const Measurement m = measured(plans({"csr", "sell:8", "csr plain", "ellr"}));

  EXPECT_EQ(m.timed, 4);
  EXPECT_GT(m.timing_s, 0.04);
  EXPECT_LE(m.timing_s, 0.06);
}

TEST_F(Measure, TakesSamplesOfTheLengthThatIsAskedFor) {
  limits.products = std::numeric_limits<double>::infinity();
  limits.samples = 3;
  limits.sample_s = 0.02;

  measured(plans({"csr", "sell:8"}));

  EXPECT_NEAR(device.multiplied[line("sell:8")], 1 + 3 * 20, 1);  // one to warm up
}

TEST_F(Measure, LeavesNoneBehindWhereItIsToldSo) {
  device.seconds = {{line("sell:8"), 5e-3}, {line("sell:32"), 1.2e-3}};
  limits.products = 1e4;
  limits.samples = 21;
  limits.far_behind = std::numeric_limits<double>::infinity();

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32"}));

  EXPECT_EQ(of(m, "sell:8").samples.size(), 21u);
  EXPECT_NEAR(of(m, "sell:8").ratio(), 5, 1e-6);
  EXPECT_EQ(of(m, "sell:32").samples.size(), 21u);
}

TEST_F(Measure, AllowsSmallMatricesTheTimeThatAClockNeeds) {
  for (const char* text : {"csr", "sell:8", "csr plain"}) device.seconds[line(text)] = 1e-6;

  const Measurement m = measured(plans({"csr", "sell:8", "csr plain"}));

  EXPECT_GT(device.products, 1000);
  EXPECT_LE(m.timing_s, 40e-3);
}

TEST_F(Measure, TakesNoSamplesThatTimeTheWaitForADevice) {
  for (const char* text : {"csr", "sell:8", "csr plain"}) device.seconds[line(text)] = 1e-5;
  device.wait_s = 5e-6;

  const Measurement m = measured(plans({"csr", "sell:8", "csr plain"}));

  for (const Measured& one : m.all) EXPECT_LT(one.seconds, 1.1e-5) << to_string(one.plan);
}

TEST_F(Measure, BelievesTheFastestOnlyWhenItIsSoAgain) {
  const auto candidates = plans({"csr", "sell:8", "sell:16", "sell:32"});
  device.seconds = {{line("sell:8"), 1.2e-3}, {line("sell:16"), 0.9e-3}};
  device.lucky = {{line("sell:8"), 9}};

  const Measurement m = measured(candidates);

  EXPECT_NEAR(of(m, "sell:8").ratio(), 1.2, 1e-6);
  EXPECT_EQ(choice(m)->plan, candidates[2]);
  EXPECT_LE(device.products, 150);
}

TEST_F(Measure, TakesWhatGainsLittleIfItIsSoAgain) {
  const auto candidates = plans({"csr words=1:row", "csr words=1:column", "csr words=1:row plain"});
  device.seconds = {{line("csr words=1:column"), 0.985e-3}};
  device.lucky = {{line("csr words=1:row plain"), 2}};

  const Measurement m = measured(candidates);

  EXPECT_EQ(choice(m)->plan, candidates[1]);
  EXPECT_TRUE(choice(m)->is_confirmed);
  EXPECT_LE(device.products, 150);
}

TEST_F(Measure, LeavesThePlanForNothingBelowHalfAPerCent) {
  const auto candidates = plans({"csr words=1:row", "csr words=1:column"});
  device.seconds = {{line("csr words=1:column"), 0.997e-3}};

  EXPECT_EQ(choice(measured(candidates))->plan, candidates[0]);
}

TEST_F(Measure, WarmsTheCacheForSmallMatrices) {
  device.seconds = {{line("csr"), 1e-5}, {line("sell:8"), 0.8e-5}};
  device.cold_s = 1e-4;

  const Measurement m = measured(plans({"csr", "sell:8"}));

  EXPECT_NEAR(of(m, "sell:8").ratio(), 0.8, 1e-6);
}

/// Samples of 0.4 ms are of one product where only so many may be made.
TEST_F(Measure, WarmsTheLastCacheOfAHost) {
  device.seconds = {{line("csr"), 4e-4}, {line("sell:8"), 3.2e-4}, {line("sell:16"), 6e-4}, {line("sell:32"), 6e-4}};
  device.cold_s = 1e-3;

  const Measurement m = measured(plans({"csr", "sell:8", "sell:16", "sell:32"}));

  EXPECT_NEAR(of(m, "sell:8").ratio(), 0.8, 1e-6);
  EXPECT_LE(device.products, 150);
}

TEST_F(Measure, SaysWhatItHadNoTimeFor) {
  limits.products = 27;
  for (const char* text : {"csr", "sell:8", "sell:32", "sell:4"}) device.seconds[line(text)] = 3e-3;

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32", "sell:4"}));

  EXPECT_EQ(m.timed, 3);
  EXPECT_EQ(of(m, "sell:4").failure, "not tried: timing has taken the time it may");
  EXPECT_EQ(m.all.back().plan, parse_plan("sell:4", {}));
  EXPECT_LE(device.products, 27);
}

TEST_F(Measure, PacksNoLongerThanItMay) {
  device.pack_s = 1;
  limits.seconds = 3.5;

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32", "sell:4", "sell:2", "csr plain"}));

  EXPECT_EQ(device.packs, 4);
  EXPECT_NEAR(m.packing_s, 3, 1e-9);
  EXPECT_EQ(of(m, "sell:2").failure, "not tried: packing has taken the time it may");
  EXPECT_EQ(m.timed, 5);
}

TEST_F(Measure, PacksInNoMoreProductsThanItMay) {
  device.pack_s = 0.1;
  limits.packing_products = 250;

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32", "sell:4"}));

  EXPECT_EQ(device.packs, 3);
  EXPECT_EQ(m.timed, 3);
}

TEST_F(Measure, LeavesThoseBehind) {
  device.seconds = {{line("sell:8"), 2.5e-3}, {line("sell:32"), 1.2e-3}, {line("sell:4"), 1.05e-3}};

  const Measurement m = measured(plans({"csr", "sell:8", "sell:32", "sell:4"}));

  EXPECT_EQ(of(m, "sell:8").samples.size(), 1u);
  EXPECT_EQ(of(m, "sell:32").samples.size(), 3u);
  EXPECT_GT(of(m, "sell:4").samples.size(), 3u);
}

TEST_F(Measure, PacksOncePerLayoutWhateverTheSchedules) {
  measured(plans({"csr", "sell:8", "csr plain", "sell:8 plain", "csr xahead", "csr words=1:row"}));

  EXPECT_EQ(device.packs, 3);
  EXPECT_EQ(device.multiplied.size(), 6u);
  EXPECT_EQ(device.releases, device.allocations);
}

TEST_F(Measure, HoldsTheFirstPackedCopyAndOneMore) {
  measured(plans({"csr"}));
  const int one = device.most_held;
  measured(plans({"csr", "csr words=1:row"}));
  const int two = device.most_held;

  measured(plans({"csr", "csr words=1:row", "csr words=2", "csr words=4"}));

  EXPECT_LE(two, 2 * one);
  EXPECT_EQ(device.most_held, two);
}

TEST_F(Measure, TellsOfEachCandidateOnce) {
  const auto candidates = plans({"csr", "sell:8", "csr plain", "csr lanes=4"});
  std::vector<std::size_t> told;

  measured(candidates, [&](const Measured& m) {
    told.push_back(m.place);
    EXPECT_EQ(m.plan, candidates[m.place]);
    EXPECT_EQ(m.is_timed(), m.place != 3);
  });

  EXPECT_EQ(told, (std::vector<std::size_t>{2, 3, 1}));
}

TEST_F(Measure, PutsWhatIsNotApplicableLastWithItsReason) {
  const auto all = measured(plans({"csr lanes=4", "entry=quaternion csr", "sell:8"})).all;

  EXPECT_EQ(to_string(all[0].plan), to_string(parse_plan("sell:8", {})));
  EXPECT_EQ(all[0].failure, "");
  EXPECT_NEAR(all[0].seconds, 1e-3, 1e-9);
  EXPECT_NE(all[1].failure.find("the host backend has one worker a row: lanes=1"), std::string::npos) << all[1].failure;
  EXPECT_NE(all[2].failure.find("entry quaternion needs blocks of 4x4"), std::string::npos) << all[2].failure;
  EXPECT_TRUE(std::isinf(all[1].seconds) && std::isinf(all[2].seconds));
}

TEST_F(Measure, GoesOnAfterAScheduleThatIsNotApplicable) {
  const Measurement m = measured(plans({"sell:8", "csr lanes=4", "csr", "csr components", "csr plain"}));

  EXPECT_EQ(m.timed, 3);
  EXPECT_EQ(device.packs, 2);
}

TEST_F(Measure, SurvivesMemoryThatIsFull) {
  // One long row makes the slice of all rows too large for the memory there is.
  const Pattern uneven = pattern_of(280, [] {
    std::vector<std::vector<idx>> rows(300, {0});
    for (idx c = 0; c < 280; ++c) rows[7].push_back(c);
    return rows;
  }());
  const std::vector<double> blocks(uneven.column.size() * 9, 1.0);
  device.largest = blocks.size() * sizeof(double);

  const auto all = measure(uneven.view(), operands.problem(), plans({"ellr", "csr", "ellr plain", "csr plain"}), device,
                           blocks.data(), limits)
                       .all;

  for (int i : {0, 1}) EXPECT_TRUE(all[i].plan.layout.preset == "csr" && all[i].failure.empty()) << i;
  for (int i : {2, 3}) EXPECT_TRUE(all[i].plan.layout.preset == "ellr" && all[i].failure == "out of memory") << i;
  EXPECT_EQ(device.releases, device.allocations);
}

TEST_F(Measure, SurvivesProductsThatFail) {
  device.broken = ErrorKind::unsupported;

  const auto all = measured(plans({"sell:8", "csr", "sell:8 plain"})).all;

  EXPECT_EQ(all[0].plan.layout.preset, "csr");
  for (int i : {1, 2}) EXPECT_NE(all[i].failure.find("broken"), std::string::npos) << all[i].failure;
}

TEST_F(Measure, GivesNothingForNothing) {
  EXPECT_TRUE(measured({}).all.empty());
  EXPECT_EQ(choice(measured({})), nullptr);
  EXPECT_EQ(choice(measured(plans({"csr lanes=4"}))), nullptr);
}

TEST_F(Measure, TimesMatricesWithoutEntries) {
  for (const Pattern& empty : {pattern_of(0, {}), pattern_of(5, {}), pattern_of(7, {{}, {}})}) {
    const auto m =
        measure(empty.view(), operands.problem(), plans({"csr", "sell:8", "csr rowlist"}), device, nullptr, limits);

    EXPECT_EQ(m.timed, 3);
    for (const Measured& one : m.all) {
      EXPECT_EQ(one.failure, "") << to_string(one.plan);
      EXPECT_GT(one.seconds, 0);
    }
  }
}

TEST_F(Measure, GoesByTheClockThatThereIs) {
  limits.now = steady_s;
  limits.products = 1e4;

  const Measurement m = measured(plans({"csr", "sell:8"}));

  for (const Measured& one : m.all) EXPECT_TRUE(one.seconds > 0 && one.seconds < 1) << one.seconds;
}

TEST(Choice, IsTheSmallestCopyOfThoseNearTheFastest) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 1.00, .bytes = 100, .samples = {}, .failure = {}, .place = 2, .is_confirmed = true},
           {.plan = {}, .seconds = 1.02, .bytes = 90, .samples = {}, .failure = {}, .place = 4, .is_confirmed = true},
           {.plan = {}, .seconds = 1.025, .bytes = 90, .samples = {}, .failure = {}, .place = 1, .is_confirmed = true},
           {.plan = {}, .seconds = 1.04, .bytes = 0, .samples = {}, .failure = {}, .place = 0, .is_confirmed = true}};

  EXPECT_EQ(choice(m)->place, 1u);
  m.all[2].bytes = 95;
  EXPECT_EQ(choice(m)->place, 4u);
  m.all[3].seconds = 1.03;
  EXPECT_EQ(choice(m)->place, 0u);
}

TEST(BestScore, WeighsTimeAndMemory) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 1.0, .bytes = 100, .samples = {}, .failure = {}, .place = 0},
           {.plan = {}, .seconds = 1.2, .bytes = 50, .samples = {}, .failure = {}, .place = 1},
           {.plan = {}, .seconds = 3.0, .bytes = 0, .samples = {}, .failure = {}, .place = 2},
           {.plan = {}, .seconds = 9, .bytes = 0, .samples = {}, .failure = "out of memory", .place = 3}};

  EXPECT_EQ(best_score(m, 0)->place, 0u);
  EXPECT_EQ(best_score(m, 0.4)->place, 1u);
  EXPECT_EQ(best_score(m, 1)->place, 2u);
  EXPECT_EQ(best_score({}, 0.5), nullptr);
}

TEST(BestSoFar, IsToldWithItsPlan) {
  BestSoFar best(4);
  const auto timed = [](const char* text, double ratio) {
    return Measured{.plan = parse_plan(text, {}), .samples = {{.seconds = ratio, .ratio = ratio}}, .failure = {}};
  };

  EXPECT_FALSE(best.add(timed("csr", 1.1)));
  EXPECT_EQ(best.text(), "2 of 4 plans, best so far 1.00 times as fast as the first");
  EXPECT_TRUE(best.add(timed("sell:8", 0.8)));
  EXPECT_EQ(best.text(), "3 of 4 plans, best so far 1.25 times as fast as the first: " + line("sell:8"));
  Measured failed = timed("sell:4", 0.5);
  failed.failure = "out of memory";
  EXPECT_FALSE(best.add(failed));
}

TEST(Gain, IsOverTheFirstCandidate) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 2, .samples = {}, .failure = {}, .place = 1},
           {.plan = {}, .seconds = 3, .samples = {}, .failure = {}, .place = 0}};
  EXPECT_EQ(gain(m, m.all[0]), 1.5);
  EXPECT_EQ(gain(m, m.all[1]), 1);
  m.all[1].failure = "out of memory";
  EXPECT_EQ(gain(m, m.all[0]), 1);
}

TEST(Choice, StaysWithTheFirstForNoise) {
  const auto samples = [](std::initializer_list<double> ratios) {
    std::vector<Sample> all;
    for (const double r : ratios) all.push_back({.seconds = r, .ratio = r});
    return all;
  };
  Measurement m;
  m.all = {
      {.plan = {},
       .seconds = 0.9,
       .samples = samples({0.7, 0.9, 1.2, 0.8, 1.1}),
       .failure = {},
       .place = 1,
       .is_confirmed = true},
      {.plan = {}, .seconds = 1, .samples = samples({1, 1, 1, 1, 1}), .failure = {}, .place = 0, .is_confirmed = true}};
  EXPECT_EQ(choice(m)->place, 0u);

  m.all[0].samples = samples({0.88, 0.9, 0.93, 0.9, 1.1});
  EXPECT_EQ(choice(m)->place, 1u);
}

TEST(Choice, StaysWithTheFirstForAFewBytes) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 0.997, .bytes = 980, .samples = {}, .failure = {}, .place = 1, .is_confirmed = true},
           {.plan = {}, .seconds = 1, .bytes = 1000, .samples = {}, .failure = {}, .place = 0, .is_confirmed = true}};
  EXPECT_EQ(choice(m)->place, 0u);

  m.all[0].bytes = 900;
  EXPECT_EQ(choice(m)->place, 1u);
}

TEST(Choice, IsNoneThatWasNotSampledAgain) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 0.7, .bytes = 900, .samples = {}, .failure = {}, .place = 2},
           {.plan = {}, .seconds = 0.8, .bytes = 1000, .samples = {}, .failure = {}, .place = 1, .is_confirmed = true},
           {.plan = {}, .seconds = 1, .bytes = 1000, .samples = {}, .failure = {}, .place = 0, .is_confirmed = true}};
  EXPECT_EQ(choice(m)->place, 1u);

  m.all[1].is_confirmed = false;
  EXPECT_EQ(choice(m)->place, 0u);
}

TEST(Choice, IsTheFastestOfOneSizeIfItIsConfirmed) {
  Measurement m;
  m.all = {{.plan = {}, .seconds = 0.98, .bytes = 1000, .samples = {}, .failure = {}, .place = 1},
           {.plan = {}, .seconds = 1, .bytes = 1000, .samples = {}, .failure = {}, .place = 0, .is_confirmed = true}};
  EXPECT_EQ(choice(m)->place, 0u);

  m.all[0].is_confirmed = true;
  EXPECT_EQ(choice(m)->place, 1u);

  m.all[0].seconds = 0.998;
  EXPECT_EQ(choice(m)->place, 0u);
}

}  // namespace
}  // namespace compound::test
