// Entries of square blocks of any size that are zero off the diagonal.
#pragma once

#include "../operation.hpp"
#include "../scalar.hpp"
#include "traits.hpp"

namespace compound {

/// `Kind` gives words_for(size), word_count (of the largest) and word_on(i) (the word at (i, i)).
template <class Kind, class S, slot_t N>
struct sized {
  using scalar = S;
  using word = S;
  static constexpr bool any_size = N == dynamic, exists = true;
  static constexpr int known_sizes = 0;
  static constexpr Multiples multiples = Multiples::all;
  static constexpr HostForm host_form = HostForm::diagonals;
  static constexpr int largest = 32;  ///< of sizes that come with the object
  static constexpr int block_rows = any_size ? largest : int(N), block_cols = block_rows;

  fixed_or<N> size;

  COMPOUND_FN static constexpr Kind of(int rows, int) {
    Kind kind;
    kind.size = rows;
    return kind;
  }
  COMPOUND_FN constexpr int rows() const { return int(slot_t(size)); }
  COMPOUND_FN constexpr int cols() const { return rows(); }
  COMPOUND_FN constexpr int words() const { return Kind::words_for(rows()); }
  COMPOUND_FN constexpr int word_rows() const { return words(); }
  COMPOUND_FN static constexpr int word_cols() { return 1; }

  /// As of structured.hpp.
  COMPOUND_FN static constexpr unit structure(int i, int j, int k) {
    return {i == j && k == Kind::word_on(i) ? 1 : 0, 0};
  }

  /// out += op(block(w)) x.
  template <Op op, class Words>
  COMPOUND_FN void madd(const Words& w, const S* x, S* out) const {
    for (int i = 0; i < rows(); ++i) {
      const S a = w(Kind::word_on(i), 0);
      add_product<S>(out[i], op == Op::hermitian ? conjugate(a) : a, x[i]);
    }
  }

  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return i == j ? w(Kind::word_on(i), 0) : S{};
  }

  template <class Block, class Put>
  COMPOUND_FN void from_block(const Block& b, const Put& put) const {
    for (int k = 0; k < words(); ++k) put(k, 0, b(k, k));
  }
};

}  // namespace compound
