// Compressed rows of dense blocks of any shape, by column.
#pragma once

#include "streams.hpp"
#include "sums.hpp"
#include "task.hpp"

namespace compound::host {
namespace {

/// Dense blocks by column: a block row of y in N vectors, the last with `last` lanes. Words
/// are numbers like x's: real ones, or two reals that meet both parts of x.
template <int N, int parts, class T>
SIMD_FN void multiply_columns_in(const SimdTask& t) {
  const T* const values = static_cast<const T*>(t.values);
  const int rows = parts * t.rows, cols = parts * t.cols, last = rows - (N - 1) * widest;
  const SimdRows layout(t.layout);
  const count32* const start = layout.start;
  const idx* const columns = layout.columns.column;
  const slot_t words = slot_t(rows) * t.cols;
  for (idx position = 0; position < layout.positions; ++position) {
    vec<widest> sum[parts][N];
    for (slot_t k = start[position], end = start[position + 1]; k < end; ++k) {
      const T* w = values + k * words;
      const double* const x = t.x + slot_t(columns[k]) * cols;
      for (int j = 0; j < cols; j += parts, w += rows) {
        vec<widest> part_of_x[parts];
        for (int p = 0; p < parts; ++p) part_of_x[p] = vec<widest>::all(x[j + p]);
        unroll<N>([&]<int v>() SIMD_LAMBDA {
          const T* const part = w + v * widest;
          __builtin_prefetch(reinterpret_cast<const char*>(part) + prefetch_bytes);
          const auto word = v + 1 < N ? vec<widest>::load(part) : vec<widest>::load_first(part, last);
          for (int p = 0; p < parts; ++p) sum[p][v].add_product(word, part_of_x[p]);
        });
      }
    }
    const slot_t row = slot_t(layout.row(position)) * rows;
    const double* const z = t.z ? t.z + row : nullptr;
    if constexpr (parts == 1)
      store_sums<N>(sum[0], z, t.y + row, last);
    else
      store_sums<N>(sum[0], sum[1], z, t.y + row, last);
  }
}

/// Real scalars of a block row of y whose sums still fit in registers, once for each part of x.
template <int parts>
inline constexpr int most_rows = 32 / parts;

/// `parts`: real numbers in a scalar.
template <int parts, class T>
void multiply_columns(const SimdTask& t) {
  unroll<most_rows<parts> * parts / widest>([&]<int v>() SIMD_LAMBDA {
    if ((parts * t.rows + widest - 1) / widest == v + 1) multiply_columns_in<v + 1, parts, T>(t);
  });
}

}  // namespace
}  // namespace compound::host
