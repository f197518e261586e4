// Words as in row_words.hpp, of blocks of any shape: x of a block row is gathered first, in pieces that stay in the
// first cache, and scalar rows are then dot products of whole vectors.
#pragma once

#include "row_words.hpp"

namespace compound::host {
namespace {

inline constexpr int most_gathered = 1024, most_scalars_of_block = 32;

/// Blocks of x, of L real numbers each, one after the other; a vector more than that is written.
SIMD_FN void gather_blocks(const double* x, const idx* column, slot_t blocks, int L, double* to) {
  using V = vec<4>;
  const int whole = L / 4 * 4, rest = L - whole;
  for (slot_t k = 0; k < blocks; ++k, to += L) {
    const double* const from = x + slot_t(column[k]) * L;
    for (int j = 0; j < whole; j += 4) V::load(from + j).store(to + j);
    if (rest != 0) V::load_first(from + whole, rest).store(to + whole);
  }
}

/// N scalar rows from `a` on, `stride` apart, times `lanes` real numbers of x: added to `out`.
template <int N, int parts>
SIMD_FN void add_dot_products(const double* a, slot_t stride, const double* x, slot_t lanes, double* out) {
  using Sums = row_word_sums<N, widest, parts>;
  using Lanes = row_lanes<widest>;
  Sums even, odd;
  slot_t at = 0;
  const auto fetch = [&] SIMD_LAMBDA {
    unroll<N>([&]<int i>() SIMD_LAMBDA { prefetch<2 * widest* int(sizeof(double))>(a + i * stride + at); });
  };
  for (; at + 2 * widest <= lanes; at += 2 * widest) {
    fetch();
    even.add(a + at, stride, Lanes::load(x + at));
    odd.add(a + at + widest, stride, Lanes::load(x + at + widest));
  }
  fetch();
  if (at + widest <= lanes) {
    even.add(a + at, stride, Lanes::load(x + at));
    at += widest;
  }
  if (at < lanes) odd.add_first(a + at, stride, x + at, static_cast<int>(lanes - at));
  even += odd;
  store_row_words(even, out, out);
}

template <int parts>
void multiply_any_row_words(const SimdTask& t) {
  constexpr int at_once = parts == 1 ? 4 : 2;
  const int L = parts * t.cols, outputs = parts * t.rows;
  const slot_t piece = most_gathered / L;
  double gathered[most_gathered + 4], out[2 * most_scalars_of_block];
  const SimdRows layout(t.layout);
  const double* w = static_cast<const double*>(t.values);
  for (idx position = 0; position < layout.positions; ++position) {
    const idx* const columns = layout.columns.column + layout.start[position];
    const slot_t blocks = layout.count(position), stride = blocks * L;
    for (int i = 0; i < outputs; ++i) out[i] = 0;
    for (slot_t from = 0; from < blocks; from += piece) {
      const slot_t here = blocks - from < piece ? blocks - from : piece, lanes = here * L;
      gather_blocks(t.x, columns + from, here, L, gathered);
      const double* const a = w + from * L;
      int i = 0;
      for (; i + at_once <= t.rows; i += at_once)
        add_dot_products<at_once, parts>(a + i * stride, stride, gathered, lanes, out + parts * i);
      for (; i < t.rows; ++i) add_dot_products<1, parts>(a + i * stride, stride, gathered, lanes, out + parts * i);
    }
    w += t.rows * stride;
    const slot_t row = slot_t(layout.row(position)) * outputs;
    for (int i = 0; i < outputs; ++i) t.y[row + i] = t.z ? t.z[row + i] + out[i] : out[i];
  }
}

/// `lanes` of y, which may be fewer than a vector has, and the same of each of `rows` scalar rows.
template <int parts, bool conjugate, bool whole>
SIMD_FN void scatter_vector(const double* a, slot_t stride, int rows, const double* x, double* y, int lanes) {
  using V = vec<widest>;
  V straight, crossed;
  for (int i = 0; i < rows; ++i, a += stride) {
    const V words = whole ? V::load(a) : V::load_first(a, lanes);
    straight.add_product(words, V::all(x[parts * i]));
    if constexpr (parts == 2) crossed.add_product(words, V::all(x[parts * i + 1]));
  }
  add_crossed<parts, conjugate>(straight, crossed);
  straight += whole ? V::load(y) : V::load_first(y, lanes);
  straight.store_first(y, lanes);
}

template <int parts, bool conjugate>
SIMD_FN void scatter_any_row_words_in(const SimdTask& t) {
  const int L = parts * t.cols;
  const SimdRows layout(t.layout);
  const double* w = static_cast<const double*>(t.values);
  for (idx position = 0; position < layout.positions; ++position) {
    const idx* const columns = layout.columns.column + layout.start[position];
    const slot_t blocks = layout.count(position), stride = blocks * L;
    const double* const x = t.x + slot_t(layout.row(position)) * (parts * t.rows);
    for (slot_t k = 0; k < blocks; ++k) {
      const double* const a = w + k * L;
      double* const y = t.y + slot_t(columns[k]) * L;
      int j = 0;
      for (; j + widest <= L; j += widest)
        scatter_vector<parts, conjugate, true>(a + j, stride, t.rows, x, y + j, widest);
      if (j < L) scatter_vector<parts, conjugate, false>(a + j, stride, t.rows, x, y + j, L - j);
    }
    w += t.rows * stride;
  }
}

template <int parts>
void scatter_any_row_words(const SimdTask& t) {
  if constexpr (parts == 2)
    if (t.conjugate) return scatter_any_row_words_in<parts, true>(t);
  scatter_any_row_words_in<parts, false>(t);
}

}  // namespace
}  // namespace compound::host
