#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace compound::test {
namespace {

bool is_at_multiple(const void* memory, std::size_t of) { return reinterpret_cast<std::uintptr_t>(memory) % of == 0; }

TEST(LargeVector, BeginsOnAHugePageFromSomeBytesOn) {
  const LargeVector<double> large(large_array / sizeof(double));

  EXPECT_TRUE(is_at_multiple(large.data(), huge_page));
  EXPECT_TRUE(is_at_multiple(LargeVector<double>(3).data(), alignof(std::max_align_t)));
}

TEST(LargeVector, KeepsItsNumbersAsItGrows) {
  LargeVector<int> v;
  for (int k = 0; k < 3'000'000; ++k) v.push_back(k);
  v.resize(4'000'000);
  std::vector<int> wanted(3'000'000);
  std::iota(wanted.begin(), wanted.end(), 0);

  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), v.begin()));
  EXPECT_EQ(v.size(), 4'000'000u);
}

TEST(LargeVector, SetsNumbersToWhatIsAskedFor) {
  LargeVector<int> v(10, 7);
  v.resize(20, 5);

  EXPECT_EQ(v, (LargeVector<int>{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(AllocateInPages, GivesNothingWhereThereIsNoMemory) { EXPECT_EQ(allocate_in_pages(SIZE_MAX / 2, 64), nullptr); }

}  // namespace
}  // namespace compound::test
