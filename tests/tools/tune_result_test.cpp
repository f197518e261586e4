// What compound-tune makes of times: what pays off, shares of a yardstick, and what became slower.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "calibrate.hpp"
#include "compare.hpp"
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
