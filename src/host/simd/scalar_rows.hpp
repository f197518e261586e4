// Compressed rows of real scalars (1 x 1 blocks): `widest` entries of one row at a time, x gathered.
#pragma once

#include "prefetch.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Rows below this are summed one entry at a time: a gather is not worth its set-up.
inline constexpr idx short_row = 2 * widest;

template <class T>
SIMD_FN double short_row_sum(const T* w, const idx* column, idx count, const double* x) {
  double even = 0, odd = 0;
  idx k = 0;
  for (; k + 1 < count; k += 2) {
    even += w[k] * x[column[k]];
    odd += w[k + 1] * x[column[k + 1]];
  }
  if (k < count) even += w[k] * x[column[k]];
  return even + odd;
}

template <class T>
SIMD_FN double long_row_sum(const T* w, const idx* column, idx count, const double* x) {
  using V = vec<widest>;
  constexpr unsigned all_lanes = (1u << widest) - 1;
  V even, odd;
  idx k = 0;
  for (; k + 2 * widest <= count; k += 2 * widest) {
    prefetch<2 * widest* int(sizeof(T))>(w + k);
    even.add_product(V::load(w + k), V::gather(x, V::offsets(column + k, 1), all_lanes));
    odd.add_product(V::load(w + k + widest), V::gather(x, V::offsets(column + k + widest, 1), all_lanes));
  }
  for (; k < count; k += widest) {
    const int left = count - k < widest ? count - k : widest;
    prefetch<widest* int(sizeof(T))>(w + k);
    even.add_product(V::load_first(w + k, left), V::gather(x, V::offsets_of_first(column + k, left), (1u << left) - 1));
  }
  even += odd;
  return even.sum();
}

template <class T>
void multiply_scalar_rows(const SimdTask& t) {
  const T* const values = static_cast<const T*>(t.values);
  for (idx position = 0; position < t.layout.positions; ++position) {
    const slot_t first = t.layout.start[position];
    const idx count = t.layout.count(position), row = t.layout.row(position);
    const T* const w = values + first;
    const idx* const column = t.layout.column + first;
    prefetch<1>(w);
    const double sum = count < short_row ? short_row_sum(w, column, count, t.x) : long_row_sum(w, column, count, t.x);
    t.y[row] = t.z ? t.z[row] + sum : sum;
  }
}

}  // namespace
}  // namespace compound::host
