// Copies by several threads: all bytes, and no others.
#include "base/copy_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"

namespace compound::test {
namespace {

std::vector<unsigned char> counted(std::size_t bytes) {
  std::vector<unsigned char> v(bytes);
  std::iota(v.begin(), v.end(), static_cast<unsigned char>(1));
  return v;
}

TEST(CopyTeams, CopyAllBytesAndNoOthers) {
  for (const std::size_t threads : {0, 1, 2, 3, 1000}) {
    CopyTeam team(threads);
    EXPECT_EQ(team.threads(), std::clamp<std::size_t>(threads, 1, usable_cores()));
    for (const std::size_t bytes : {0, 1, 4095, 4096, 4097, 12289, 1 << 20}) {
      const std::vector<unsigned char> from = counted(bytes);
      std::vector<unsigned char> to(bytes + 2, 0);

      team.copy(to.data() + 1, from.data(), bytes);

      EXPECT_EQ(to.front(), 0);
      EXPECT_EQ(to.back(), 0);
      EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin() + 1)) << threads << " threads, " << bytes << " bytes";
    }
  }
}

TEST(CopyTeams, EndWithoutACopy) { const CopyTeam team(4); }

}  // namespace
}  // namespace compound::test
