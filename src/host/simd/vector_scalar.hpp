// vec<N>: N doubles with the few operations that the traversals need. vec<1> is here, the others once per instruction
// set.
#pragma once

#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// take<pattern, n>(p): p[pattern[lane]] for each lane, reading nothing outside p[0, n).
template <int N>
struct vec;

template <>
struct vec<1> {
  double v = 0;

  static SIMD_FN vec load(const double* p) { return {*p}; }
  static SIMD_FN vec load(const float* p) { return {*p}; }
  SIMD_FN void store(double* p) const { *p = v; }
  SIMD_FN void add_product(vec a, vec b) { v += a.v * b.v; }
  SIMD_FN void operator+=(vec a) { v += a.v; }

  template <auto pattern, int n, class T>
  static SIMD_FN vec take(const T* p) {
    return load(p + pattern[0]);
  }
};

}  // namespace
}  // namespace compound::host
