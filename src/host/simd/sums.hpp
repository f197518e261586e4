// Sums of a block row whose lanes are its scalars, and how they become y.
#pragma once

#include "../../device/target.hpp"
#include "lane_pattern.hpp"

namespace compound::host {
namespace {

/// What y = [z +] `sum` writes for a block row of so many real scalars.
template <int N, int W>
SIMD_FN void store_sums(vec<W>* sum, const double* z, double* y, int last) {
  unroll<N>([&]<int v>() SIMD_LAMBDA {
    const int lanes = v + 1 < N ? W : last;
    if (z) sum[v] += vec<W>::load_first(z + v * W, lanes);
    sum[v].store_first(y + v * W, lanes);
  });
}

/// The same of complex numbers: words summed with real parts of x, and with imaginary ones.
template <int N, int W>
SIMD_FN void store_sums(vec<W>* with_re, vec<W>* with_im, const double* z, double* y, int last) {
  double im[N * W], turned[N * W];
  for (int v = 0; v < N; ++v) with_im[v].store(im + v * W);
  for (int i = 0; i < N * W; i += 2) {
    turned[i] = -im[i + 1];
    turned[i + 1] = im[i];
  }
  for (int v = 0; v < N; ++v) with_re[v] += vec<W>::load(turned + v * W);
  store_sums<N>(with_re, z, y, last);
}

/// The same of products of complex numbers scalar by scalar: (re re, im im) and (re im, im re).
template <int N, int W>
SIMD_FN void store_pairs(vec<W>* straight, vec<W>* crossed, const double* z, double* y, int last) {
  double a[N * W], b[N * W];
  for (int v = 0; v < N; ++v) {
    straight[v].store(a + v * W);
    crossed[v].store(b + v * W);
  }
  for (int i = 0; i < N * W; i += 2) {
    a[i] -= a[i + 1];
    a[i + 1] = b[i] + b[i + 1];
  }
  for (int v = 0; v < N; ++v) straight[v] = vec<W>::load(a + v * W);
  store_sums<N>(straight, z, y, last);
}

}  // namespace
}  // namespace compound::host
