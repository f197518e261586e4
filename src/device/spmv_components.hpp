// Products with several workers a block row, each at work on one scalar row of it: for few or long rows, and for blocks
// too large for one worker's registers. Dense blocks only: other entries need all their words for each scalar row.
#pragma once

#include "spmv_rows.hpp"

namespace compound {

/// One scalar of op(entry).
template <Op op, class Words>
COMPOUND_FN auto component(const Words& w, int out, int in) {
  if constexpr (op == Op::none)
    return w(out, in);
  else if constexpr (op == Op::transpose)
    return w(in, out);
  else
    return conjugate(w(in, out));
}

/// Scalar row `i` of one block row, for slices: neighbouring workers have neighbouring positions and the same i, so
/// that words interleaved over a slice are read together.
///
/// `lanes` and `at_once` as in multiply_row().
template <Op op, Update update, int lanes, int at_once, class Product>
COMPOUND_FN void multiply_scalar_row(const Product& p, idx position, int i, int lane, bool active) {
  using S = typename Product::scalar;
  const int in = cols_of<op>(p.entry);
  const slot_t apart = p.layout.apart();
  slot_t slot = active ? p.layout.first(position) + lane * apart : 0;
  const idx count = active ? p.layout.count(position) : 0;
  const auto columns = p.layout.columns_of(position);
  S sum{};
  const auto add = [&](slot_t at) {
    if (!p.layout.present(at)) return;
    const idx column = columns.at(at);
    const auto words = p.words(at);
    for (int j = 0; j < in; ++j) add_product<S>(sum, component<op>(words, i, j), p.x[p.x_words.at(column, in, j)]);
  };
  idx k = lane;
  for (; k + (at_once - 1) * lanes < count; k += at_once * lanes, slot += at_once * lanes * apart)
    unroll<at_once>([&]<int u>() { add(slot + u * lanes * apart); });
  for (; k < count; k += lanes, slot += lanes * apart) add(slot);
  sum = sum_over_lanes<lanes>(sum);
  if (lane == 0 && active) store_component<update>(p, p.layout.row(position), rows_of<op>(p.entry), i, sum);
}

/// One block row in compressed rows, by `lanes` neighbours: the row's blocks are one long list of block columns, and
/// each step takes as many of them as fit beside each other, every worker one word. With column-major words these are
/// neighbours in memory, for blocks of any size.
///
/// Source: Choi et al. 2010 (sub-warp per block row), without shared memory: sums move by shuffles, in a fixed order.
template <Op op, Update update, int lanes, int at_once, int n_rows, int n_cols, class Product>
COMPOUND_FN void multiply_row_by_columns(const Product& p, idx position, int lane, bool active) {
  using S = typename Product::scalar;
  constexpr int side = n_rows < lanes ? n_rows : lanes;  // scalar rows taken together
  constexpr int beside = lanes / side;                   // block columns taken together
  const slot_t first = active ? p.layout.first(position) : 0;
  const slot_t width = active ? slot_t(p.layout.count(position)) * n_cols : 0;
  const auto columns = p.layout.columns_of(position);
  for (int i0 = 0; i0 < n_rows; i0 += side) {
    const int i = i0 + lane % side;
    const bool at_work = lane / side < beside && i < n_rows;
    S sum{};
    const auto add = [&](slot_t q) {
      const slot_t slot = first + unsigned(q) / unsigned(n_cols);
      const int j = int(unsigned(q) % unsigned(n_cols));
      const S x = p.x[p.x_words.at(columns.at(slot), n_cols, j)];
      add_product<S>(sum, component<op>(p.words(slot), i, j), x);
    };
    if (at_work) {
      slot_t q = lane / side;
      for (; q + (at_once - 1) * beside < width; q += at_once * beside)
        unroll<at_once>([&]<int u>() { add(q + u * beside); });
      for (; q < width; q += beside) add(q);
    }
    sum = sum_over_strided_lanes<lanes, side, beside>(sum, lane);
    if (lane < side && i < n_rows && active) store_component<update>(p, p.layout.row(position), n_rows, i, sum);
  }
}

}  // namespace compound
