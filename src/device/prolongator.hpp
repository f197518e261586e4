// The prolongator of smoothed aggregation (Vanek, Mandel and Brezina 1996): orthonormal bases of the near null space on
// aggregates, and one step of Jacobi on them.
#pragma once

#include "sparse_product.hpp"

namespace compound {

/// Columns of Q and R of one QR an aggregate, by a block of threads.
struct basis_args {
  idx aggregates = 0;
  const count32* start = nullptr;  ///< [aggregates + 1]
  const idx* node = nullptr;       ///< [start[aggregates]] of each, ascending
  int size = 1;                    ///< components of a node
  int modes = 1;
  slot_t rows = 0;                     ///< of `mode`: all nodes' components
  const double* mode = nullptr;        ///< [modes][rows]
  double* work = nullptr;              ///< [start[aggregates] * size + aggregates * modes][modes]
  const count32* row_start = nullptr;  ///< [nodes] entries before each node's in the prolongator: one where it has one
  void* basis = nullptr;               ///< its values: Q
  double* coarse = nullptr;            ///< [modes][aggregates * modes]: R
};
inline constexpr int threads_of_basis = 128;

/// values <- factor * scale * values + before, on the rows of a product's pattern that has all of `before`'s entries.
/// A warp each block row.
struct smooth_args {
  idx rows = 0;
  int height = 1, width = 1;  ///< of a block
  const count32* start = nullptr;
  const idx* column = nullptr;
  void* values = nullptr;
  const void* scale = nullptr;  ///< [rows * height]
  double factor = 0;
  const count32* before_start = nullptr;
  const idx* before_column = nullptr;
  const void* before = nullptr;
};

#if defined(__CUDA_ARCH__)

__device__ inline double sum_of_warp(double v) {
  for (int apart = 16; apart > 0; apart /= 2) v += __shfl_xor_sync(~0u, v, apart);
  return v;
}

/// One aggregate's matrix, by columns; the first `rows` of each are there, as many as columns at least.
struct tall_matrix {
  double* values;
  int rows, stride;
  __device__ double& operator()(int i, int j) const { return values[slot_t(j) * stride + i]; }
};

/// Applies I - tau v v^T to columns from `first` on, a warp each. v: 1, then column `of` below its diagonal.
__device__ inline void reflect(const tall_matrix& m, int of, double tau, int first, int columns) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  for (int j = first + warp; j < columns; j += threads_of_basis / 32) {
    double sum = lane == 0 ? m(of, j) : 0;
    for (int i = of + 1 + lane; i < m.rows; i += 32) sum += m(i, of) * m(i, j);
    sum = tau * sum_of_warp(sum);
    if (lane == 0) m(of, j) -= sum;
    for (int i = of + 1 + lane; i < m.rows; i += 32) m(i, j) -= sum * m(i, of);
  }
}

/// Householder's QR in place, as LAPACK's geqrf and orgqr have it: R has signs, zero columns give unit vectors. One
/// warp finds each reflection, whose tau is kept in shared memory.
template <class S>
__device__ void orthonormalize(const basis_args& a, slot_t aggregate) {
  constexpr int most_modes = 32;
  __shared__ double taus[most_modes], diagonal[most_modes];
  const int modes = a.modes, warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const count32 first = a.start[aggregate];
  const int nodes = int(a.start[aggregate + 1] - first), own = nodes * a.size, rows = own > modes ? own : modes;
  const tall_matrix m{a.work + (slot_t(first) * a.size + aggregate * modes) * modes, rows, own + modes};
  for (int j = 0; j < modes; ++j)
    for (int i = int(threadIdx.x); i < rows; i += threads_of_basis)
      m(i, j) = i < own ? a.mode[j * a.rows + slot_t(a.node[first + i / a.size]) * a.size + i % a.size] : 0;
  __syncthreads();
  for (int j = 0; j < modes; ++j) {
    if (warp == 0) {
      double sum = 0;
      for (int i = j + 1 + lane; i < rows; i += 32) sum += m(i, j) * m(i, j);
      sum = sum_of_warp(sum);
      const double alpha = m(j, j);
      const bool is_done = sum == 0;
      const double norm = sqrt(alpha * alpha + sum), beta = is_done ? alpha : alpha > 0 ? -norm : norm;
      for (int i = j + 1 + lane; i < rows; i += 32)
        if (!is_done) m(i, j) /= alpha - beta;
      if (lane == 0) {
        taus[j] = is_done ? 0 : (beta - alpha) / beta;
        diagonal[j] = beta;
      }
    }
    __syncthreads();
    reflect(m, j, taus[j], j + 1, modes);
    __syncthreads();
  }
  const slot_t coarse_rows = slot_t(a.aggregates) * modes;
  for (int k = int(threadIdx.x); k < modes * modes; k += threads_of_basis) {
    const int i = k % modes, j = k / modes;
    a.coarse[j * coarse_rows + aggregate * modes + i] = i > j ? 0 : i == j ? diagonal[j] : m(i, j);
  }
  __syncthreads();
  for (int j = modes - 1; j >= 0; --j) {
    reflect(m, j, taus[j], j + 1, modes);
    __syncthreads();
    for (int i = int(threadIdx.x); i < rows; i += threads_of_basis)
      m(i, j) = i < j ? 0 : i == j ? 1 - taus[j] : -taus[j] * m(i, j);
    __syncthreads();
  }
  for (int k = int(threadIdx.x); k < own * modes; k += threads_of_basis) {
    const int i = k / modes, j = k % modes;
    const slot_t row = slot_t(a.row_start[a.node[first + i / a.size]]) * a.size + i % a.size;
    static_cast<S*>(a.basis)[row * modes + j] = S(m(i, j));
  }
}

template <class S>
__device__ void smooth_rows(const smooth_args& a, slot_t worker) {
  const idx row = idx(worker / 32);
  const int lane = int(worker % 32);
  const slot_t first = a.start[row], count = slot_t(a.start[row + 1]) - first, stride = count * a.width;
  S* const to = static_cast<S*>(a.values) + first * a.height * a.width;
  for (slot_t s = lane; s < stride * a.height; s += 32)
    to[s] = S(a.factor) * (static_cast<const S*>(a.scale)[slot_t(row) * a.height + s / stride] * to[s]);
  __syncwarp();
  const slot_t old_first = a.before_start[row], old_count = slot_t(a.before_start[row + 1]) - old_first;
  const S* const from = static_cast<const S*>(a.before) + old_first * a.height * a.width;
  const slot_t old_stride = old_count * a.width;
  for (slot_t s = lane; s < old_stride * a.height; s += 32) {
    const slot_t i = s / old_stride, within = s % old_stride;
    const int at = place_of_column(a.column + first, int(count), a.before_column[old_first + within / a.width]);
    to[i * stride + slot_t(at) * a.width + within % a.width] += from[s];
  }
}

#endif

}  // namespace compound
