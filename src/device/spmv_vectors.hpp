// Products with several vectors: a word of the matrix is read once for all of them. Each sum is in the order of the
// kernels for one vector (spmv_rows.hpp, spmv_components.hpp), and has the same bits.
#pragma once

#include "spmv_components.hpp"

namespace compound {

/// Scalars from one vector to the next.
struct vectors_apart {
  slot_t x = 0, z = 0, y = 0, w = 0;  ///< w: of a dot product that follows
};

/// The product with vector v.
template <class Product>
COMPOUND_FN Product with_vector(Product p, const vectors_apart& apart, int v) {
  p.x += v * apart.x;
  if (p.z) p.z += v * apart.z;
  p.y += v * apart.y;
  if constexpr (requires { *p.following.sums; }) {
    p.following.w += v * apart.w;
    p.following.sums += v;
  }
  return p;
}

/// As multiply_row().
template <Op op, Update update, int lanes, int vectors, class Product>
COMPOUND_FN void multiply_row_of_vectors(const Product& p, const vectors_apart& apart, idx position, int lane,
                                         bool active) {
  using S = typename Product::scalar;
  using Entry = typename Product::entry_type;
  const int out = rows_of<op>(p.entry), in = cols_of<op>(p.entry);
  const idx count = active ? p.layout.count(position) : 0;
  const auto columns = p.layout.columns_of(position);
  S sum[vectors][most_rows_of<op, Entry>];
  for (int v = 0; v < vectors; ++v)
    for (int i = 0; i < out; ++i) sum[v][i] = S{};
  slot_t slot = active ? p.layout.first(position) + lane * p.layout.apart() : 0;
  for (idx k = lane; k < count; k += lanes, slot += slot_t(lanes) * p.layout.apart()) {
    if (!p.layout.present(slot)) continue;
    const idx column = columns.at(slot);
    const auto words = p.words(slot);
    unroll<vectors>([&]<int v>() {
      S x[most_cols_of<op, Entry>];
      p.x_words.load(p.x + v * apart.x, column, in, x);
      p.entry.template madd<op>(words, x, sum[v]);
    });
  }
  unroll<vectors>([&]<int v>() {
    for (int i = 0; i < out; ++i) sum[v][i] = sum_over_lanes<lanes>(sum[v][i]);
  });
  if (lane != 0 || !active) return;
  const idx row = p.layout.row(position);
  unroll<vectors>([&]<int v>() { store_block<update>(with_vector(p, apart, v), row, out, sum[v]); });
}

/// Sums of one scalar row for each vector.
template <int vectors, class S>
struct component_sums {
  S of[vectors] = {};

  template <Op op, class Product, class Words>
  COMPOUND_FN void add(const Product& p, const vectors_apart& apart, const Words& words, int i, int j, slot_t at) {
    const S word = component<op>(words, i, j);
    unroll<vectors>([&]<int v>() { add_product<S>(of[v], word, p.x[at + v * apart.x]); });
  }
  template <Update update, class Product>
  COMPOUND_FN void store(const Product& p, const vectors_apart& apart, idx row, int rows, int i) const {
    unroll<vectors>([&]<int v>() { store_component<update>(with_vector(p, apart, v), row, rows, i, of[v]); });
  }
};

/// As multiply_scalar_row().
template <Op op, Update update, int lanes, int vectors, class Product>
COMPOUND_FN void multiply_scalar_row_of_vectors(const Product& p, const vectors_apart& apart, idx position, int i,
                                                int lane, bool active) {
  const int in = cols_of<op>(p.entry);
  slot_t slot = active ? p.layout.first(position) + lane * p.layout.apart() : 0;
  const idx count = active ? p.layout.count(position) : 0;
  const auto columns = p.layout.columns_of(position);
  component_sums<vectors, typename Product::scalar> sum;
  for (idx k = lane; k < count; k += lanes, slot += slot_t(lanes) * p.layout.apart()) {
    if (!p.layout.present(slot)) continue;
    const idx column = columns.at(slot);
    const auto words = p.words(slot);
    for (int j = 0; j < in; ++j) sum.template add<op>(p, apart, words, i, j, p.x_words.at(column, in, j));
  }
  for (auto& s : sum.of) s = sum_over_lanes<lanes>(s);
  if (lane == 0 && active) sum.template store<update>(p, apart, p.layout.row(position), rows_of<op>(p.entry), i);
}

/// As multiply_row_by_columns().
template <Op op, Update update, int lanes, int vectors, int n_rows, int n_cols, class Product>
COMPOUND_FN void multiply_row_by_columns_of_vectors(const Product& p, const vectors_apart& apart, idx position,
                                                    int lane, bool active) {
  constexpr int side = n_rows < lanes ? n_rows : lanes, beside = lanes / side;
  const slot_t first = active ? p.layout.first(position) : 0;
  const slot_t width = active ? slot_t(p.layout.count(position)) * n_cols : 0;
  const auto columns = p.layout.columns_of(position);
  for (int i0 = 0; i0 < n_rows; i0 += side) {
    const int i = i0 + lane % side;
    const bool at_work = lane / side < beside && i < n_rows;
    component_sums<vectors, typename Product::scalar> sum;
    for (slot_t q = lane / side; at_work && q < width; q += beside) {
      const slot_t slot = first + unsigned(q) / unsigned(n_cols);
      const int j = int(unsigned(q) % unsigned(n_cols));
      sum.template add<op>(p, apart, p.words(slot), i, j, p.x_words.at(columns.at(slot), n_cols, j));
    }
    for (auto& s : sum.of) s = sum_over_strided_lanes<lanes, side, beside>(s, lane);
    if (lane < side && i < n_rows && active) sum.template store<update>(p, apart, p.layout.row(position), n_rows, i);
  }
}

}  // namespace compound
