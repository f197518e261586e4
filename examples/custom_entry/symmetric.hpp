// A block format of your own: symmetric 3 x 3 blocks, stored as the 6 scalars of their lower triangle.
//
// Given to -mat_compound_entry_file it is compiled for the GPU; custom_entry.cpp beside it compiles it for the host.
#pragma once

#include <petsccompound/entry.hpp>

template <class S>
struct symmetric : compound::custom_entry<symmetric<S>, S, 3, 3, 6> {
  static constexpr const char* name = "symmetric";

  /// The stored scalar at (i, j): 0, 1, 2 are the diagonal, 3, 4, 5 are (1, 0), (2, 0), (2, 1).
  COMPOUND_FN static constexpr int word_at(int i, int j) { return i == j ? i : i + j + 2; }

  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return w(word_at(i, j), 0);
  }

  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) put(word_at(i, j), 0, b(i, j));
  }
};
