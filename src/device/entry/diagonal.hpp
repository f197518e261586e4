// Diagonal block of any size n, kept in the n words of its diagonal (vector Laplacians with a coefficient a component).
#pragma once

#include "sized.hpp"

namespace compound {

/// N may be `dynamic`: then the size comes with the object and is at most sized's `largest`.
template <class S, slot_t N>
struct diagonal_entry : sized<diagonal_entry<S, N>, S, N> {
  static constexpr const char *name = "diagonal", *template_name = "diagonal_entry";
  static constexpr const char* used_in = "vector Laplacians with a coefficient per component";
  static constexpr int word_count = diagonal_entry::block_rows;  ///< at most

  COMPOUND_FN static constexpr int words_for(int size) { return size; }
  COMPOUND_FN static constexpr int word_on(int i) { return i; }  ///< the word at (i, i)
};

}  // namespace compound
