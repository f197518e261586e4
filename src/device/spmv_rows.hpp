// y = op(A) x and y = z + op(A) x, a block row at a time: the template that joins entry, layout and schedule.
#pragma once

#include "layout/layout_args.hpp"
#include "layout/words.hpp"
#include "operation.hpp"
#include "product_dot.hpp"
#include "smoothing.hpp"

namespace compound {

/// What a product reads and writes. x, z, y: vectors of blocks in `x_words` and `y_words` order. Layout: a decoder.
/// Vector: where x is, or something that makes its scalars as they are read.
template <class Entry, class Stored, class Layout, class MatrixWords, class VectorWords, class Values = own_values,
          class Following = nothing_follows, class Vector = const typename Entry::scalar*,
          class Smoothing = no_smoothing>
struct product {
  using scalar = typename Entry::scalar;
  using entry_type = Entry;
  using stored_type = Stored;

  Entry entry;
  Layout layout;
  MatrixWords matrix_words;
  VectorWords x_words, y_words;
  Values value_of = {};
  const Stored* values = nullptr;
  Vector x = {};
  const scalar* z = nullptr;
  scalar* y = nullptr;
  [[no_unique_address]] Following following = {};
  [[no_unique_address]] Smoothing smoothing = {};

  COMPOUND_FN auto words(slot_t slot) const { return matrix_words.at(entry, values, value_of.at(slot)); }
};

/// Sizes of op(block).
template <Op op, class Entry>
COMPOUND_FN constexpr int rows_of(const Entry& e) {
  return op == Op::none ? e.rows() : e.cols();
}
template <Op op, class Entry>
COMPOUND_FN constexpr int cols_of(const Entry& e) {
  return op == Op::none ? e.cols() : e.rows();
}
/// At most, where they come with the object.
template <Op op, class Entry>
inline constexpr int most_rows_of = op == Op::none ? Entry::block_rows : Entry::block_cols;
template <Op op, class Entry>
inline constexpr int most_cols_of = op == Op::none ? Entry::block_cols : Entry::block_rows;

/// A block of y by a smoothing step, where `sum` is that of A x.
template <int most, class Product, class S>
COMPOUND_FN void smooth_block(const Product& p, idx row, int n, const S* sum) {
  const auto& step = p.smoothing;
  S b[most], x[most], inverse[most], before[most];
  for (int i = 0; i < n; ++i) inverse[i] = S(1), before[i] = S{};
  p.y_words.load(p.z, row, n, b);
  p.y_words.load(p.x, row, n, x);
  if (step.inverse) p.y_words.load(step.inverse, row, n, inverse);
  if (step.before) p.y_words.load(step.before, row, n, before);
  for (int i = 0; i < n; ++i) b[i] = step.next(x[i], inverse[i], before[i], b[i], sum[i]);
  p.y_words.store(p.y, row, n, b);
}

template <int most, class Product, class S>
COMPOUND_FN void correct_block(const Product& p, idx row, int n, const S* sum) {
  S y[most], inverse[most];
  for (int i = 0; i < n; ++i) inverse[i] = S(1);
  p.y_words.load(p.z, row, n, y);
  if (p.smoothing.inverse) p.y_words.load(p.smoothing.inverse, row, n, inverse);
  for (int i = 0; i < n; ++i) y[i] = p.smoothing.next(y[i], inverse[i], sum[i]);
  p.y_words.store(p.y, row, n, y);
}

/// Where a sum goes: y(row) = [z(row) +] sum, or a smoothing step's, a whole block
template <Update update, class Product, class S>
COMPOUND_FN void store_block(const Product& p, idx row, int n, const S* sum) {
  using Entry = typename Product::entry_type;
  constexpr int most = Entry::block_rows > Entry::block_cols ? Entry::block_rows : Entry::block_cols;
  for (int i = 0; i < n; ++i) p.following.take(p.y_words.at(row, n, i), sum[i]);
  if constexpr (update == Update::smooth) {
    smooth_block<most>(p, row, n, sum);
  } else if constexpr (update == Update::correct) {
    correct_block<most>(p, row, n, sum);
  } else if constexpr (update == Update::add) {
    S z[most];
    p.y_words.load(p.z, row, n, z);
    for (int i = 0; i < n; ++i) z[i] += sum[i];
    p.y_words.store(p.y, row, n, z);
  } else {
    p.y_words.store(p.y, row, n, sum);
  }
}

/// or its scalar i.
template <Update update, class Product, class S>
COMPOUND_FN void store_component(const Product& p, idx row, int n, int i, S sum) {
  const slot_t at = p.y_words.at(row, n, i);
  p.following.take(at, sum);
  S y = sum;
  if constexpr (update == Update::smooth) {
    const auto& step = p.smoothing;
    y = step.next(p.x[at], step.inverse ? step.inverse[at] : S(1), step.before ? step.before[at] : S{}, p.z[at], sum);
  } else if constexpr (update == Update::correct) {
    y = p.smoothing.next(p.z[at], p.smoothing.inverse ? p.smoothing.inverse[at] : S(1), sum);
  } else if constexpr (update == Update::add) {
    y = p.z[at];
    y += sum;
  }
  p.y[at] = y;
}

/// Adds `n` entries of a row, `apart` slots apart, to `sum`: loads that do not wait for each other first.
template <Op op, int n, class Product, class Columns, class S>
COMPOUND_FN void add_entries(const Product& p, const Columns& columns, slot_t slot, slot_t apart, S* sum) {
  const int in = cols_of<op>(p.entry);
  bool present[n];
  idx column[n];
  for (int u = 0; u < n; ++u) {
    present[u] = p.layout.present(slot + u * apart);
    column[u] = present[u] ? columns.at(slot + u * apart) : 0;
  }
  S x[n][most_cols_of<op, typename Product::entry_type>];
  for (int u = 0; u < n; ++u)
    if (present[u]) p.x_words.load(p.x, column[u], in, x[u]);
  for (int u = 0; u < n; ++u)
    if (present[u]) p.entry.template madd<op>(p.words(slot + u * apart), x[u], sum);
}

/// One block row of y, gathered: y(row) = [z(row) +] sum over the row's slots of op(entry) x(column).
///
/// `op` acts on the entries; with a transposed pattern (and listed_values) this is the deterministic parallel A^T x.
/// `lanes` neighbouring workers share a row, each taking every lanes-th slot, `at_once` of them in one step; lane 0
/// writes. All lanes of a warp must call: a worker without a row is not `active`.
template <Op op, Update update, int lanes, int at_once = 1, class Product>
COMPOUND_FN void multiply_row(const Product& p, idx position, int lane, bool active = true) {
  using S = typename Product::scalar;
  const int out = rows_of<op>(p.entry);
  const slot_t first = active ? p.layout.first(position) : 0;
  const idx count = active ? p.layout.count(position) : 0;
  const auto columns = p.layout.columns_of(position);
  const slot_t apart = slot_t(lanes) * p.layout.apart();
  S sum[most_rows_of<op, typename Product::entry_type>];
  for (int i = 0; i < out; ++i) sum[i] = S{};
  slot_t slot = first + lane * p.layout.apart();
  idx k = lane;
  if constexpr (at_once > 1)
    for (; k + (at_once - 1) * lanes < count; k += at_once * lanes, slot += at_once * apart)
      add_entries<op, at_once>(p, columns, slot, apart, sum);
  for (; k < count; k += lanes, slot += apart) add_entries<op, 1>(p, columns, slot, apart, sum);
  for (int i = 0; i < out; ++i) sum[i] = sum_over_lanes<lanes>(sum[i]);
  if (lane == 0 && active) store_block<update>(p, p.layout.row(position), out, sum);
}

/// One block row of A, scattered: y(column) += op(entry) x(row) for a transposed product over A's own pattern.
///
/// For one worker only (rows must be taken in order); y holds 0 or z before the first row.
template <Op op, class Product>
COMPOUND_FN void scatter_row(const Product& p, idx position) {
  static_assert(op != Op::none, "A itself gathers");
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  const slot_t first = p.layout.first(position);
  const idx count = p.layout.count(position);
  const auto columns = p.layout.columns_of(position);
  S x[Entry::block_rows];
  p.x_words.load(p.x, p.layout.row(position), p.entry.rows(), x);
  for (idx k = 0; k < count; ++k) {
    const slot_t slot = first + k * p.layout.apart();
    if (!p.layout.present(slot)) continue;
    const idx column = columns.at(slot);
    S y[Entry::block_cols];
    p.y_words.load(static_cast<const S*>(p.y), column, p.entry.cols(), y);
    p.entry.template madd<op>(p.words(slot), x, y);
    p.y_words.store(p.y, column, p.entry.cols(), y);
  }
}

}  // namespace compound
