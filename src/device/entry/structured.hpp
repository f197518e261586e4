// Entries whose block is linear in their words: block(w)(i, j) = sum over k of structure(i, j, k) w_k.
#pragma once

#include "../operation.hpp"
#include "../scalar.hpp"
#include "traits.hpp"

namespace compound {

/// The shape of a kind of entry whose size is known: `Kind` gives block_rows, block_cols and word_count.
template <class Kind>
struct fixed_shape {
  static constexpr bool any_size = false, exists = true;
  static constexpr int known_sizes = 0;
  static constexpr Multiples multiples = Multiples::none;
  static constexpr HostForm host_form = HostForm::plain;

  COMPOUND_FN static constexpr Kind of(int, int) { return {}; }
  COMPOUND_FN static constexpr int rows() { return Kind::block_rows; }
  COMPOUND_FN static constexpr int cols() { return Kind::block_cols; }
  COMPOUND_FN static constexpr int words() { return Kind::word_count; }
  COMPOUND_FN static constexpr int word_rows() { return Kind::word_count; }
  COMPOUND_FN static constexpr int word_cols() { return 1; }
};

/// Products and block() of a kind of entry from its `structure` table alone.
///
/// `Kind` gives scalar, word, block_rows, block_cols, word_count and constexpr unit structure(int i, int j, int k); it
/// may override what it can do better. `w(k, 0)` is word k, converted to `word`.
template <class Kind>
struct structured : fixed_shape<Kind> {
  static constexpr HostForm host_form = HostForm::products;

  /// out += op(block(w)) x, summed in the order of the block's rows, columns, words.
  template <Op op, class Words, class S>
  COMPOUND_FN static void madd(const Words& w, const S* x, S* out) {
    unroll<Kind::block_rows>([&]<int i>() {
      unroll<Kind::block_cols>([&]<int j>() {
        unroll<Kind::word_count>([&]<int k>() {
          constexpr unit of_a = Kind::structure(i, j, k);
          constexpr unit u = op == Op::hermitian ? of_a.conjugated() : of_a;
          if constexpr (!u.zero()) {
            constexpr int to = op == Op::none ? i : j;
            constexpr int from = op == Op::none ? j : i;
            add_unit<u.re, u.im>(out[to], w(k, 0) * x[from]);
          }
        });
      });
    });
  }

  /// The block's scalar (i, j).
  template <class Words>
  COMPOUND_FN static auto block(const Words& w, int i, int j) {
    using S = typename Kind::scalar;
    S b{};
    for (int k = 0; k < Kind::word_count; ++k) {
      const unit u = Kind::structure(i, j, k);
      if (u.zero()) continue;
      // One part at a time: 0 * Inf must not appear.
      if constexpr (is_complex<S>) {
        if (u.re != 0) b.re += real_of<S>(u.re) * w(k, 0);
        if (u.im != 0) b.im += real_of<S>(u.im) * w(k, 0);
      } else {
        b += S(u.re) * w(k, 0);
      }
    }
    return b;
  }
};

}  // namespace compound
