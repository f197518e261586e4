// Re-blocking: a matrix given in blocks of one size, seen in blocks of another. Where the new blocks are not full they
// are filled with zeros.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "pattern.hpp"

namespace compound {

/// Scalar rows (or columns) gathered into blocks of one size: consecutive ones, at most `block` in a group.
struct Grouping {
  idx block = 1;
  std::vector<idx> start;     ///< [groups + 1], first scalar of each group
  std::vector<idx> group_of;  ///< [scalars]

  idx groups() const { return static_cast<idx>(start.size()) - 1; }
  idx scalars() const { return start.back(); }
  /// Whether vectors can be used as they are.
  bool is_full() const { return idx{block} * groups() == scalars(); }
};

/// Groups of `block` scalars; the last may be short.
Grouping even_groups(idx scalars, idx block);

/// Groups of block rows of size `from` that have the same columns, as the nodes of a mesh make them whose unknowns are
/// not all of the same number; at most `to` scalars, a multiple of `from`.
Grouping node_groups(const PatternView& pattern, idx from, idx to);

struct Reblocked {
  idx from = 1, to = 1;
  Grouping rows, cols;
  Pattern pattern;  ///< in blocks of `to`

  /// Scalars of the given blocks over scalars of the new ones.
  double fill(count32 given_entries) const {
    const double stored = double(pattern.view().entries()) * to * to;
    return stored > 0 ? double(given_entries) * from * from / stored : 1;
  }
};

/// `to` must be a multiple or a divisor of `from`. Of even groups and nodes those that make fewer blocks. Throws
/// `argument`, and `too_large` for more scalars than an idx counts.
Reblocked reblocked(const PatternView& pattern, int from, int to);

/// The largest block size, 2 to 8, in which a pattern of single scalars (rows' starts [rows + 1], columns) seems to be
/// filled to `fill` at least, by even groups of rows or by rows of equal columns; 1 if there is none. Looks at some
/// windows of rows only.
template <class Index>
int likely_block_size(std::span<const Index> start, const Index* column, double fill);

/// The values: `given` [entries][from][from] to `blocks` [new entries][to][to], both column-major.
template <class S>
void fill_blocks(const Reblocked& r, const PatternView& pattern, const S* given, S* blocks);

/// A vector in groups, zeros between them, and back.
template <class S>
void to_groups(const Grouping& g, const S* x, S* grouped) {
  for (idx k = 0; k < g.groups(); ++k) {
    S* const at = grouped + slot_t{k} * g.block;
    const idx n = g.start[k + 1] - g.start[k];
    std::copy_n(x + g.start[k], n, at);
    std::fill(at + n, at + g.block, S{});
  }
}

template <class S>
void from_groups(const Grouping& g, const S* grouped, S* y) {
  for (idx k = 0; k < g.groups(); ++k)
    std::copy_n(grouped + slot_t{k} * g.block, g.start[k + 1] - g.start[k], y + g.start[k]);
}

}  // namespace compound
