// The whole of a symmetric or Hermitian matrix of which the diagonal and what is above it are given.
#pragma once

#include "base/parallel.hpp"
#include "pattern/pattern.hpp"

namespace compound {

/// Throws `argument` naming the first entry below the diagonal, or the first row whose columns do not ascend, of a
/// pattern that is to be an upper triangle; also where it is not square.
void check_upper(const PatternView& pattern);

/// Columns ascend in each row.
struct Mirrored {
  Pattern pattern;
  std::vector<count32> from;  ///< [entries] the given entry; of those below the diagonal the one that they mirror

  std::size_t bytes() const {
    return (pattern.start.size() + from.size()) * sizeof(count32) + pattern.column.size() * sizeof(idx);
  }
};

/// "(row, column)", for messages.
std::string place_text(idx row, idx column);

/// Throws as check_upper(); `too_large` where the whole has more entries than a count32 counts.
Mirrored mirrored(const PatternView& upper);

/// How many entries mirrored() has, and how many of its rows have none. Throws as check_upper().
struct MirroredCounts {
  count32 entries = 0;
  idx empty_rows = 0;
};
MirroredCounts count_mirrored(const PatternView& upper);

/// The values: `given` [entries of the triangle][side][side] to `all` [entries][side][side], both column-major.
/// `reflect(a)` is the scalar below the diagonal that `a` stands for; of diagonal blocks what is given there is not
/// read.
template <class S, class Reflect>
void fill_mirrored(const Mirrored& m, int side, const S* given, S* all, const Reflect& reflect) {
  constexpr std::size_t scalars_of_thread = std::size_t{1} << 18;
  const std::size_t scalars = std::size_t(side) * side;
  const auto fill_row = [&](std::size_t row) {
    for (count32 e = m.pattern.start[row]; e < m.pattern.start[row + 1]; ++e) {
      const S* const from = given + m.from[e] * scalars;
      S* const to = all + e * scalars;
      const auto column = static_cast<std::size_t>(m.pattern.column[e]);
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
          const bool is_below = column < row || (column == row && i > j);
          to[j * side + i] = is_below ? reflect(from[i * side + j]) : from[j * side + i];
        }
    }
  };
  for_ranges(static_cast<std::size_t>(m.pattern.rows), threads_for(m.from.size() * scalars, scalars_of_thread),
             [&](std::size_t begin, std::size_t end, auto) {
               for (std::size_t row = begin; row < end; ++row) fill_row(row);
             });
}

}  // namespace compound
