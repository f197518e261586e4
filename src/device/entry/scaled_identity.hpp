// A scalar times the identity of any size, kept in one word (vector Laplacians, mass matrices of vector fields).
#pragma once

#include "sized.hpp"

namespace compound {

/// N may be `dynamic`: then the size comes with the object and is at most sized's `largest`.
template <class S, slot_t N>
struct scaled_identity : sized<scaled_identity<S, N>, S, N> {
  static constexpr const char *name = "scaled_identity", *template_name = "scaled_identity";
  static constexpr const char* used_in = "vector Laplacians, mass matrices";
  static constexpr int word_count = 1;

  COMPOUND_FN static constexpr int words_for(int) { return 1; }
  COMPOUND_FN static constexpr int word_on(int) { return 0; }  ///< the word at (i, i)
};

}  // namespace compound
