// GroupedVector: vectors in groups of uneven size, on a backend that reads the caller's arrays and on one that does
// not.
#include "storage/grouped_vector.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/recording_backend.hpp"

namespace compound::test {
namespace {

/// What is read before it was written shows.
class PretendedDevice final : public RecordingBackend {
 public:
  PretendedDevice() : RecordingBackend("recording", Reach::device) {}
  void* allocate(std::size_t bytes) override { return std::memset(RecordingBackend::allocate(bytes), 0xff, bytes); }
};

const Grouping uneven{3, {0, 2, 5, 6}, {0, 0, 1, 1, 1, 2}};

struct Grouped : testing::TestWithParam<bool> {
  PretendedDevice device;
  Backend& on = GetParam() ? device : backend("host");
};
INSTANTIATE_TEST_SUITE_P(Backends, Grouped, testing::Bool(), [](const auto& i) { return i.param ? "device" : "host"; });

TEST_P(Grouped, TakesAVectorWithZerosBetweenGroups) {
  const GroupedVector<double> v(uneven, on);
  for (const double f : {1.0, -2.0}) {  // again: what was there is gone
    const std::vector<double> x = {f, 2 * f, 3 * f, 4 * f, 5 * f, 6 * f};

    const double* const grouped = v.take(x.data());

    EXPECT_EQ(std::vector<double>(grouped, grouped + 9),
              (std::vector<double>{f, 2 * f, 0, 3 * f, 4 * f, 5 * f, 6 * f, 0, 0}));
  }
}

TEST_P(Grouped, GivesBackWhatIsInTheRoom) {
  using C = complex_number<double>;
  const GroupedVector<C> v(uneven, on);
  std::vector<C> y(6, C{7, 7});

  C* const room = v.room(y.data());
  for (int k = 0; k < 9; ++k) room[k] = C{double(k), 1};
  v.give(y.data());

  const int from[] = {0, 1, 3, 4, 5, 6};
  for (int k = 0; k < 6; ++k) EXPECT_TRUE(y[k] == (C{double(from[k]), 1})) << k;
}

TEST_P(Grouped, UsesVectorsAsTheyAreWhereGroupsAreFull) {
  const Grouping full = even_groups(6, 3);
  const GroupedVector<double> v(full, on);
  double x[6] = {};

  EXPECT_EQ(v.take(x), x);
  EXPECT_EQ(v.room(x), x);
  EXPECT_EQ(v.bytes(), 0u);
}

}  // namespace
}  // namespace compound::test
