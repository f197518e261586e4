// Scalars that lie side by side, read and written in accesses of several: 8 or 16 bytes, the most that a device has.
#pragma once

#include "scalar.hpp"

namespace compound {

/// Bytes of the widest access that fits items of `bytes` each, one after the other from a multiple of 16 on.
COMPOUND_FN constexpr int widest_access(slot_t bytes) { return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4; }

#if defined(__CUDA_ARCH__)
/// CUDA's vector of n real numbers.
template <class Real, int n>
struct device_vector;
template <>
struct device_vector<float, 2> {
  using type = float2;
};
template <>
struct device_vector<float, 4> {
  using type = float4;
};
template <>
struct device_vector<double, 2> {
  using type = double2;
};
#endif

/// to[0 .. n) = from[0 .. n) in accesses of `access` bytes: all of the n are in whole ones, and `from` is a multiple.
template <int access, Cache cache = Cache::keep, class S>
COMPOUND_FN void read_wide(const S* from, int n, S* to) {
#if defined(__CUDA_ARCH__)
  using R = real_of<S>;
  constexpr int together = access / int(sizeof(R));
  using vector = typename device_vector<R, together>::type;
  const int reals = n * int(sizeof(S) / sizeof(R));
  for (int i = 0; i < reals; i += together) {
    const vector v = read<cache>(reinterpret_cast<const vector*>(reinterpret_cast<const R*>(from) + i));
    for (int k = 0; k < together; ++k) reinterpret_cast<R*>(to)[i + k] = reinterpret_cast<const R*>(&v)[k];
  }
#else
  for (int i = 0; i < n; ++i) to[i] = from[i];
#endif
}

/// The same the other way: `to` is a multiple.
template <int access, class S>
COMPOUND_FN void write_wide(S* to, int n, const S* from) {
#if defined(__CUDA_ARCH__)
  using R = real_of<S>;
  constexpr int together = access / int(sizeof(R));
  using vector = typename device_vector<R, together>::type;
  const int reals = n * int(sizeof(S) / sizeof(R));
  for (int i = 0; i < reals; i += together) {
    vector v;
    for (int k = 0; k < together; ++k) reinterpret_cast<R*>(&v)[k] = reinterpret_cast<const R*>(from)[i + k];
    *reinterpret_cast<vector*>(reinterpret_cast<R*>(to) + i) = v;
  }
#else
  for (int i = 0; i < n; ++i) to[i] = from[i];
#endif
}

}  // namespace compound
