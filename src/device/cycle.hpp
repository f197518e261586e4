// What a multigrid cycle does beside products: smoothing steps whose product came before, or that need none, and the
// inverse of the coarsest level.
#pragma once

#include "smoothing.hpp"

namespace compound {

/// y = along x + keep before + scale M (b - product), scalar by scalar. M: square blocks on the diagonal.
struct smoothing_pass_args {
  smoothing_args step;            ///< without `inverse`
  const void* factors = nullptr;  ///< [columns][scalars]: of each block of M column k
  int columns = 0;                ///< 0: M is the identity
  slot_t scalars = 0;
  const void* x = nullptr;  ///< null: 0
  const void* b = nullptr;
  const void* product = nullptr;  ///< A x; null: 0
  void* y = nullptr;              ///< may be any of the vectors; with larger blocks not b or the product
};

/// y = M b of a dense matrix.
struct dense_args {
  const void* matrix = nullptr;  ///< [rows][rows], row by row
  slot_t rows = 0;
  const void* b = nullptr;
  void* y = nullptr;
};

template <class S>
COMPOUND_FN S residual_of(const smoothing_pass_args& a, slot_t i) {
  S r = static_cast<const S*>(a.b)[i];
  if (a.product) r -= static_cast<const S*>(a.product)[i];
  return r;
}

template <class S>
COMPOUND_FN void smooth_scalar(const smoothing_pass_args& a, slot_t i) {
  S z{};
  if (a.columns == 0) z = residual_of<S>(a, i);
  const slot_t first = a.columns ? i / a.columns * a.columns : i;
  for (int k = 0; k < a.columns; ++k)
    z += static_cast<const S*>(a.factors)[k * a.scalars + i] * residual_of<S>(a, first + k);
  const smoothing<S> step(a.step);
  const S x = a.x ? static_cast<const S*>(a.x)[i] : S{};
  static_cast<S*>(a.y)[i] = step.next(x, S(1), step.before ? step.before[i] : S{}, z, S{});
}

#if defined(__CUDA_ARCH__)

/// A warp a row.
template <class S>
__device__ void multiply_dense(const dense_args& a, slot_t worker) {
  const slot_t row = worker / 32;
  const int lane = int(worker % 32);
  const S *const of_row = static_cast<const S*>(a.matrix) + row * a.rows, *const b = static_cast<const S*>(a.b);
  S sum{};
  for (slot_t j = lane; j < a.rows; j += 32) sum += of_row[j] * b[j];
  sum = sum_over_lanes<32>(sum);
  if (lane == 0) static_cast<S*>(a.y)[row] = sum;
}

#endif

}  // namespace compound
