// Symmetric and Hermitian matrices.
#pragma once

#include <set>
#include <vector>

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "support/entry_cases.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

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

/// A pattern with its transpose, columns in order; diagonal entries are those that are asked for.
inline Pattern symmetric_pattern(idx rows, idx longest, bool with_diagonal, std::uint64_t seed) {
  const Pattern p = random_pattern(rows, rows, longest, seed);
  std::vector<std::set<idx>> columns(rows);
  for (idx row = 0; row < rows; ++row) {
    if (with_diagonal && row % 5 != 2) columns[row].insert(row);
    for (count32 e = p.start[row]; e < p.start[row + 1]; ++e)
      if (p.column[e] != row) {
        columns[row].insert(p.column[e]);
        columns[p.column[e]].insert(row);
      }
  }
  std::vector<std::vector<idx>> all;
  for (const auto& row : columns) all.emplace_back(row.begin(), row.end());
  return pattern_of(rows, all);
}

template <class S>
Operands<S> symmetric_operands(const Pattern& p, std::string_view entry, BlockShape shape, Half half, Random& random) {
  Operands<S> o(p, entry, shape, random);
  mirror(p, shape.rows, half, o.blocks);
  return o;
}

struct HalfCase {
  EntryCase entry;
  ScalarCase scalar;
  Half half;
};

inline void PrintTo(const HalfCase& c, std::ostream* out) {
  *out << c.entry.entry << " " << text_of(c.entry.in(c.scalar.vectors.field)) << c.scalar.values
       << (c.half == Half::hermitian ? " hermitian" : " symmetric");
}

inline std::vector<HalfCase> half_cases() {
  std::vector<HalfCase> all;
  for (const ScalarCase& s : scalar_cases())
    for (const EntryCase& e : square_entry_cases())
      for (const Half half : {Half::symmetric, Half::hermitian})
        if (half == Half::symmetric || s.vectors.field == Field::complex) all.push_back({e, s, half});
  return all;
}

}  // namespace compound::test
