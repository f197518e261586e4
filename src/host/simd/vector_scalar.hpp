// vec<N>: N doubles with the few operations that the traversals need. vec<1> is here, the others once per instruction
// set.
#pragma once

#include "lane_pattern.hpp"

namespace compound::host {
namespace {

template <int N>
struct vec;

template <>
struct vec<1> {
  double v = 0;

  static SIMD_FN vec load(const double* p) { return {*p}; }
  static SIMD_FN vec load(const float* p) { return {*p}; }
  SIMD_FN void store(double* p) const { *p = v; }
  /// With the bits of a wide vector's lane, whatever the compiler's options.
  SIMD_FN void add_product(vec a, vec b) { v = __builtin_fma(a.v, b.v, v); }
  SIMD_FN void operator+=(vec a) { v += a.v; }
};

/// p[pattern[lane]] for each lane, reading nothing outside p[0, n).
template <int N, auto pattern, int n, class T>
SIMD_FN vec<N> take(const T* p) {
  using V = vec<N>;
  if constexpr (pattern.contiguous()) {
    return V::load(p + pattern[0]);
  } else if constexpr (pattern.constant()) {
    return V::all(p[pattern[0]]);
  } else if constexpr (N == 4 && n == 2 && sizeof(T) == sizeof(double)) {
    return V::template of_pair<pattern>(p);
  } else if constexpr (N == 8 && n == 4) {
    return V::template permuted<pattern, 0>(V::load_four(p));
  } else {
    constexpr int first = pattern.window(n);
    static_assert(pattern.in_window(n));
    return V::template permuted<pattern, first>(n >= N ? V::load(p + first) : V::load_first(p, n));
  }
}

}  // namespace
}  // namespace compound::host
