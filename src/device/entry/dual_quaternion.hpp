// Dual quaternion p + e q with e e = 0 (rigid motions), kept in eight real words: p, then q.
//
// In the order (real part, dual part) multiplication from the left is the block [[p, 0], [q, p]] of quaternion blocks:
// 8 x 8 in a real matrix, 4 x 4 in a complex one.
#pragma once

#include "quaternion.hpp"

namespace compound {

template <class S>
struct dual_quaternion : structured<dual_quaternion<S>> {
  using scalar = S;
  using word = real_of<S>;
  using part = quaternion<S>;
  static constexpr const char *name = "dual_quaternion", *template_name = "dual_quaternion";
  static constexpr const char* used_in = "rigid motions, skinning";
  static constexpr Multiples multiples = Multiples::real;
  static constexpr int size = part::block_rows;
  static constexpr int block_rows = 2 * size, block_cols = block_rows, word_count = 8;

  COMPOUND_FN static constexpr unit structure(int i, int j, int k) {
    const bool in_p = k < 4;
    const bool on_diagonal = i / size == j / size, below = i / size > j / size;
    if (in_p ? !on_diagonal : !below) return {};
    return part::structure(i % size, j % size, k % 4);
  }

  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    part::from_block(b, put);
    part::from_block([&](int i, int j) { return b(i + size, j); }, [&](int k, int, word v) { put(k + 4, 0, v); });
  }
};

}  // namespace compound
