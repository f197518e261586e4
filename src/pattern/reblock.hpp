// Re-blocking: a matrix given in blocks of one size, seen in blocks of another. Where the new blocks are not full they
// are filled with zeros; what is less than a block at the matrix's edge is kept in single scalars, so that vectors can
// be used as they are.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "entry/kinds.hpp"
#include "pattern/pattern.hpp"

namespace compound {

/// Scalar rows (or columns) gathered into blocks of one size: consecutive ones, at most `block` in a group.
struct Grouping {
  idx block = 1;
  std::vector<idx> start;     ///< [groups + 1], first scalar of each group
  std::vector<idx> group_of;  ///< [all scalars]; of those after the last group, groups()

  idx groups() const { return static_cast<idx>(start.size()) - 1; }
  /// In groups, and of the matrix.
  idx scalars() const { return start.back(); }
  idx all_scalars() const { return static_cast<idx>(group_of.size()); }
  /// Whether vectors can be used as they are.
  bool is_full() const { return idx{block} * groups() == scalars(); }
};

/// Full groups of `block` scalars; what is left over at the end is in none.
Grouping even_groups(idx scalars, idx block);

/// Groups of block rows of size `from` that have the same columns, as the nodes of a mesh make them whose unknowns are
/// not all of the same number; at most `to` scalars, a multiple of `from`.
Grouping node_groups(const PatternView& pattern, idx from, idx to);

/// Scalars at the edge of a matrix that are in no block, as a matrix of their own.
struct Edge {
  Pattern pattern;           ///< of single scalars
  std::vector<slot_t> from;  ///< [entries] place of each among the given values
};

/// A matrix in blocks of rows.block x cols.block, and what even groups leave over.
struct Reblocked {
  idx from = 1;  ///< of the given blocks, which are square
  Grouping rows, cols;
  Pattern pattern;             ///< of the new blocks
  std::optional<Edge> beside;  ///< rows in groups x columns after the last group, where there are such columns
  std::optional<Edge> below;   ///< rows after the last group x all columns, where there are such rows

  BlockShape block() const { return {rows.block, cols.block}; }
  /// Scalars that are stored.
  double stored() const {
    const auto of = [](const std::optional<Edge>& e) { return e ? double(e->from.size()) : 0; };
    return double(pattern.view().entries()) * rows.block * cols.block + of(beside) + of(below);
  }
  /// Scalars of the given blocks over those.
  double fill(count32 given_entries) const { return stored() > 0 ? double(given_entries) * from * from / stored() : 1; }
};

/// Whether rows and columns of `to` are each a multiple or a divisor of `from`.
bool can_be_reblocked(int from, BlockShape to);

/// can_be_reblocked() must be true. Even groups, unless
/// nodes store a tenth less. Throws `argument`, and `too_large` for more scalars than an idx counts.
Reblocked reblocked(const PatternView& pattern, int from, BlockShape to);

/// The values: `given` [entries][from][from] to `blocks` [new entries][columns][rows], both column-major.
template <class S>
void fill_blocks(const Reblocked& r, const PatternView& pattern, const S* given, S* blocks);

/// [entries] values of an edge.
template <class S>
std::vector<S> values_of(const Edge& edge, const S* given) {
  std::vector<S> values;
  values.reserve(edge.from.size());
  for (const slot_t at : edge.from) values.push_back(given[at]);
  return values;
}

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
