// Compressed rows of blocks that are zero off the diagonal: the lanes are a block's rows.
#pragma once

#include "prefetch.hpp"
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
  const T* const values = static_cast<const T*>(t.values);
  const int rows = parts * t.rows, last = rows - (N - 1) * W, words = one_word ? parts : rows;
  for (idx position = 0; position < t.layout.positions; ++position) {
    diagonal_sums<W, N, one_word, parts> even, odd;
    const auto add = [&](diagonal_sums<W, N, one_word, parts>& sums, slot_t k) SIMD_LAMBDA {
      const T* const w = values + k * words;
      prefetch<one_word ? 1 : N * W* int(sizeof(T))>(w);
      sums.add(w, t.x + slot_t(t.layout.column[k]) * rows, last);
    };
    slot_t k = t.layout.start[position];
    const slot_t end = t.layout.start[position + 1];
    for (; k + 1 < end; k += 2) {
      add(even, k);
      add(odd, k + 1);
    }
    if (k < end) add(odd, k);
    even.add(odd);
    const slot_t row = slot_t(t.layout.row(position)) * rows;
    even.store(t.z ? t.z + row : nullptr, t.y + row, last);
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
