// Quaternion a + bi + cj + dk, kept in four real words.
//
// In a real matrix it is the 4 x 4 block of multiplication from the left,
//   [[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]];
// in a complex matrix the 2 x 2 block [[a + bi, c + di], [-c + di, a - bi]].
#pragma once

#include "structured.hpp"

namespace compound {

template <class S>
struct quaternion : structured<quaternion<S>> {
  using scalar = S;
  using word = real_of<S>;
  static constexpr const char *name = "quaternion", *template_name = "quaternion";
  static constexpr const char* used_in = "conformal surface deformation, rotations";
  static constexpr Multiples multiples = Multiples::real;
  static constexpr int block_rows = is_complex<S> ? 2 : 4, block_cols = block_rows, word_count = 4;

  COMPOUND_FN static constexpr unit structure(int i, int j, int k) {
    if constexpr (is_complex<S>) {
      const bool diagonal = i == j;
      if ((k < 2) != diagonal) return {};
      if (k == 0) return {1, 0};
      if (k == 1) return {0, i == 0 ? 1 : -1};
      if (k == 2) return {i == 0 ? 1 : -1, 0};
      return {0, 1};
    } else {
      // In column j stands the product with 1, i, j, k: word i^j (bitwise) up to the sign.
      constexpr int sign[4][4] = {{1, -1, -1, -1}, {1, 1, -1, 1}, {1, 1, 1, -1}, {1, -1, 1, 1}};
      return {(i ^ j) == k ? sign[i][j] : 0, 0};
    }
  }

  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    if constexpr (is_complex<S>) {
      put(0, 0, b(0, 0).re);
      put(1, 0, b(0, 0).im);
      put(2, 0, b(0, 1).re);
      put(3, 0, b(0, 1).im);
    } else {
      for (int k = 0; k < 4; ++k) put(k, 0, b(k, 0));
    }
  }
};

}  // namespace compound
