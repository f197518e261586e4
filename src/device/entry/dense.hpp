// Dense r x c block, kept whole: word (i, j) is the block's scalar (i, j).
#pragma once

#include "../operation.hpp"
#include "../scalar.hpp"
#include "traits.hpp"

namespace compound {

/// R and C may be `dynamic`: then the sizes come with the object and are at most `largest_dynamic`.
template <class S, slot_t R, slot_t C>
struct dense {
  using scalar = S;
  using word = S;
  static constexpr const char *name = "dense", *template_name = "dense", *used_in = "elasticity, flow: anything";
  static constexpr bool exists = true;
  static constexpr int known_sizes = 8;
  static constexpr Multiples multiples = Multiples::all;
  static constexpr HostForm host_form = HostForm::columns;

  static constexpr int largest_dynamic = 32;
  static constexpr int block_rows = R == dynamic ? largest_dynamic : int(R);
  static constexpr int block_cols = C == dynamic ? largest_dynamic : int(C);

  static constexpr bool any_size = R == dynamic || C == dynamic;

  fixed_or<R> row_count;
  fixed_or<C> col_count;

  COMPOUND_FN static constexpr dense of(int rows, int cols) { return {rows, cols}; }
  COMPOUND_FN constexpr int rows() const { return int(slot_t(row_count)); }
  COMPOUND_FN constexpr int cols() const { return int(slot_t(col_count)); }
  COMPOUND_FN constexpr int words() const { return rows() * cols(); }
  COMPOUND_FN constexpr int word_rows() const { return rows(); }
  COMPOUND_FN constexpr int word_cols() const { return cols(); }

  /// out += op(block(w)) x, summed column by column for A, row by row for its transposes.
  template <Op op, class Words>
  COMPOUND_FN void madd(const Words& w, const S* x, S* out) const {
    for (int j = 0; j < cols(); ++j)
      for (int i = 0; i < rows(); ++i) {
        if constexpr (op == Op::none) add_product<S>(out[i], w(i, j), x[j]);
        if constexpr (op == Op::transpose) add_product<S>(out[j], w(i, j), x[i]);
        if constexpr (op == Op::hermitian) add_product<S>(out[j], conjugate(w(i, j)), x[i]);
      }
  }

  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return w(i, j);
  }

  template <class Block, class Put>
  COMPOUND_FN void from_block(const Block& b, const Put& put) const {
    for (int j = 0; j < cols(); ++j)
      for (int i = 0; i < rows(); ++i) put(i, j, b(i, j));
  }
};

}  // namespace compound
