// Builds the tables of one instruction set; included after its vectors, once for each precision of stored words, which
// are compiled side by side.
#pragma once

#include "any_row_words.hpp"
#include "block_rows.hpp"
#include "column_rows.hpp"
#include "diagonal_products.hpp"
#include "diagonal_rows.hpp"
#include "half_rows.hpp"
#include "row_words.hpp"
#include "scalar_rows.hpp"
#include "slice_diagonals.hpp"
#include "slice_rows.hpp"

namespace compound::host {
namespace {

template <class Entry, class T>
constexpr SimdKernel kernel(HostTraversal form, void (*run)(const SimdTask&)) {
  return {Entry::name,
          is_complex<typename Entry::scalar>,
          sizeof(T) == 4,
          false,
          false,
          Entry::block_rows,
          Entry::block_cols,
          form,
          run};
}

/// Of every shape up to so many rows and columns.
constexpr SimdKernel up_to(SimdKernel k, int rows, int cols) {
  k.any_shape = true;
  k.rows = rows;
  k.cols = cols;
  return k;
}

constexpr SimdKernel with_several(SimdKernel k, void (*several)(const SimdTask&)) {
  k.several = several;
  k.together = widest;
  return k;
}

constexpr SimdKernel with_scatter(SimdKernel k, void (*scatter)(const SimdTask&)) {
  k.scatter = scatter;
  return k;
}

constexpr SimdKernel with_half(SimdKernel k, void (*half)(const SimdTask&)) {
  k.half = half;
  return k;
}

/// Of words that are codes into a table.
constexpr SimdKernel coded(SimdKernel k) {
  k.coded = true;
  return k;
}

template <class S>
inline constexpr int parts_of = is_complex<S> ? 2 : 1;

/// Slices want words of one real: of complex matrices they serve the kinds that have such.
template <class Entry>
inline constexpr bool slices_serve = !is_complex<typename Entry::word>;

/// Real dense blocks of any size have diagonals of their own; complex ones up to 4x4.
template <class Entry>
inline constexpr bool diagonals_serve = is_complex<typename Entry::scalar> || Entry::known_sizes == 0;

/// Rows as they are added. Narrower shapes of a kind first: the first row that serves is taken.
struct Kernels {
  SimdKernel row[256] = {};
  int count = 0;

