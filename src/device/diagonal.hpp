// Diagonal blocks of a square matrix: their diagonal scalars, and their inverses.
#pragma once

#include "layout/layout_args.hpp"
#include "layout/words.hpp"

namespace compound {

/// What the functions of this file read and write, for any entry and form: plain pointers and sizes.
///
/// Rows without a diagonal block stay as they are: clear `to` and `inverted` first.
struct DiagonalArgs {
  layout_args layout;
  int block_size = 0;
  word_map<dynamic> words;
  bool words_by_row = false;
  const void* values = nullptr;
  const void* codes = nullptr;  ///< as of a product (kernels.hpp)
  const void* table = nullptr;
  void* to = nullptr;                 ///< scalars: [rows][block_size], or inverses [rows][block_size][block_size]
  unsigned char* inverted = nullptr;  ///< [rows] 1 where the block was there and regular
};

/// The arguments in their types. Layout: a decoder of a layout that is known at run time; Values: where its slots'
/// words are.
template <class Entry, class Stored, class Layout, class Values = own_values, class WordsCode = plain_words<>>
struct diagonals {
  using entry_type = Entry;
  using scalar = typename Entry::scalar;

  Entry entry;
  Layout layout;
  matrix_words<dynamic, WordOrder::any, WordsCode> words;
  Values value_of;
  const Stored* values;
  scalar* to;
  unsigned char* inverted;

  COMPOUND_FN diagonals(const DiagonalArgs& a, const Layout& over, Values listed = {})
      : entry(Entry::of(a.block_size, a.block_size)),
        layout(over),
        words{a.words, a.words_by_row ? WordOrder::row : WordOrder::column},
        value_of(listed),
        values(static_cast<const Stored*>(a.values)),
        to(static_cast<scalar*>(a.to)),
        inverted(a.inverted) {}
};

/// f(words) for every entry of a position's block row on the diagonal: several where a column is given twice.
template <class Diagonals, class F>
COMPOUND_FN void for_each_on_diagonal(const Diagonals& d, idx position, const F& f) {
  const slot_t first = d.layout.first(position);
  const idx count = d.layout.count(position), row = d.layout.row(position);
  const auto columns = d.layout.columns_of(position);
  COMPOUND_ROLLED
  for (idx k = 0; k < count; ++k) {
    const slot_t slot = first + k * d.layout.apart();
    if (d.layout.present(slot) && columns.at(slot) == row) f(d.words.at(d.entry, d.values, d.value_of.at(slot)));
  }
}

/// Adds the diagonal scalars of one block row.
template <class Diagonals>
COMPOUND_FN void write_diagonal(const Diagonals& d, idx position) {
  using S = typename Diagonals::scalar;
  if (d.layout.count(position) == 0) return;
  const int n = d.entry.rows();
  S* const to = d.to + slot_t(d.layout.row(position)) * n;
  for_each_on_diagonal(d, position, [&](const auto& words) {
    for (int i = 0; i < n; ++i) to[i] += d.entry.block(words, i, i);
  });
}

/// Size by which pivots are compared.
template <class S>
COMPOUND_FN real_of<S> pivot_size(S a) {
  const auto size = [](real_of<S> x) { return x < 0 ? -x : x; };
  if constexpr (is_complex<S>)
    return size(a.re) + size(a.im);
  else
    return size(a);
}

template <class S>
COMPOUND_FN bool is_finite(S a) {
  const real_of<S> size = pivot_size(a);
  return size - size == 0;
}

/// 1 / a; for complex numbers without the overflow of |a|^2.
template <class S>
COMPOUND_FN S reciprocal(S a) {
  using R = real_of<S>;
  if constexpr (is_complex<S>) {
    const R scale = 1 / pivot_size(a);
    const R re = a.re * scale, im = a.im * scale, factor = scale / (re * re + im * im);
    return {re * factor, -im * factor};
  } else {
    return 1 / a;
  }
}

/// Exchanges two of n scalars' rows or columns: `step` apart each.
template <class S>
COMPOUND_FN void exchange(S* a, S* b, int n, int step) {
  for (int i = 0; i < n; ++i) {
    const S kept = a[i * step];
    a[i * step] = b[i * step];
    b[i * step] = kept;
  }
}

/// Row of the largest scalar of column k, from row k down.
template <class S>
COMPOUND_FN int pivot_row(const S* a, int n, int k) {
  int best = k;
  for (int i = k + 1; i < n; ++i)
    if (pivot_size(a[i + k * n]) > pivot_size(a[best + k * n])) best = i;
  return best;
}

/// Row k times 1 / pivot, and column k eliminated from the other rows; the inverse's column takes its place.
template <class S>
COMPOUND_FN void eliminate(S* a, int n, int k) {
  const S factor = reciprocal(a[k + k * n]);
  a[k + k * n] = S{1};
  for (int j = 0; j < n; ++j) a[k + j * n] = factor * a[k + j * n];
  for (int i = 0; i < n; ++i) {
    if (i == k) continue;
    const S of_row = a[i + k * n];
    a[i + k * n] = S{};
    for (int j = 0; j < n; ++j) a[i + j * n] -= of_row * a[k + j * n];
  }
}

/// An n x n block, column by column, becomes its inverse by Gauss-Jordan with partial pivoting. False where it has
/// none: a pivot is 0, or something is not finite. GCC 13 would warn of a second row where at most one is known.
template <int most, class S>
COMPOUND_FN bool invert(S* a, int n) {
  int pivot[most];
  for (int k = 0; k < n; ++k) {
    pivot[k] = pivot_row(a, n, k);
    if (most > 1 && pivot[k] != k) exchange(a + k, a + pivot[k], n, n);
    const S chosen = a[k + k * n];
    if (pivot_size(chosen) == 0 || !is_finite(chosen)) return false;
    eliminate(a, n, k);
  }
  for (int k = n - 1; k >= 0; --k)
    if (most > 1 && pivot[k] != k) exchange(a + k * n, a + pivot[k] * n, n, 1);
  bool finite = true;
  for (int i = 0; i < n * n; ++i) finite = finite && is_finite(a[i]);
  return finite;
}

/// The inverse of one block row's diagonal block, column by column; 0 where it is singular, and then `inverted` is 0.
template <class Diagonals>
COMPOUND_FN void invert_diagonal(const Diagonals& d, idx position) {
  using S = typename Diagonals::scalar;
  constexpr int most = Diagonals::entry_type::block_rows;
  if (d.layout.count(position) == 0) return;
  const int n = d.entry.rows();
  S block[most * most];
  for (int i = 0; i < n * n; ++i) block[i] = S{};
  bool is_there = false;
  for_each_on_diagonal(d, position, [&](const auto& words) {
    is_there = true;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) block[i + j * n] += d.entry.block(words, i, j);
  });
  if (!is_there) return;
  const bool regular = invert<most>(block, n);
  const idx row = d.layout.row(position);
  S* const to = d.to + slot_t(row) * n * n;
  for (int i = 0; i < n * n; ++i) to[i] = regular ? block[i] : S{};
  d.inverted[row] = regular;
}

}  // namespace compound
