// What traversals of compressed rows share: software prefetch of the matrix' values, and loops as they are written.
#pragma once

#include "../../device/target.hpp"
#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// Values are fetched this far ahead (into all caches: they may be used again). Measured: docs/performance.md.
inline constexpr int prefetch_bytes = 2048;

/// x is fetched for the entry this many later: rows in no order would otherwise wait for each of its blocks.
inline constexpr int x_prefetch_entries = 16;

template <int bytes, class T>
SIMD_FN void prefetch(const T* p, slot_t ahead = prefetch_bytes) {
  unroll<(bytes + 63) / 64>(
      [&]<int line>() SIMD_LAMBDA { __builtin_prefetch(reinterpret_cast<const char*>(p) + ahead + 64 * line); });
}

/// Keeps GCC from counting a loop's turns beforehand: it would then compute the pointers a second time, and unroll, in
/// more registers than there are.
template <class T>
SIMD_FN void opaque(const idx*& column, const T*& w) {
  asm("" : "+r"(column), "+r"(w));
}

}  // namespace
}  // namespace compound::host
