// Builds the table of one instruction set; included once by avx2.cpp and avx512.cpp after their vectors.
#pragma once

#include "block_rows.hpp"
#include "column_rows.hpp"
#include "diagonal_rows.hpp"
#include "scalar_rows.hpp"
#include "slice_rows.hpp"

namespace compound::host {
namespace {

template <class Entry, class T>
constexpr SimdKernel row(HostForm form, void (*run)(const SimdTask&)) {
  return {Entry::name,
          is_complex<typename Entry::scalar>,
          sizeof(T) == 4,
          false,
          Entry::block_rows,
          Entry::block_cols,
          form,
          run};
}

/// Of every shape up to so many rows and columns.
constexpr SimdKernel any_shape(SimdKernel k, int rows, int cols) {
  k.any_shape = true;
  k.rows = rows;
  k.cols = cols;
  return k;
}

template <class Entry, class T>
constexpr SimdKernel block_row() {
  return row<Entry, T>(HostForm::rows, multiply_block_rows<products<Entry>, T>);
}

template <class Entry, class T>
constexpr SimdKernel slice_row() {
  return row<Entry, T>(HostForm::slices, multiply_slice_rows<products<Entry>, T>);
}

template <class S, class T>
constexpr SimdKernel unit_slice_row() {
  return row<unit_quaternion<S>, T>(HostForm::slices, multiply_slice_rows<products<quaternion<S>>, T, true>);
}

template <class T>
constexpr SimdKernel scalar_row() {
  return row<dense<double, 1, 1>, T>(HostForm::rows, multiply_scalar_rows<T>);
}

template <class S>
inline constexpr int parts_of = is_complex<S> ? 2 : 1;

template <class S, class T>
constexpr SimdKernel any_dense_row() {
  constexpr int parts = parts_of<S>;
  return any_shape(row<dense<S, dynamic, dynamic>, T>(HostForm::rows, multiply_columns<parts, T>), most_rows<parts>,
                   32);
}

template <class S, class T>
constexpr SimdKernel any_diagonal_row() {
  return any_shape(row<diagonal_entry<S, dynamic>, T>(HostForm::rows, multiply_diagonals<false, parts_of<S>, T>),
                   largest_diagonal, largest_diagonal);
}

template <class S, class T>
constexpr SimdKernel any_identity_row() {
  return any_shape(row<scaled_identity<S, dynamic>, T>(HostForm::rows, multiply_diagonals<true, parts_of<S>, T>),
                   largest_diagonal, largest_diagonal);
}

using R = double;
using C = complex_number<double>;

/// Narrower shapes first: the first row that serves is taken. Slices want words of one real: of complex matrices they
/// serve the kinds that have such.
template <class T>
constexpr SimdKernel kernels_of[] = {
    scalar_row<T>(),
    block_row<dense<R, 2, 2>, T>(),
    block_row<dense<R, 3, 3>, T>(),
    block_row<dense<R, 4, 4>, T>(),
    block_row<dense<R, 5, 5>, T>(),
    block_row<dense<R, 6, 6>, T>(),
    block_row<dense<R, 7, 7>, T>(),
    block_row<dense<R, 8, 8>, T>(),
    any_dense_row<R, T>(),
    block_row<dense<C, 1, 1>, T>(),
    block_row<dense<C, 2, 2>, T>(),
    block_row<dense<C, 3, 3>, T>(),
    block_row<dense<C, 4, 4>, T>(),
    any_dense_row<C, T>(),
    block_row<complex_entry<R>, T>(),
    block_row<quaternion<R>, T>(),
    block_row<quaternion<C>, T>(),
    block_row<dual_quaternion<R>, T>(),
    block_row<dual_quaternion<C>, T>(),
    any_diagonal_row<R, T>(),
    any_diagonal_row<C, T>(),
    any_identity_row<R, T>(),
    any_identity_row<C, T>(),
    slice_row<dense<R, 1, 1>, T>(),
    slice_row<dense<R, 2, 2>, T>(),
    slice_row<dense<R, 3, 3>, T>(),
    slice_row<dense<R, 4, 4>, T>(),
    slice_row<dense<R, 5, 5>, T>(),
    slice_row<dense<R, 6, 6>, T>(),
    slice_row<dense<R, 7, 7>, T>(),
    slice_row<dense<R, 8, 8>, T>(),
    slice_row<complex_entry<R>, T>(),
    slice_row<quaternion<R>, T>(),
    slice_row<quaternion<C>, T>(),
    slice_row<dual_quaternion<R>, T>(),
    slice_row<dual_quaternion<C>, T>(),
    unit_slice_row<R, T>(),
    unit_slice_row<C, T>(),
    slice_row<diagonal_entry<R, 2>, T>(),
    slice_row<diagonal_entry<R, 3>, T>(),
    slice_row<diagonal_entry<R, 4>, T>(),
    slice_row<scaled_identity<R, 2>, T>(),
    slice_row<scaled_identity<R, 3>, T>(),
    slice_row<scaled_identity<R, 4>, T>(),
};

/// Those for words of double, then those for float.
struct Kernels {
  static constexpr int each = sizeof(kernels_of<double>) / sizeof(SimdKernel);
  SimdKernel row[2 * each];
};
constexpr Kernels kernels = [] {
  Kernels all{};
  for (int i = 0; i < Kernels::each; ++i) {
    all.row[i] = kernels_of<double>[i];
    all.row[Kernels::each + i] = kernels_of<float>[i];
  }
  return all;
}();

constexpr SimdTable table{kernels.row, 2 * Kernels::each};

}  // namespace
}  // namespace compound::host
