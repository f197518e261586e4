// Compressed rows of real scalars (1 x 1 blocks): four entries of one row at a time. x is loaded one by one: gathers
// are no faster where they are fast (Intel), and half as fast elsewhere (docs/performance.md).
//
// Rows of a few entries are bound by instructions, so everything here is in locals and what is the same for all rows is
// decided once.
#pragma once

#include "several_vectors.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// The sum of the row whose columns end at `end`; both pointers move there. Short rows are summed in two chains of
/// scalars: adding up the lanes of a vector would cost more.
template <class T>
SIMD_FN double scalar_row_sum(const T*& w, const idx*& column, const idx* end, const double* x) {
  using V = vec<4>;
  double even = 0, odd = 0;
  if (end - column >= 8) {
    V first, second;
    do {
      prefetch<8 * int(sizeof(T))>(w);
      first.add_product(V::load(w), V::picked(x, column));
      second.add_product(V::load(w + 4), V::picked(x, column + 4));
      w += 8;
      column += 8;
      opaque(column, w);
    } while (column + 8 <= end);
    if (column + 4 <= end) {
      first.add_product(V::load(w), V::picked(x, column));
      w += 4;
      column += 4;
    }
    first += second;
    even = first.sum();
  }
  for (; column + 1 < end; column += 2, w += 2) {
    even = __builtin_fma(w[0], x[column[0]], even);
    odd = __builtin_fma(w[1], x[column[1]], odd);
    opaque(column, w);
  }
  if (column < end) even = __builtin_fma(*w++, x[*column++], even);
  return even + odd;
}

/// `listed`: positions are rows of a list; `adds`: y = z + A x. Not inlined: the four of them would share registers.
template <class T, bool listed, bool adds>
__attribute__((noinline)) void multiply_scalar_rows_in(const SimdTask& t) {
  const T* w = static_cast<const T*>(t.values);
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx *const columns = layout.columns.column, *const row_of = layout.row_of;
  const idx* column = columns;
  const double *const x = t.x, *const z = t.z;
  double* const y = t.y;
  for (slot_t position = 0, positions = layout.positions; position < positions; ++position) {
    prefetch<1>(w);
    const double sum = scalar_row_sum(w, column, columns + start[position + 1], x);
    const slot_t row = listed ? row_of[position] : position;
    y[row] = adds ? z[row] + sum : sum;
  }
}

template <class T>
void multiply_scalar_rows(const SimdTask& t) {
  if (SimdRows(t.layout).row_of)
    t.z ? multiply_scalar_rows_in<T, true, true>(t) : multiply_scalar_rows_in<T, true, false>(t);
  else
    t.z ? multiply_scalar_rows_in<T, false, true>(t) : multiply_scalar_rows_in<T, false, false>(t);
}

/// The numbers of scalar_row_sum(), each of them for several vectors.
template <class T>
void multiply_scalar_rows_several(const SimdTask& t) {
  for_each_row_of_several<T, 1, 1>(t, [&](const row_of_several<T>& r) SIMD_LAMBDA {
    using V = vec<widest>;
    const slot_t entries = r.end - r.column;
    V even, odd, y[1];
    const auto add = [&](V& to, slot_t k)
                         SIMD_LAMBDA { to.add_product(V::all(r.values[k]), V::load(r.template x_of<1>(k))); };
    slot_t n = 0;
    if (entries >= 8) {
      V first[4], second[4];
      for (; n + 8 <= entries; n += 8) {
        r.template fetch_ahead<8 * int(sizeof(T))>(n);
        unroll<4>([&]<int k>() SIMD_LAMBDA { add(first[k], n + k); });
        unroll<4>([&]<int k>() SIMD_LAMBDA { add(second[k], n + 4 + k); });
      }
      if (n + 4 <= entries) {
        unroll<4>([&]<int k>() SIMD_LAMBDA { add(first[k], n + k); });
        n += 4;
      }
      unroll<4>([&]<int k>() SIMD_LAMBDA { first[k] += second[k]; });
      first[0] += first[2];
      first[1] += first[3];
      first[0] += first[1];
      even = first[0];
    }
    for (; n + 1 < entries; n += 2) {
      add(even, n);
      add(odd, n + 1);
    }
    if (n < entries) add(even, n);
    even += odd;
    r.template start<1>(y);
    y[0] += even;
    r.template store<1>(y);
  });
}

}  // namespace
}  // namespace compound::host
