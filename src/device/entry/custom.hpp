// What a kind of entry of one's own starts from (include/petsccompound/entry.hpp).
#pragma once

#include "structured.hpp"

namespace compound {

/// Base of a kind `Kind<S>` seen as R x C blocks of S and kept in W words of type Word.
///
/// Kind gives
///   static constexpr const char* name;              as in -mat_compound_entry
///   static S block(const Words& w, int i, int j);   the block's scalar (i, j) from the words w(k, 0)
///   static void from_block(const Block& b, const Put& put);   put(k, 0, word) for every k, from the scalars b(i, j)
/// as templates of Words, Block and Put, each marked COMPOUND_FN, and may replace madd() by something faster. Whenever
/// a block b is of the kind, block(from_block(b)) must equal b (==) in every scalar: that is how the kind is
/// recognised.
template <class Kind, class S, int R, int C, int W, class Word = S>
struct custom_entry : fixed_shape<Kind> {
  static_assert(R > 0 && C > 0 && W > 0, "a block format has rows, columns and stored scalars");
  using scalar = S;
  using word = Word;
  static constexpr int block_rows = R, block_cols = C, word_count = W;

  /// out += op(block(w)) x.
  template <Op op, class Words>
  COMPOUND_FN static void madd(const Words& w, const S* x, S* out) {
    unroll<C>([&]<int j>() {
      unroll<R>([&]<int i>() {
        const S a = Kind::block(w, i, j);
        if constexpr (op == Op::none) out[i] += a * x[j];
        if constexpr (op == Op::transpose) out[j] += a * x[i];
        if constexpr (op == Op::hermitian) out[j] += conjugate(a) * x[i];
      });
    });
  }
};

}  // namespace compound
