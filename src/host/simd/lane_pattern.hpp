// Which element each lane of a vector takes, as a compile-time value. The text of this folder is compiled once per
// instruction set, so everything in it has internal linkage and none of it includes the standard library: an inline
// function compiled for AVX-512 must never be the one that the rest of the program links to.
#pragma once

#define SIMD_FN inline __attribute__((always_inline))
#define SIMD_LAMBDA __attribute__((always_inline))

namespace compound::host {
namespace {

template <int N>
struct lane_pattern {
  int from[N];

  constexpr int operator[](int lane) const { return from[lane]; }
  constexpr bool constant() const { return least() == most(); }
  constexpr bool contiguous() const {
    for (int i = 1; i < N; ++i)
      if (from[i] != from[0] + i) return false;
    return true;
  }
  constexpr int least() const {
    int l = from[0];
    for (const int f : from) l = f < l ? f : l;
    return l;
  }
  constexpr int most() const {
    int m = from[0];
    for (const int f : from) m = f > m ? f : m;
    return m;
  }

  /// Start of N consecutive elements of [0, n) that hold all lanes' (0 where there are fewer than N), if there is one.
  constexpr int window(int n) const { return least() + N <= n ? least() : n > N ? n - N : 0; }
  constexpr bool in_window(int n) const { return most() < window(n) + N; }
};

}  // namespace
}  // namespace compound::host
