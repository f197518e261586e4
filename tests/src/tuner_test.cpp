// Measuring candidates on the host: what comes back, what is packed, and what failures do.
#include "tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "support/errors.hpp"
#include "support/products.hpp"
#include "support/recording_backend.hpp"
#include "support/zoo.hpp"

namespace compound::test {
namespace {

/// Remembers the plans it multiplied with, and fails where it is told to.
class TunedBackend final : public RecordingBackend {
 public:
  std::size_t largest = ~std::size_t{0};  ///< of the allocations that succeed
  std::optional<ErrorKind> broken;        ///< kind of error that products by slices end in
  std::vector<Plan> multiplied;

  void* allocate(std::size_t bytes) override {
    if (bytes > largest) throw std::bad_alloc();
    return RecordingBackend::allocate(bytes);
  }
  void multiply(const ProductTask& task) override {
    if (broken && task.layout.height > 1) throw error(*broken, "products by slices are broken");
    if (std::ranges::find(multiplied, task.plan) == multiplied.end()) multiplied.push_back(task.plan);
    RecordingBackend::multiply(task);
  }
};

class Measure : public testing::Test {
 protected:
  const Pattern pattern = random_pattern(300, 280, 9, test_seed());
  Random random;
  const Operands<double> operands{pattern, "dense", {3, 3}, random};
  TunedBackend device;
  testing::ScopedTrace trace{__FILE__, __LINE__, seed_text()};

  static std::vector<Plan> plans(std::initializer_list<const char*> lines) {
    std::vector<Plan> all;
    for (const char* line : lines) all.push_back(parse_plan(line, {}));
    return all;
  }
  std::vector<Measured> measured(const std::vector<Plan>& candidates,
                                 const std::function<void(std::size_t, const Measured&)>& told = {}) {
    return measure(pattern.view(), operands.problem(), candidates, device, operands.blocks.data(), told);
  }
};

TEST_F(Measure, GivesEveryCandidateBackTheFastestFirst) {
  const auto candidates = plans({"csr", "sell:8", "csr plain", "sell:32 vectors=32", "sell:8:all vectors=all"});

  const auto all = measured(candidates);

  ASSERT_EQ(all.size(), candidates.size());
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Measured::seconds));
  for (const Plan& plan : candidates) {
    EXPECT_EQ(std::ranges::count(all, plan, &Measured::plan), 1) << to_string(plan);
    EXPECT_NE(std::ranges::find(device.multiplied, plan), device.multiplied.end()) << to_string(plan);
  }
  for (const Measured& m : all) {
    EXPECT_GT(m.seconds, 0) << to_string(m.plan);
    EXPECT_TRUE(std::isfinite(m.seconds)) << to_string(m.plan);
    EXPECT_EQ(m.failure, "");
  }
}

TEST_F(Measure, PacksOncePerLayoutWhateverTheSchedules) {
  measured(plans({"csr", "sell:8", "csr plain", "sell:8 plain", "csr xahead", "csr words=1:row"}));

  EXPECT_EQ(device.packs, 3);
  EXPECT_EQ(device.multiplied.size(), 6u);
  EXPECT_EQ(device.releases, device.allocations);
}

TEST_F(Measure, HoldsOnePackedCopyAtATime) {
  measured(plans({"csr"}));
  const int most = device.most_held;

  measured(plans({"csr", "csr words=1:row", "csr words=2", "csr words=4"}));

  EXPECT_EQ(device.most_held, most);
}

TEST_F(Measure, TellsOfEachCandidateByItsPlaceInTheList) {
  const auto candidates = plans({"csr", "sell:8", "csr plain", "csr lanes=4"});
  std::vector<std::size_t> told;

  measured(candidates, [&](std::size_t i, const Measured& m) {
    told.push_back(i);
    EXPECT_EQ(m.plan, candidates[i]);
    EXPECT_EQ(std::isfinite(m.seconds), m.failure.empty());
  });

  EXPECT_EQ(told, (std::vector<std::size_t>{0, 2, 3, 1}));
}

TEST_F(Measure, PutsWhatIsNotApplicableLastWithItsReason) {
  const auto all = measured(plans({"csr lanes=4", "entry=quaternion csr", "sell:8"}));

  EXPECT_EQ(to_string(all[0].plan), to_string(parse_plan("sell:8", {})));
  EXPECT_EQ(all[0].failure, "");
  EXPECT_NE(all[1].failure.find("the host backend has one worker a row: lanes=1"), std::string::npos) << all[1].failure;
  EXPECT_NE(all[2].failure.find("entry quaternion needs blocks of 4x4"), std::string::npos) << all[2].failure;
  EXPECT_TRUE(std::isinf(all[1].seconds) && std::isinf(all[2].seconds));
}

TEST_F(Measure, GoesOnAfterAScheduleThatIsNotApplicable) {
  const auto all = measured(plans({"csr lanes=4", "csr", "csr components", "csr plain"}));

  EXPECT_EQ(std::ranges::count(all, "", &Measured::failure), 2);
  EXPECT_EQ(device.packs, 1);
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
                           blocks.data());

  for (int i : {0, 1}) EXPECT_TRUE(all[i].plan.layout.preset == "csr" && all[i].failure.empty()) << i;
  for (int i : {2, 3}) EXPECT_TRUE(all[i].plan.layout.preset == "ellr" && all[i].failure == "out of memory") << i;
  EXPECT_EQ(device.releases, device.allocations);
}

TEST_F(Measure, SurvivesProductsThatFail) {
  device.broken = ErrorKind::unsupported;

  const auto all = measured(plans({"sell:8", "csr", "sell:8 plain"}));

  EXPECT_EQ(all[0].plan.layout.preset, "csr");
  for (int i : {1, 2}) EXPECT_NE(all[i].failure.find("broken"), std::string::npos) << all[i].failure;
}

TEST_F(Measure, GivesNothingForNothing) { EXPECT_TRUE(measured({}).empty()); }

TEST_F(Measure, TimesMatricesWithoutEntries) {
  for (const Pattern& empty : {pattern_of(0, {}), pattern_of(5, {}), pattern_of(7, {{}, {}})}) {
    const auto all =
        measure(empty.view(), operands.problem(), plans({"csr", "sell:8", "csr rowlist"}), device, nullptr);

    for (const Measured& m : all) EXPECT_EQ(m.failure, "") << to_string(m.plan);
  }
}

}  // namespace
}  // namespace compound::test
