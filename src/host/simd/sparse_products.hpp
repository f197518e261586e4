// Products of dense blocks, row by row in vectors of the second block's columns.
#pragma once

#include "sparse_traversal.hpp"
#include "vector_scalar.hpp"

namespace compound::host {
namespace {

/// Lanes of a vector in memory of which the first n are the block's, and all where it is padded.
template <bool padded, int lanes>
SIMD_FN vec<lanes> load_lanes_of_block(const double* p, int n) {
  return padded || n >= lanes ? vec<lanes>::load(p) : vec<lanes>::load_first(p, n);
}
template <bool padded, int lanes>
SIMD_FN void store_lanes_of_block(vec<lanes> v, double* p, int n) {
  padded || n >= lanes ? v.store(p) : v.store_parts(p, n);
}

/// Of any block, or of `inner` x `width`, whose rows stay in registers.
template <int known_inner, int known_width>
struct vector_tiles {
  using scalar = double;
  static constexpr int lanes = known_width > 0 && known_width <= 4 ? 4 : widest;
  using V = vec<lanes>;
  static constexpr int vectors = (known_width + lanes - 1) / lanes;
  static constexpr bool is_kept = known_inner > 0 && known_inner* vectors <= accumulators;

  /// C (rows x width) += A (rows x inner) B (inner x width); the steps of A are between its rows and its columns.
  template <bool padded_b, bool padded_c>
  static SIMD_FN void add(int rows, int inner, int width, const double* a, slot_t row_step, slot_t inner_step,
                          const double* b, slot_t b_step, double* c, slot_t c_step) {
    if constexpr (is_kept)
      add_kept<padded_b, padded_c>(rows, a, row_step, inner_step, b, b_step, c, c_step);
    else
      add_any<padded_b, padded_c>(rows, known_inner > 0 ? known_inner : inner, known_width > 0 ? known_width : width, a,
                                  row_step, inner_step, b, b_step, c, c_step);
  }

 private:
  template <bool padded_b, bool padded_c>
  static SIMD_FN void add_kept(int rows, const double* a, slot_t row_step, slot_t inner_step, const double* b,
                               slot_t b_step, double* c, slot_t c_step) {
    V of_b[known_inner][vectors];
    unroll<known_inner>([&]<int k>() SIMD_LAMBDA {
      unroll<vectors>([&]<int v>() SIMD_LAMBDA {
        of_b[k][v] = load_lanes_of_block<padded_b, lanes>(b + k * b_step + v * lanes, known_width - v * lanes);
      });
    });
    for (int i = 0; i < rows; ++i, a += row_step, c += c_step)
      unroll<vectors>([&]<int v>() SIMD_LAMBDA {
        V sum = load_lanes_of_block<padded_c, lanes>(c + v * lanes, known_width - v * lanes);
        unroll<known_inner>([&]<int k>() SIMD_LAMBDA { sum.add_product(V::all(a[k * inner_step]), of_b[k][v]); });
        store_lanes_of_block<padded_c>(sum, c + v * lanes, known_width - v * lanes);
      });
  }

  template <bool padded_b, bool padded_c>
  static SIMD_FN void add_any(int rows, int inner, int width, const double* a, slot_t row_step, slot_t inner_step,
                              const double* b, slot_t b_step, double* c, slot_t c_step) {
    for (int i = 0; i < rows; ++i, a += row_step, c += c_step)
      for (int j = 0; j < width; j += lanes) {
        V sum = load_lanes_of_block<padded_c, lanes>(c + j, width - j);
        for (int k = 0; k < inner; ++k)
          sum.add_product(V::all(a[k * inner_step]),
                          load_lanes_of_block<padded_b, lanes>(b + k * b_step + j, width - j));
        store_lanes_of_block<padded_c>(sum, c + j, width - j);
      }
  }
};

inline constexpr int most_known = 6;

struct SparseKernels {
  SparseKernel row[most_known * most_known + 1] = {};
  constexpr SparseKernels() {
    unroll<most_known * most_known>([&]<int n>() {
      constexpr int inner = n / most_known + 1, width = n % most_known + 1;
      row[n] = {inner, width, run_sparse<vector_tiles<inner, width>>};
    });
    row[most_known * most_known] = {0, 0, run_sparse<vector_tiles<0, 0>>};
  }
};

constexpr SparseKernels sparse_kernels;

}  // namespace
}  // namespace compound::host
