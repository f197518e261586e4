#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace compound::test {
namespace {

bool is_at_multiple(const void* memory, std::size_t of) { return reinterpret_cast<std::uintptr_t>(memory) % of == 0; }

TEST(LargeVector, BeginsOnAHugePageFromSomeBytesOn) {
  const LargeVector<double> large(large_array / sizeof(double));

  EXPECT_TRUE(is_at_multiple(large.data(), huge_page));
  EXPECT_TRUE(is_at_multiple(LargeVector<double>(3).data(), alignof(std::max_align_t)));
}

/// Whether Linux was asked for huge pages at an address, by its list of what is mapped.
bool is_advised(const void* memory) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool is_here = false;
  for (std::uintptr_t first, end; std::getline(maps, line);) {
    std::istringstream words(line);
    char dash = 0;
    if (words >> std::hex >> first >> dash >> end && dash == '-')
      is_here = first <= reinterpret_cast<std::uintptr_t>(memory) && reinterpret_cast<std::uintptr_t>(memory) < end;
    else if (is_here && line.starts_with("VmFlags:"))
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(AllocateInPages, AsksForHugePagesWhereTheyPayOff) {
  const std::string enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::ifstream(enabled)) {
    std::cout << "skipped: this Linux has no huge pages (" << enabled << ")" << std::endl;
    GTEST_SKIP();
  }
  using Memory = std::unique_ptr<void, decltype(&std::free)>;
  const Memory large(allocate_in_pages(large_array, 64), std::free);
  EXPECT_TRUE(is_advised(static_cast<char*>(large.get()) + huge_page));

  // What malloc gives may have been part of a large array, which asked: the next ones come from elsewhere.
  constexpr std::size_t many = 1000, page = 4096, size = large_array / 2;
  std::vector<Memory> small;
  do small.emplace_back(allocate_in_pages(size, page), std::free);
  while (is_advised(static_cast<char*>(small.back().get()) + size / 2) && small.size() < many);
  EXPECT_LT(small.size(), many) << "each is advised";
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
