// What compound-tune makes of times: what pays off, shares of a yardstick, and what became slower.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "calibrate.hpp"
#include "compare.hpp"
#include "tune_case.hpp"

namespace compound::bench::tune {
namespace {

TunedPlan plan_of(double seconds, double packing_s, int samples = 3) {
  TunedPlan p;
  p.measured.seconds = seconds;
  p.measured.packing_s = packing_s;
  for (int i = 0; i < samples; ++i) p.measured.samples.push_back({seconds * (1 + 0.01 * i), 1});
  return p;
}

TEST(TuneResult, PaysOffWhereProductsGain) {
  TuneResult r;
  r.rule_s = 2e-3;

  EXPECT_NEAR(*pays_off_after(r, plan_of(1.5e-3, 5e-3)), 10, 1e-9);
  EXPECT_EQ(*pays_off_after(r, plan_of(1e-3, 0)), 0);
  EXPECT_FALSE(pays_off_after(r, plan_of(2e-3, 5e-3)));
  EXPECT_FALSE(pays_off_after(r, plan_of(3e-3, 5e-3)));
}

TEST(TuneResult, PaysOffNowhereWithoutATimeOfTheRule) {
  EXPECT_FALSE(pays_off_after(TuneResult{}, plan_of(1e-3, 1e-3)));
}

TEST(TuneResult, SharesAreOfTheYardsticksBytesPerSecond) {
  TuneResult r;
  r.compulsory_bytes = 1e6;
  r.read = {{1, {1e-3, 2e-3, 9e-3}}, 4e6, "any"};

  EXPECT_NEAR(share(r, r.read, plan_of(1e-3, 0, 1)), 0.5, 1e-12);  // 1 GB/s of 2
  EXPECT_EQ(share(r, {{1, {1e-3}}, 0, "any"}, plan_of(1e-3, 0)), 0);
}

TEST(TunedPlan, HasAPercentileOfEnoughSamples) {
  EXPECT_FALSE(plan_of(1, 0, 19).late_s());
  ASSERT_TRUE(plan_of(1, 0, 20).late_s());
  EXPECT_NEAR(*plan_of(1, 0, 21).late_s(), 1.19, 1e-12);
  EXPECT_EQ(plan_of(1, 0, 21).least_s(), 1);
  EXPECT_NEAR(plan_of(1, 0, 21).median_s(), 1.1, 1e-12);
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
