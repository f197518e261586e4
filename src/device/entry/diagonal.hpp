// Diagonal block of any size n, kept in the n words of its diagonal (vector Laplacians with a coefficient a component).
#pragma once

#include "sized.hpp"

namespace compound {

/// N may be `dynamic`: then the size comes with the object and is at most sized's `largest`.
template <class S, slot_t N>
struct diagonal_entry : sized<diagonal_entry<S, N>, S, N> {
  static constexpr const char* name = "diagonal";
  static constexpr int most_words = diagonal_entry::block_rows;

  COMPOUND_FN static constexpr int words_for(int size) { return size; }
  COMPOUND_FN static constexpr unit structure(int i, int j, int k) { return {i == j && j == k ? 1 : 0, 0}; }
  COMPOUND_FN static constexpr int word_on(int i) { return i; }  ///< the word at (i, i)
};

}  // namespace compound
