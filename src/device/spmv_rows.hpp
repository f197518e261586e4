// y = op(A) x and y = z + op(A) x, a block row at a time: the template that joins entry, layout and schedule.
#pragma once

#include "layout/slices.hpp"
#include "layout/words.hpp"
#include "operation.hpp"

namespace compound {

/// What a product reads and writes. x, z, y: vectors of blocks in `x_words` and `y_words` order.
template <class Entry, class Stored, class Slices, class MatrixWords, class VectorWords>
struct product {
  using scalar = typename Entry::scalar;
  using entry_type = Entry;
  using stored_type = Stored;

  Entry entry;
  Slices slices;
  MatrixWords matrix_words;
  VectorWords x_words, y_words;
  const Stored* values = nullptr;
  /// Where the words of a slot are, if not in the slot: this lets the transposed pattern use A's own values. Or null.
  const count32* value_slot = nullptr;
  const scalar* x = nullptr;
  const scalar* z = nullptr;
  scalar* y = nullptr;

  COMPOUND_FN auto words(slot_t slot) const {
    return matrix_words.at(entry, values, value_slot ? slot_t(value_slot[slot]) : slot);
  }
};

/// Adds `n` entries of a row, `apart` slots apart, to `sum`: loads that do not wait for each other first.
template <Op op, int n, class Product, class S>
COMPOUND_FN void add_entries(const Product& p, slot_t slot, slot_t apart, S* sum) {
  using Entry = typename Product::entry_type;
  constexpr int max_in = op == Op::none ? Entry::block_cols : Entry::block_rows;
  const int in = op == Op::none ? p.entry.cols() : p.entry.rows();
  idx column[n];
  for (int u = 0; u < n; ++u)
    column[u] = p.slices.present(slot + u * apart) ? p.slices.column_at(slot + u * apart) : idx(-1);
  S x[n][max_in];
  for (int u = 0; u < n; ++u)
    if (column[u] >= 0) p.x_words.load(p.x, column[u], in, x[u]);
  for (int u = 0; u < n; ++u)
    if (column[u] >= 0) p.entry.template madd<op>(p.words(slot + u * apart), x[u], sum);
}

/// One block row of y, gathered: y(row) = [z(row) +] sum over the row's slots of op(entry) x(column).
///
/// `op` acts on the entries; with a transposed pattern (and `value_slot`) this is the deterministic parallel A^T x.
/// `lanes` neighbouring workers share a row, each taking every lanes-th slot, `at_once` of them in one step; lane 0
/// writes. All lanes of a warp must call: a worker without a row is not `active`.
template <Op op, Update update, int lanes, int at_once = 1, class Product>
COMPOUND_FN void multiply_row(const Product& p, idx position, int lane, bool active = true) {
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  constexpr int max_out = op == Op::none ? Entry::block_rows : Entry::block_cols;
  const int out = op == Op::none ? p.entry.rows() : p.entry.cols();
  const slot_t first = active ? p.slices.first(position) : 0;
  const idx count = active ? p.slices.count(position) : 0;
  const slot_t apart = slot_t(lanes) * p.slices.height;
  S sum[max_out];
  for (int i = 0; i < out; ++i) sum[i] = S{};
  slot_t slot = first + lane * slot_t(p.slices.height);
  idx k = lane;
  if constexpr (at_once > 1)
    for (; k + (at_once - 1) * lanes < count; k += at_once * lanes, slot += at_once * apart)
      add_entries<op, at_once>(p, slot, apart, sum);
  for (; k < count; k += lanes, slot += apart) add_entries<op, 1>(p, slot, apart, sum);
  for (int i = 0; i < out; ++i) sum[i] = sum_over_lanes<lanes>(sum[i]);
  if (lane != 0 || !active) return;
  const idx row = p.slices.row(position);
  if constexpr (update == Update::add) {
    S z[max_out];
    p.y_words.load(p.z, row, out, z);
    for (int i = 0; i < out; ++i) z[i] += sum[i];
    p.y_words.store(p.y, row, out, z);
  } else {
    p.y_words.store(p.y, row, out, sum);
  }
}

/// One block row of A, scattered: y(column) += op(entry) x(row) for a transposed product over A's own pattern.
///
/// For one worker only (rows must be taken in order); y holds 0 or z before the first row.
template <Op op, class Product>
COMPOUND_FN void scatter_row(const Product& p, idx position) {
  static_assert(op != Op::none, "A itself gathers");
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  const slot_t first = p.slices.first(position);
  const idx count = p.slices.count(position);
  S x[Entry::block_rows];
  p.x_words.load(p.x, p.slices.row(position), p.entry.rows(), x);
  for (idx k = 0; k < count; ++k) {
    const slot_t slot = first + k * p.slices.height;
    if (!p.slices.present(slot)) continue;
    const idx column = p.slices.column[slot];
    S y[Entry::block_cols];
    p.y_words.load(static_cast<const S*>(p.y), column, p.entry.cols(), y);
    p.entry.template madd<op>(p.words(slot), x, y);
    p.y_words.store(p.y, column, p.entry.cols(), y);
  }
}

}  // namespace compound
