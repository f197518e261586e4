// Is a matrix of which a half is stored symmetric or Hermitian? Blocks of a device are compared there with their
// mirrored ones. The answer is yes or "maybe not": what is maybe not, the host looks at (src/storage/symmetry.cpp,
// which says what may differ). Sizes of complex numbers are bounded here from both sides, so that yes is always right.
#pragma once

#include "diagonal.hpp"
#include "entry_runs.hpp"
#include "layout/slices.hpp"

namespace compound {

inline constexpr count32 no_diagonal = ~count32{0};

/// What may differ, relative to the larger scalar or to the diagonal blocks.
template <class Real>
inline constexpr double rounding_of_sums = sizeof(Real) == 4 ? 0x1p-14 : 0x1p-43;

struct symmetry_args {
  layout_args layout;                 ///< of the stored entries
  entry_runs runs;                    ///< of these among all
  const void* blocks = nullptr;       ///< [all entries][side][side], column by column
  const count32* mirrored = nullptr;  ///< [stored entries] of (i, j): the entry (j, i) among all
  const count32* diagonal = nullptr;  ///< [rows] of row i: the entry (i, i), or no_diagonal
  unsigned* may_differ = nullptr;     ///< set to 1 where a pair may differ
};

/// At most the size of a.
template <class S>
COMPOUND_FN real_of<S> least_size(S a) {
  const auto size = [](real_of<S> x) { return x < 0 ? -x : x; };
  if constexpr (is_complex<S>)
    return size(a.re) > size(a.im) ? size(a.re) : size(a.im);
  else
    return size(a);
}

/// a - b, but 0 where they are equal, which infinite ones may be, or both no numbers.
template <class Real>
COMPOUND_FN Real apart(Real a, Real b) {
  return a == b || (a != a && b != b) ? Real{0} : a - b;
}
template <class Real>
COMPOUND_FN complex_number<Real> apart(complex_number<Real> a, complex_number<Real> b) {
  return {apart(a.re, b.re), apart(a.im, b.im)};
}

/// The blocks of one matrix.
template <class S, int side, bool hermitian>
struct mirrored_blocks {
  using R = real_of<S>;
  static constexpr double rounding = rounding_of_sums<R>;
  const symmetry_args& a;

  COMPOUND_FN S at(slot_t entry, int i, int j) const {
    return static_cast<const S*>(a.blocks)[(entry * side + j) * side + i];
  }
  /// Of the largest scalar of a row's diagonal block, at most.
  COMPOUND_FN R size_of_diagonal(idx row) const {
    R most = 0;
    if (a.diagonal[row] == no_diagonal) return most;
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const R size = least_size(at(a.diagonal[row], i, j));
        if (size > most) most = size;
      }
    return most;
  }
  /// Whether the blocks (row, column) and (column, row) surely are each other's (Hermitian) transposes up to rounding.
  COMPOUND_FN bool agree(idx row, idx column, slot_t here, slot_t there) const {
    double of_row = -1, of_column = 0;  // sizes of the diagonal blocks: seldom needed
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        const S one = at(here, i, j), as_stored = at(there, j, i), other = hermitian ? conjugate(as_stored) : as_stored;
        const R size = pivot_size(apart(one, other));
        if (size == 0) continue;
        if (!is_finite(size)) return false;
        const R larger = least_size(one) > least_size(other) ? least_size(one) : least_size(other);
        if (double(size) <= rounding * double(larger)) continue;
        if (of_row < 0) of_row = double(size_of_diagonal(row)), of_column = double(size_of_diagonal(column));
        // At most rounding times their geometric mean; no where one of them is 0.
        if (!((double(size) / of_row) * (double(size) / of_column) <= rounding * rounding)) return false;
      }
    return true;
  }
};

/// Workers that share the entries of a position: rows alone are too few to keep a device busy.
inline constexpr int sharers_of_position = 4;
/// Neighbouring workers have neighbouring positions, whose slots lie side by side.
COMPOUND_FN constexpr slot_t workers_of_symmetry(idx positions) {
  return slot_t((positions + 31) / 32) * 32 * sharers_of_position;
}

template <class S, int side, bool hermitian>
COMPOUND_FN void compare_with_mirrored(const symmetry_args& a, slot_t worker) {
  const slot_t warp = worker / 32;
  const idx position = idx(warp / sharers_of_position * 32 + worker % 32);
  if (position >= a.layout.positions) return;
  const slices<dynamic, Occupancy::lengths, RowOrder::any, patch_columns<>> layout(a.layout);
  const mirrored_blocks<S, side, hermitian> blocks{a};
  const auto columns = layout.columns_of(position);
  const slot_t first_entry = layout.first_entry[position];
  const slot_t shift = a.runs.runs > 0 ? a.runs.shift(first_entry) : 0;
  COMPOUND_ROLLED
  for (idx k = idx(warp % sharers_of_position); k < layout.count(position); k += sharers_of_position) {
    const slot_t entry = first_entry + k;
    const idx column = columns.at(layout.first(position) + k * layout.apart());
    if (!blocks.agree(layout.row(position), column, entry + shift, slot_t(a.mirrored[entry]))) *a.may_differ = 1;
  }
}

}  // namespace compound
