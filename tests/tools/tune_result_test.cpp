// What compound-tune makes of times: what pays off, shares of a yardstick, and what became slower.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "calibrate.hpp"
#include "compare.hpp"
#include "finals.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {
namespace {

/// The record of a plan beside a rule's plan of so many seconds.
Record plan_of(double seconds, double packing_s, int samples = 3, double rule_s = 0) {
  Measured m;
  m.seconds = seconds;
  m.packing_s = packing_s;
  for (int i = 0; i < samples; ++i) m.samples.push_back({seconds * (1 + 0.01 * i), 1});
  return record_of(m, rule_s, {{"compulsory_bytes", 1e6}, {"read", {{"gbs", 2.0}}}});
}

TEST(TunedPlan, PaysOffWhereProductsGain) {
  EXPECT_NEAR(plan_of(1.5e-3, 5e-3, 3, 2e-3).at("pays_off_after"), 10, 1e-9);
  EXPECT_EQ(plan_of(1e-3, 0, 3, 2e-3).at("pays_off_after"), 0);
  EXPECT_FALSE(plan_of(2e-3, 5e-3, 3, 2e-3).contains("pays_off_after"));
  EXPECT_FALSE(plan_of(3e-3, 5e-3, 3, 2e-3).contains("pays_off_after"));
}

TEST(TunedPlan, PaysOffNowhereWithoutATimeOfTheRule) {
  EXPECT_FALSE(plan_of(1e-3, 1e-3).contains("pays_off_after"));
  EXPECT_FALSE(plan_of(1e-3, 1e-3).contains("times_rule"));
}

TEST(TunedPlan, SharesAreOfTheYardsticksBytesPerSecond) {
  EXPECT_NEAR(plan_of(1e-3, 0, 1).at("share_of_read"), 0.5, 1e-12);  // 1 GB/s of 2
}

TEST(TunedPlan, HasAPercentileOfEnoughSamples) {
  EXPECT_FALSE(plan_of(1, 0, 19).contains("p95_s"));
  EXPECT_TRUE(plan_of(1, 0, 20).contains("p95_s"));
  EXPECT_NEAR(plan_of(1, 0, 21).at("p95_s"), 1.19, 1e-12);
  EXPECT_EQ(plan_of(1, 0, 21).at("least_s"), 1);
  EXPECT_NEAR(plan_of(1, 0, 21).at("median_s"), 1.1, 1e-12);
}

/// A plan whose ratios to the default one are these; the default one has place 0.
Measured sampled(std::string_view line, std::size_t place, std::vector<double> ratios, double unit_s = 1) {
  Measured m;
  m.plan = parse_plan(line, {});
  m.place = place;
  for (const double r : ratios) m.samples.push_back({r * unit_s, r});
  m.seconds = m.ratio() * unit_s;
  m.is_confirmed = true;
  return m;
}

std::vector<std::string> lines_of(const std::vector<Plan>& plans) {
  std::vector<std::string> lines;
  for (const Plan& p : plans) lines.push_back(layout_name(p.layout));
  return lines;
}

TEST(Finals, AreOfThoseNearTheFastestWithTheDefaultPlan) {
  Measurement found;
  found.all = {sampled("sell:8", 2, {0.80}), sampled("sell:16", 3, {0.81}), sampled("sell:32", 1, {0.9}),
               sampled("csr", 0, {1}), sampled("ellr", 4, {1.2})};

  EXPECT_EQ(lines_of(finalists(found, {})), (std::vector<std::string>{"csr", "sell:8", "sell:16"}));
  // Both were lucky: what now seems to be faster is timed once more, too.
  found.all[0] = sampled("sell:8", 2, {0.95});
  found.all[1] = sampled("sell:16", 3, {0.97});
  const std::vector<Plan> known = {found.all[0].plan, found.all[1].plan};
  EXPECT_EQ(lines_of(finalists(found, known)), (std::vector<std::string>{"csr", "sell:32"}));
  found.all[2] = sampled("sell:32", 1, {0.96});
  EXPECT_TRUE(finalists(found, known).empty());
}

TEST(Finals, AreOfNoneWithoutATimeOfTheDefaultPlan) {
  Measurement found;
  found.all = {sampled("sell:8", 1, {0.8}), sampled("csr", 0, {1})};
  found.all[1].failure = "out of memory";

  EXPECT_TRUE(finalists(found, {}).empty());
}

TEST(Finals, TakeThePlaceOfEarlierSamplesAndSortByThem) {
  Measurement found;
  found.all = {sampled("sell:8", 1, {0.6}), sampled("sell:16", 2, {0.7}), sampled("csr", 0, {1})};
  Measurement once_more;
  once_more.all = {sampled("sell:16", 2, {0.7, 0.71, 0.72}, 2), sampled("sell:8", 1, {0.8, 0.9, 0.85}, 2),
                   sampled("csr", 0, {1, 1, 1}, 2)};

  take_finals(found, {once_more});

  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(layout_name(found.all[0].plan.layout), "sell:16");
  EXPECT_NEAR(found.all[0].seconds, 1.42, 1e-12);
  EXPECT_NEAR(found.all[1].seconds, 1.70, 1e-12);
  EXPECT_NEAR(found.all[2].seconds, 2, 1e-12);
  EXPECT_EQ(found.all[1].samples.size(), 3u);
  EXPECT_EQ(best_with_difference(found, 0), &found.all[0]);
}

TEST(Finals, ThatAreNoneKeepTheirTimesRelativeToTheDefaultPlan) {
  Measurement found, once_more;
  found.all = {sampled("sell:8", 1, {0.6}), sampled("csr", 0, {1}), sampled("ellr", 2, {1.5})};
  once_more.all = {sampled("sell:8", 1, {0.9}, 3), sampled("csr", 0, {1}, 3)};

  take_finals(found, {once_more});

  EXPECT_NEAR(found.all[2].seconds, 4.5, 1e-12);
  EXPECT_FALSE(found.all[2].is_confirmed);
}

TEST(BestWithDifference, IsTheDefaultPlanWhereQuartilesOverlap) {
  Measurement m;
  m.all = {sampled("sell:8", 1, {0.5, 0.9, 0.9, 1.1, 1.2}), sampled("csr", 0, {1, 1, 1, 1, 1})};
  EXPECT_EQ(best_with_difference(m, 0), &m.all[1]);
  m.all[0] = sampled("sell:8", 1, {0.5, 0.9, 0.9, 0.95, 1.2});
  EXPECT_EQ(best_with_difference(m, 0), &m.all[0]);
}

TEST(LuckyPlans, HaveNoTimeAndAreNeverAboveTheOneToTake) {
  Measurement m;
  m.all = {sampled("sell:4", 1, {0.2}), sampled("sell:8", 2, {0.8, 0.81, 0.82}), sampled("csr", 0, {1}),
           sampled("ellr", 3, {1.5})};
  m.all[0].is_confirmed = m.all[3].is_confirmed = false;

  leave_out_lucky(m, Measured(m.all[1]));

  EXPECT_EQ(layout_name(m.all[0].plan.layout), "sell:8");
  EXPECT_EQ(layout_name(m.all[3].plan.layout), "sell:4");
  EXPECT_NE(m.all[3].failure.find("in too few samples to tell: 1;"), std::string::npos) << m.all[3].failure;
  EXPECT_TRUE(m.all[2].is_timed()) << "slower ones keep theirs";
}

TEST(Spread, IsTheMiddleHalf) {
  const Spread s = spread_of(sampled("csr", 1, {0.1, 1, 2, 3, 9}));
  EXPECT_EQ(s.lower, 1);
  EXPECT_EQ(s.upper, 3);
  EXPECT_TRUE(s.overlaps({2.5, 4}));
  EXPECT_FALSE(s.overlaps({3.5, 4}));
  EXPECT_FALSE(s.overlaps({0.5, 0.9}));
}

TEST(TimeLeft, IsAsIfEachPlanTookAsLong) {
  EXPECT_EQ(time_left(62, 248, 5), "; about 15 s left");
  EXPECT_EQ(time_left(248, 248, 20), "");
  EXPECT_EQ(time_left(0, 248, 0), "");
}

const SavedTimes before = {{"cube", {{"csr", 1e-3}, {"sell:8", 2e-3}, {"dia", 1e-3}}}, {"square", {{"csr", 1e-3}}}};

TEST(Compared, FindsWhatBecameSlowerAndFaster) {
  SavedTimes after = before;
  after["cube"]["csr"] = 1.2e-3;
  after["cube"]["sell:8"] = 1e-3;
  after["square"]["csr"] = 3e-3;

  const Comparison c = compared(before, after, 1.05);

  EXPECT_EQ(c.compared, 4);
  ASSERT_EQ(c.slower.size(), 2u);
  EXPECT_EQ(c.slower[0].matrix, "square");
  EXPECT_NEAR(c.slower[0].ratio(), 3, 1e-12);
  EXPECT_EQ(c.slower[1].plan, "csr");
  ASSERT_EQ(c.faster.size(), 1u);
  EXPECT_EQ(c.faster[0].plan, "sell:8");
}

TEST(Compared, LetsPassWhatIsWithinTheThreshold) {
  SavedTimes after = before;
  after["cube"]["csr"] = 1.04e-3;
  after["cube"]["dia"] = 0.97e-3;

  EXPECT_TRUE(compared(before, after, 1.05).slower.empty());
  EXPECT_TRUE(compared(before, after, 1.05).faster.empty());
  EXPECT_EQ(compared(before, after, 1.03).slower.size(), 1u);
}

TEST(Compared, CountsWhatIsInOneAlone) {
  SavedTimes after = before;
  after["cube"].erase("dia");
  after.erase("square");
  after["torus"] = {{"csr", 1e-3}};

  const Comparison c = compared(before, after, 1.05);

  EXPECT_EQ(c.compared, 2);
  EXPECT_EQ(c.before_alone, 2);
  EXPECT_EQ(c.after_alone, 1);
}

/// On the host, which stands for a device of a tiny cache.
TEST(Calibration, GivesATableOfTheDeviceItRanOn) {
  const DeviceTable h200 = device_tables().all.front();
  int matrices = 0;
  const Calibration c = calibrated(backend("host"), {4, 200000, 0}, h200, [&](const std::string&) { ++matrices; });
  EXPECT_GT(matrices, 8);
  EXPECT_GT(c.plans, 4 * matrices);
  EXPECT_EQ(c.table.name, backend("host").machine().device);
  EXPECT_EQ(c.table.cache, 200000);
  EXPECT_NEAR(c.table.kept_all / c.table.cache, h200.kept_all / h200.cache, 1e-12);
  EXPECT_GE(c.mean_error, 0);
  EXPECT_EQ(parse_device_tables(to_string(c.table), "").size(), 1u);
}

}  // namespace
}  // namespace compound::bench::tune
