// Builds the table of one instruction set; included once by avx2.cpp and avx512.cpp after their vectors.
#pragma once

#include "block_rows.hpp"
#include "scalar_rows.hpp"
#include "slice_rows.hpp"

namespace compound::host {
namespace {

template <class Entry, class T>
constexpr SimdKernel block_row() {
  using P = products<Entry>;
  constexpr bool complex = is_complex<typename Entry::scalar>;
  return {Entry::name,       complex,           sizeof(T) == 4,   false,
          Entry::block_rows, Entry::block_cols, SimdForm::blocks, multiply_block_rows<P, T>};
}

template <class Entry, class T>
constexpr SimdKernel slice_row() {
  using P = products<Entry>;
  return {Entry::name,       false,
          sizeof(T) == 4,    false,
          Entry::block_rows, Entry::block_cols,
          SimdForm::slices,  multiply_slice_rows<P, T>};
}

template <class T>
constexpr SimdKernel scalar_row() {
  return {"dense", false, sizeof(T) == 4, false, 1, 1, SimdForm::blocks, multiply_scalar_rows<T>};
}

template <class T>
constexpr SimdKernel any_dense_row() {
  return {"dense", false, sizeof(T) == 4, true, 32, 32, SimdForm::blocks, multiply_columns<T>};
}

using R = double;
using C = complex_number<double>;

/// Narrower shapes first: the first row that serves is taken.
#define COMPOUND_SIMD_ROWS(T)                                                                                      \
  scalar_row<T>(), block_row<dense<R, 2, 2>, T>(), block_row<dense<R, 3, 3>, T>(), block_row<dense<R, 4, 4>, T>(), \
      block_row<dense<R, 5, 5>, T>(), block_row<dense<R, 6, 6>, T>(), block_row<dense<R, 7, 7>, T>(),              \
      block_row<dense<R, 8, 8>, T>(), block_row<complex_entry<R>, T>(), block_row<quaternion<R>, T>(),             \
      block_row<dense<C, 1, 1>, T>(), block_row<dense<C, 2, 2>, T>(), block_row<dense<C, 3, 3>, T>(),              \
      block_row<dense<C, 4, 4>, T>(), any_dense_row<T>(), slice_row<dense<R, 1, 1>, T>(),                          \
      slice_row<dense<R, 2, 2>, T>(), slice_row<dense<R, 3, 3>, T>(), slice_row<dense<R, 4, 4>, T>(),              \
      slice_row<dense<R, 5, 5>, T>(), slice_row<dense<R, 6, 6>, T>(), slice_row<dense<R, 7, 7>, T>(),              \
      slice_row<dense<R, 8, 8>, T>(), slice_row<complex_entry<R>, T>(), slice_row<quaternion<R>, T>()

constexpr SimdKernel kernels[] = {COMPOUND_SIMD_ROWS(double), COMPOUND_SIMD_ROWS(float)};

constexpr SimdTable table{kernels, sizeof(kernels) / sizeof(kernels[0])};

}  // namespace
}  // namespace compound::host
