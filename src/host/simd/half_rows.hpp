// Compressed rows of the stored half of a symmetric or Hermitian matrix (`half=`): an entry is multiplied from both
// sides while it is in registers, so that a product reads half as many bytes. Loops as they are written: products wait
// for memory, and what compilers make of them keeps up with it.
#pragma once

#include "streams.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Farther than of other rows: stores to y keep the processor from running ahead of itself.
inline constexpr int half_prefetch_bytes = 4096;

/// Blocks of `size` x `size` scalars of so many real `parts`.
template <int size, int parts>
struct half_block {
  static constexpr int numbers = size * parts, words = size * size * parts;

  /// sum += block other; `mirrored` += (Hermitian) transpose of block own. `sign`: of the transpose's imaginary parts.
  template <class T>
  SIMD_FN static void multiply(const T* w, const double* other, const double* own, double sign, double* sum,
                               double* mirrored) {
#pragma GCC unroll 8
    for (int j = 0; j < size; ++j) {
      if constexpr (parts == 1) {
        double dot = 0;
#pragma GCC unroll 8
        for (int i = 0; i < size; ++i) {
          const double a = w[j * size + i];
          sum[i] += a * other[j];
          dot += a * own[i];
        }
        mirrored[j] += dot;
      } else {
        double re = 0, im = 0;
#pragma GCC unroll 8
        for (int i = 0; i < size; ++i) {
          const double a = w[2 * (j * size + i)], b = w[2 * (j * size + i) + 1], signed_b = sign * b;
          sum[2 * i] += a * other[2 * j] - b * other[2 * j + 1];
          sum[2 * i + 1] += a * other[2 * j + 1] + b * other[2 * j];
          re += a * own[2 * i] - signed_b * own[2 * i + 1];
          im += a * own[2 * i + 1] + signed_b * own[2 * i];
        }
        mirrored[2 * j] += re;
        mirrored[2 * j + 1] += im;
      }
    }
  }
};

/// A diagonal block whose scalars below its diagonal are those above: PETSc's SBAIJ leaves them undefined.
template <int size, int parts, class T>
void mirror_block(const T* w, T sign, T* to) {
  for (int j = 0; j < size; ++j)
    for (int i = 0; i <= j; ++i) {
      const int above = (j * size + i) * parts, below = (i * size + j) * parts;
      to[below] = to[above] = w[above];
      if constexpr (parts == 2) {
        to[below + 1] = sign * w[above + 1];
        to[above + 1] = w[above + 1];
      }
    }
}

/// Where rows are in no order, x and y of an entry would both come from memory.
template <int numbers>
SIMD_FN void fetch_mirrored(const double* x, double* y, idx column) {
  constexpr int in_line = 8, unaligned = 7;  // a block that begins within a cache line ends in one more
  unroll<(numbers + unaligned + in_line - 1) / in_line>([&]<int line>() SIMD_LAMBDA {
    constexpr int at = line * in_line < numbers ? line * in_line : numbers - 1;
    __builtin_prefetch(x + slot_t(column) * numbers + at);
    __builtin_prefetch(y + slot_t(column) * numbers + at, 1);
  });
}

template <int size, int parts, class T, bool fetch_x>
SIMD_FN void multiply_half_rows_in(const SimdTask& t) {
  using Block = half_block<size, parts>;
  constexpr int numbers = Block::numbers, words = Block::words;
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx *column = layout.columns.column, *const columns = column, *const row_of = layout.row_of;
  const double* const x = t.x;
  const double sign = t.conjugate ? -1 : 1;
  double* __restrict const y = t.y;
  const T* w = static_cast<const T*>(t.values);
  const slot_t positions = layout.positions;
  const idx* const last = columns + (positions > 0 && start[positions] > 0 ? start[positions] - 1 : 0);
  for (slot_t position = 0; position < positions; ++position) {
    const idx row = row_of ? row_of[position] : static_cast<idx>(position);
    const idx* const end = columns + start[position + 1];
    double own[numbers], sum[numbers], unused[numbers];
    for (int i = 0; i < numbers; ++i) {
      own[i] = x[slot_t(row) * numbers + i];
      sum[i] = unused[i] = 0;
    }
    if (column < end && *column == row) {
      T diagonal[words];
      mirror_block<size, parts>(w, T(sign), diagonal);
      Block::multiply(diagonal, own, own, sign, sum, unused);
      ++column, w += words;
    }
    for (; column < end; ++column, w += words) {
      prefetch<words* int(sizeof(T))>(w, half_prefetch_bytes);
      if constexpr (fetch_x) {
        const idx* const later = column + x_prefetch_entries;
        fetch_mirrored<numbers>(x, y, *(later < last ? later : last));
      }
      const slot_t at = slot_t(*column) * numbers;
      Block::multiply(w, x + at, own, sign, sum, y + at);
    }
    for (int i = 0; i < numbers; ++i) y[slot_t(row) * numbers + i] += sum[i];
  }
}

template <int size, int parts, class T>
void multiply_half_rows(const SimdTask& t) {
  t.fetch_x ? multiply_half_rows_in<size, parts, T, true>(t) : multiply_half_rows_in<size, parts, T, false>(t);
}

}  // namespace
}  // namespace compound::host