  constexpr void add(const SimdKernel& k) { row[count++] = k; }
  template <class Entry, class T>
  constexpr SimdKernel blocks() {
    using P = products<Entry>;
    return with_several(kernel<Entry, T>(HostTraversal::rows, multiply_block_rows<P, T>),
                        multiply_block_rows_several<P, T>);
  }
  /// Of every shape up to so many rows and columns.
  template <class Entry, class T, bool scalars>
  constexpr void add_diagonals(int most) {
    constexpr auto form = HostTraversal::diagonals;
    add(up_to(kernel<Entry, T>(form, multiply_slice_diagonals<own_words<T>, scalars>), most, most));
    add(up_to(coded(kernel<Entry, T>(form, multiply_slice_diagonals<words_of_table<T>, scalars>)), most, most));
  }
  /// Of all shapes, the usual ones with theirs known.
  template <class Entry, int parts>
  constexpr void add_row_words() {
    constexpr auto form = HostTraversal::row_words;
    constexpr int most = parts == 1 ? 6 : 4;
    unroll<most * most>([&]<int n>() {
      constexpr int rows = n / most + 1, cols = n % most + 1;
      SimdKernel k = kernel<Entry, double>(form, multiply_row_words<rows, cols, parts>);
      if constexpr (rows == cols) k = with_several(k, multiply_row_words_several<rows, cols, parts>);
      k.rows = rows;
      k.cols = cols;
      add(with_scatter(k, scatter_row_words<rows, cols, parts>));
    });
    add(with_scatter(
        up_to(kernel<Entry, double>(form, multiply_any_row_words<parts>), most_scalars_of_block, most_scalars_of_block),
        scatter_any_row_words<parts>));
  }
  /// In slices by length and by diagonals.
  template <class Entry, class T>
  constexpr void add_slices() {
    if constexpr (slices_serve<Entry>)
      add(kernel<Entry, T>(HostTraversal::slices, multiply_slice_rows<products<Entry>, T>));
    if constexpr (diagonals_serve<Entry>)
      add(kernel<Entry, T>(HostTraversal::diagonals,
                           multiply_diagonal_products<products<Entry>, T, false, parts_of<typename Entry::word>>));
  }
};

/// Of the kinds of one form.
template <HostForm>
struct RowsOf {
  template <class Kind, class S, class T>
  static constexpr void add(Kernels&) {}
};

template <>
struct RowsOf<HostForm::columns> {
  template <class Kind, class S, class T>
  static constexpr void add(Kernels& to) {
    constexpr int parts = parts_of<S>, known = Kind::template entry<S>::known_sizes;
    unroll<known / parts>([&]<int n>() {
      using Entry = typename Kind::template entry<S, n + 1>;
      constexpr auto half = multiply_half_rows<n + 1, parts, T>;
      if constexpr (parts * (n + 1) == 1) {
        to.add(with_half(with_several(kernel<Entry, T>(HostTraversal::rows, multiply_scalar_rows<T>),
                                      multiply_scalar_rows_several<T>),
                         half));
        to.add_diagonals<Entry, T, true>(1);
      } else
        to.add(with_half(to.blocks<Entry, T>(), half));
      to.add_slices<Entry, T>();
    });
    to.add(up_to(kernel<typename Kind::template entry<S>, T>(HostTraversal::rows, multiply_columns<parts, T>),
                 most_rows<parts>, 32));
    if constexpr (sizeof(T) == sizeof(double)) to.add_row_words<typename Kind::template entry<S>, parts>();
    if constexpr (parts == 1) to.add_diagonals<typename Kind::template entry<S>, T, false>(largest_block);
  }
};

template <>
struct RowsOf<HostForm::products> {
  template <class Kind, class S, class T>
  static constexpr void add(Kernels& to) {
    using Entry = typename Kind::template entry<S>;
    to.add(to.blocks<Entry, T>());
    to.add_slices<Entry, T>();
  }
};

/// In slices of sizes 2 to 4 alone.
template <>
struct RowsOf<HostForm::diagonals> {
  template <class Kind, class S, class T>
  static constexpr void add(Kernels& to) {
    using Entry = typename Kind::template entry<S>;
    constexpr bool one_word = Entry::word_count == 1;
    to.add(up_to(kernel<Entry, T>(HostTraversal::rows, multiply_diagonals<one_word, parts_of<S>, T>), largest_diagonal,
                 largest_diagonal));
    unroll<3>([&]<int n>() { to.add_slices<typename Kind::template entry<S, n + 2>, T>(); });
  }
};

template <>
struct RowsOf<HostForm::unit_words> {
  template <class Kind, class S, class T>
  static constexpr void add(Kernels& to) {
    using Entry = typename Kind::template entry<S>;
    using P = products<typename Entry::whole>;
    to.add(kernel<Entry, T>(HostTraversal::slices, multiply_slice_rows<P, T, true>));
    to.add(kernel<Entry, T>(HostTraversal::diagonals, multiply_diagonal_products<P, T, true, 1>));
  }
};

template <class Kind, class S, class T>
constexpr void add_kind(Kernels& to) {
  using Entry = typename Kind::template entry<S>;
  if constexpr (Entry::exists) RowsOf<Entry::host_form>::template add<Kind, S, T>(to);
}

/// Of matrices of S whose words are stored as T.
template <class S, class T, class... Kinds>
constexpr void add_kinds(Kernels& to, kind_list<Kinds...>) {
  (add_kind<Kinds, S, T>(to), ...);
}

/// Of words that are stored as T.
template <class T>
constexpr Kernels table_of = [] {
  Kernels all;
  add_kinds<double, T>(all, built_in_kinds{});
  add_kinds<complex_number<double>, T>(all, built_in_kinds{});
  return all;
}();

template <class T>
constexpr SimdKernels kernels_of{table_of<T>.row, table_of<T>.count};

}  // namespace
}  // namespace compound::host
