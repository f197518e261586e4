// Wisdom to test with.
#pragma once

#include <string>

#include "planner/wisdom.hpp"

namespace compound::test {

/// Entries of different n have different patterns of one class.
inline WisdomEntry wisdom_entry(int n) {
  return {{"NVIDIA H200",
           "schema 1 driver 580.95",
           "3x3 real double dense double",
           0x123456789abcdef0u + n,
           {17, 4, -2, 0}},
          "entry=dense sell:32 words=32:column vectors=1 values=double columns=32 rows lanes=" + std::to_string(n),
          1.0 / (3 + n),
          1.25,
          "measure"};
}

}  // namespace compound::test
