#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace compound::test {
namespace {

TEST(ForRanges, VisitsEachNumberOnce) {
  for (const std::size_t count : {0u, 1u, 3u, 1000u})
    for (const std::size_t ranges : {1u, 2u, 4u}) {
      std::vector<int> visits(count, 0);

      for_ranges(count, ranges, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t k = begin; k < end; ++k) ++visits[k];
      });

      EXPECT_EQ(visits, std::vector<int>(count, 1)) << count << " in " << ranges;
    }
}

TEST(ForRanges, ThrowsWhatTheLowestRangeThrows) {
  const auto fail = [](std::size_t, std::size_t, std::size_t number) {
    if (number > 0) throw std::runtime_error("range " + std::to_string(number));
  };

  try {
    for_ranges(100, 4, fail);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "range 1");
  }
}

TEST(ThreadsFor, AreNoMoreThanTheWorkIsWorth) {
  EXPECT_EQ(threads_for(999, 1000), 1u);
  EXPECT_EQ(threads_for(0, 0), 1u);
  EXPECT_LE(threads_for(1'000'000, 1), std::min<std::size_t>(8, usable_cores()));
}

}  // namespace
}  // namespace compound::test
