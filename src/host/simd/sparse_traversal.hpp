// Products of sparse matrices, row by row (Gustavson 1978, "Two fast algorithms for sparse matrices"), written once for
// vectors and for plain scalars: `Tiles` adds a product of two dense blocks to a third.
#pragma once

#include "lane_pattern.hpp"
#include "sparse_task.hpp"

namespace compound::host {
namespace {

/// A block row, of which scalar rows are `stride` apart; blocks follow each other in each.
template <class S>
struct block_row {
  slot_t first, count, stride;
  S* values;

  template <class Rows>
  SIMD_FN block_row(const Rows& m, idx row, int cols, S* all)
      : first(m.start[row]),
        count(slot_t(m.start[row + 1]) - first),
        stride(count * cols),
        values(all + first * m.block_rows * cols) {}
};

/// Of n columns that ascend, the place of one that is there.
SIMD_FN slot_t place_among(const idx* column, slot_t n, idx wanted) {
  const idx* first = column;
  while (n > 1) {
    const slot_t half = n / 2;
    first += first[half] <= wanted ? half : 0;
    n -= half;
  }
  return first - column;
}

/// Both return how many products of blocks they took, times their scalars.
template <class Tiles>
double multiply_sparse(const SparseTask& t) {
  using S = typename Tiles::scalar;
  const int rows = t.a[0].block_rows, inner = t.a[0].block_cols, width = t.b[0].block_cols;
  slot_t products = 0;
  for (idx row = 0; row < t.a[0].rows; ++row) {
    const block_row<S> c(t.c, row, width, static_cast<S*>(t.to));
    const idx* const c_column = t.c.column + c.first;
    for (slot_t k = 0; k < c.count; ++k) t.place[c_column[k]] = static_cast<idx>(k);
    for (int term = 0; term < t.terms; ++term) {
      const SparseRows &of_a = t.a[term], &of_b = t.b[term];
      const block_row<const S> a(of_a, row, inner, static_cast<const S*>(of_a.values));
      for (slot_t k = 0; k < a.count; ++k) {
        const block_row<const S> b(of_b, of_a.column[a.first + k], width, static_cast<const S*>(of_b.values));
        products += b.count;
        for (slot_t l = 0; l < b.count; ++l)
          Tiles::template add<false, false>(rows, inner, width, a.values + k * inner, a.stride, 1, b.values + l * width,
                                            b.stride, c.values + slot_t{t.place[of_b.column[b.first + l]]} * width,
                                            c.stride);
      }
    }
    for (slot_t k = 0; k < c.count; ++k) t.place[c_column[k]] = -1;
  }
  return static_cast<double>(products) * rows * inner * width;
}

/// A block row of the sum of A B in tiles, in the order in which its columns are met; returns how many.
template <class Tiles, class S>
SIMD_FN idx fill_tiles(const SparseTask& t, idx row, S* tiles, slot_t& products) {
  const int rows = t.a[0].block_rows, inner = t.a[0].block_cols, width = t.b[0].block_cols,
            padded = padded_width(width);
  idx found = 0;
  for (int term = 0; term < t.terms; ++term) {
    const SparseRows &of_a = t.a[term], &of_b = t.b[term];
    const block_row<const S> a(of_a, row, inner, static_cast<const S*>(of_a.values));
    for (slot_t k = 0; k < a.count; ++k) {
      const block_row<const S> b(of_b, of_a.column[a.first + k], width, static_cast<const S*>(of_b.values));
      products += b.count;
      for (slot_t l = 0; l < b.count; ++l) {
        const idx column = of_b.column[b.first + l];
        idx& place = t.place[column];
        if (place < 0) {
          place = found;
          t.found[found++] = column;
          S* const tile = tiles + slot_t{place} * rows * padded;
          for (int i = 0; i < rows * padded; ++i) tile[i] = S{};
        }
        Tiles::template add<false, true>(rows, inner, width, a.values + k * inner, a.stride, 1, b.values + l * width,
                                         b.stride, tiles + slot_t{place} * rows * padded, padded);
      }
    }
  }
  for (idx s = 0; s < found; ++s) t.place[t.found[s]] = -1;
  return found;
}

/// Rows of A B are used at once, by all rows of C that they are part of, and not kept.
template <class Tiles>
double multiply_galerkin(const SparseTask& t) {
  using S = typename Tiles::scalar;
  const int rows = t.a[0].block_rows, width = t.b[0].block_cols, padded = padded_width(width), coarse = t.q.block_cols;
  S* const tiles = static_cast<S*>(t.tiles);
  slot_t fine = 0, products = 0;
  for (idx row = 0; row < t.a[0].rows; ++row) {
    const block_row<const S> q(t.q, row, coarse, static_cast<const S*>(t.q.values));
    if (q.count == 0) continue;
    const idx found = fill_tiles<Tiles>(t, row, tiles, fine);
    products += found * q.count;
    for (slot_t k = 0; k < q.count; ++k) {
      const block_row<S> c(t.c, t.q.column[q.first + k], width, static_cast<S*>(t.to));
      const idx* const c_column = t.c.column + c.first;
      for (idx s = 0; s < found; ++s)
        Tiles::template add<true, false>(coarse, rows, width, q.values + k * coarse, 1, q.stride,
                                         tiles + slot_t{s} * rows * padded, padded,
                                         c.values + place_among(c_column, c.count, t.found[s]) * width, c.stride);
    }
  }
  return (static_cast<double>(fine) * t.a[0].block_cols + static_cast<double>(products) * coarse) * rows * width;
}

template <class Tiles>
double run_sparse(const SparseTask& t) {
  return t.q.start ? multiply_galerkin<Tiles>(t) : multiply_sparse<Tiles>(t);
}

}  // namespace
}  // namespace compound::host
