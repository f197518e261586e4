// Complex number in a real matrix: [[a, -b], [b, a]] kept in the two words a, b.
#pragma once

#include "structured.hpp"

namespace compound {

template <class S>
struct complex_entry : structured<complex_entry<S>> {
  using scalar = S;
  using word = S;
  static constexpr const char *name = "complex", *template_name = "complex_entry";
  static constexpr const char* used_in = "Helmholtz, Maxwell in a real build, (Re, Im) interleaved";
  static constexpr bool exists = !is_complex<S>;  ///< in a complex matrix this is a dense 1 x 1 block
  static constexpr Multiples multiples = Multiples::real;
  static constexpr int block_rows = 2, block_cols = 2, word_count = 2;

  COMPOUND_FN static constexpr unit structure(int i, int j, int k) {
    if (k == 0) return {i == j ? 1 : 0, 0};
    return {i == j ? 0 : (i < j ? -1 : 1), 0};
  }

  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    put(0, 0, b(0, 0));
    put(1, 0, b(1, 0));
  }
};

}  // namespace compound
