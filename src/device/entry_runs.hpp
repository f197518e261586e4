// Which entries of a matrix those of a part of its rows are.
#pragma once

#include "target.hpp"

namespace compound {

/// Runs of entries that are neighbours in the part and in the whole matrix: entry first[r] and those after it are
/// of_whole[r] and those after that. A row is in one run.
struct entry_runs {
  idx runs = 0;  ///< 0: the entries are the matrix' own
  const count32* first = nullptr;
  const count32* of_whole = nullptr;

  /// What is added to entry `e` of the part, and to the others of its row, to get those of the whole.
  COMPOUND_FN slot_t shift(slot_t e) const {
    idx run = 0;
    for (idx beyond = runs; beyond - run > 1;) {
      const idx middle = run + (beyond - run) / 2;
      if (slot_t(first[middle]) <= e)
        run = middle;
      else
        beyond = middle;
    }
    return slot_t(of_whole[run]) - slot_t(first[run]);
  }
};

}  // namespace compound
