// Compressed rows of blocks that are zero off the diagonal: the lanes are a block's rows.
#pragma once

#include "streams.hpp"
#include "sums.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// One block's products: N vectors of W lanes, the last with `last`. A word each row or one for all; real, or complex
/// as two reals.
template <int W, int N, bool one_word, int parts>
struct diagonal_sums {
  using V = vec<W>;
  V sum[parts][N];

  template <class T>
  SIMD_FN void add(const T* w, const double* x, int last) {
    V shared[parts];
    if constexpr (one_word)
      for (int p = 0; p < parts; ++p) shared[p] = V::all(w[p]);
    unroll<N>([&]<int v>() SIMD_LAMBDA {
      const V in = load(x + v * W, v, last);
      if constexpr (one_word) {
        for (int p = 0; p < parts; ++p) sum[p][v].add_product(shared[p], in);
      } else {
        const V word = load(w + v * W, v, last);
        sum[0][v].add_product(word, in);
        if constexpr (parts == 2) sum[1][v].add_product(word, V::swapped(in));
      }
    });
  }

  SIMD_FN void add(const diagonal_sums& b) {
    for (int p = 0; p < parts; ++p)
      for (int v = 0; v < N; ++v) sum[p][v] += b.sum[p][v];
  }

  SIMD_FN void store(const double* z, double* y, int last) {
    if constexpr (parts == 1)
      store_sums<N>(sum[0], z, y, last);
    else if constexpr (one_word)
      store_sums<N>(sum[0], sum[1], z, y, last);
    else
      store_pairs<N>(sum[0], sum[1], z, y, last);
  }

 private:
  template <class T>
  static SIMD_FN V load(const T* from, int v, int last) {
    return v + 1 < N ? V::load(from) : V::load_first(from, last);
  }
};

template <int W, int N, bool one_word, int parts, class T>
SIMD_FN void multiply_diagonals_in(const SimdTask& t) {
  const slot_t rows = parts * t.rows, words = one_word ? parts : rows;
  const int last = static_cast<int>(rows) - (N - 1) * W;
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx *const columns = layout.columns.column, *const row_of = layout.row_of;
  const double *const x = t.x, *const z = t.z;
  double* const y = t.y;
  const T* w = static_cast<const T*>(t.values);
  const idx* column = columns;
  const auto add = [&](diagonal_sums<W, N, one_word, parts>& sums) SIMD_LAMBDA {
    prefetch<one_word ? 1 : N * W* int(sizeof(T))>(w);
    sums.add(w, x + *column * rows, last);
    ++column;
    w += words;
  };
  for (slot_t position = 0, positions = layout.positions; position < positions; ++position) {
    const idx* const end = columns + start[position + 1];
    diagonal_sums<W, N, one_word, parts> even, odd;
    while (column + 1 < end) {
      add(even);
      add(odd);
      opaque(column, w);
    }
    if (column < end) add(odd);
    even.add(odd);
    const slot_t row = (row_of ? row_of[position] : position) * rows;
    even.store(z ? z + row : nullptr, y + row, last);
  }
}

inline constexpr int largest_diagonal = 8;

/// `parts`: real numbers in a scalar. Up to four go by vectors of four: wider loads would cross more cache lines.
template <bool one_word, int parts, class T>
void multiply_diagonals(const SimdTask& t) {
  const int rows = parts * t.rows;
  if (rows <= 4) return multiply_diagonals_in<4, 1, one_word, parts, T>(t);
  unroll<largest_diagonal * parts / widest>([&]<int v>() SIMD_LAMBDA {
    if ((rows + widest - 1) / widest == v + 1) multiply_diagonals_in<widest, v + 1, one_word, parts, T>(t);
  });
}

}  // namespace
}  // namespace compound::host
