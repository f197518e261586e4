// Values of symmetric and Hermitian matrices.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "plan/plan.hpp"

namespace compound::test {

template <class S>
S mirrored_scalar(S s, Half half) {
  if constexpr (is_complex<S>)
    if (half == Half::hermitian) return {s.re, -s.im};
  return s;
}

/// Makes the blocks below the diagonal those above it, transposed, and blocks on it equal to their transposes.
template <class S>
void mirror(const Pattern& p, int side, Half half, std::vector<S>& blocks) {
  const auto at = [&](count32 e, int i, int j) -> S& { return blocks[(std::size_t(e) * side + j) * side + i]; };
  const auto entry_at = [&](idx row, idx column) {
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      if (p.column[e] == column) return e;
    throw error(ErrorKind::argument, "the pattern is not symmetric");
  };
  for (idx row = 0; row < p.rows; ++row)
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e) {
      const idx column = p.column[e];
      if (column < row) continue;
      const count32 there = entry_at(column, row);
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i)
          if (e != there || i < j)
            at(there, j, i) = mirrored_scalar(at(e, i, j), half);
          else if (i == j)
            at(e, i, i) = S{real_of<S>(1.5)};
    }
}

}  // namespace compound::test
