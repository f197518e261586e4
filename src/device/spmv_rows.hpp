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

/// One block row of y, gathered: y(row) = [z(row) +] sum over the row's slots of op(entry) x(column).
///
/// `op` acts on the entries; with a transposed pattern (and `value_slot`) this is the deterministic parallel A^T x.
/// `lanes` neighbouring workers share a row, each taking every lanes-th slot; lane 0 writes.
template <Op op, Update update, int lanes, class Product>
COMPOUND_FN void multiply_row(const Product& p, idx position, int lane) {
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  constexpr int max_out = op == Op::none ? Entry::block_rows : Entry::block_cols;
  constexpr int max_in = op == Op::none ? Entry::block_cols : Entry::block_rows;
  const int out = op == Op::none ? p.entry.rows() : p.entry.cols();
  const int in = op == Op::none ? p.entry.cols() : p.entry.rows();
  const slot_t first = p.slices.first(position);
  const idx count = p.slices.count(position);
  S sum[max_out];
  for (int i = 0; i < out; ++i) sum[i] = S{};
  for (idx k = lane; k < count; k += lanes) {
    const slot_t slot = first + k * p.slices.height;
    if (!p.slices.present(slot)) continue;
    S x[max_in];
    p.x_words.load(p.x, p.slices.column[slot], in, x);
    p.entry.template madd<op>(p.words(slot), x, sum);
  }
  for (int i = 0; i < out; ++i) sum[i] = sum_over_lanes<lanes>(sum[i]);
  if (lane != 0) return;
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
