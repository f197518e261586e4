// A block format of a user's own: all scalars of 3 x 3 blocks.
#pragma once

#include <petsccompound/entry.hpp>

/// No test names a file of it.
template <class S>
struct without_file : compound::custom_entry<without_file<S>, S, 3, 3, 9> {
  static constexpr const char* name = "without_file";
  template <class Words>
  COMPOUND_FN static S block(const Words& w, int i, int j) {
    return w(3 * i + j, 0);
  }
  template <class Block, class Put>
  COMPOUND_FN static void from_block(const Block& b, const Put& put) {
    for (int k = 0; k < 9; ++k) put(k, 0, b(k / 3, k % 3));
  }
};
