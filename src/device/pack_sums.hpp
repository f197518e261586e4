// Sums by lists straight into the words of a layout's slots, and full blocks out of these words again.
#pragma once

#include "pack_values.hpp"
#include "sum_lists.hpp"

namespace compound {

/// The blocks of a matrix as sums: block e is that of list e of `own`. Where other[e] is not negative, the sum of that
/// list of `others` is added to it. Of the lists, places, strides and `to` are not read.
struct block_sums {
  SumArgs own, others;
  const int* other = nullptr;  ///< [entries]; null: all are negative
  bool by_rows = false;        ///< order of a block's scalars in `offset`; else by columns
};

template <class S, int most>
COMPOUND_FN void sum_of_list(const SumArgs& a, slot_t s, int words, S (&sum)[most]) {
  for (int w = 0; w < words; ++w) sum[w] = S{};
  const slot_t begin = a.first ? a.first[s] : s, end = a.first ? a.first[s + 1] : s + 1;
  for (slot_t n = begin; n < end; ++n) {
    const S* const from = static_cast<const S*>(a.from) + a.index[n];
    const int* const offset = a.offset ? a.offset + (a.shape ? a.shape[n] * words : 0) : nullptr;
    for (int w = 0; w < words; ++w) sum[w] += from[offset ? offset[w] : w];
  }
}

/// As `packing` (pack_values.hpp): where the blocks come from, and where their words go.
template <class Entry, class Stored, class MatrixWords>
struct sum_packing {
  using entry_type = Entry;
  using scalar = typename Entry::scalar;

  Entry entry;
  MatrixWords matrix_words;
  block_sums sums;
  Stored* values = nullptr;
  /// The same for all: lists are by entries.
  COMPOUND_FN static idx row_of(slot_t) { return 0; }
};

template <class Entry, class Stored, class MatrixWords>
COMPOUND_FN auto block_at(const sum_packing<Entry, Stored, MatrixWords>& p, slot_t e, idx) {
  using S = typename Entry::scalar;
  constexpr int most = most_words_of<Entry>();
  const int rows = p.entry.rows(), cols = p.entry.cols(), words = rows * cols;
  S sum[most];
  sum_of_list(p.sums.own, e, words, sum);
  const int other = p.sums.other ? p.sums.other[e] : -1;
  if (other >= 0) {
    S more[most];
    sum_of_list(p.sums.others, other, words, more);
    for (int w = 0; w < words; ++w) sum[w] += more[w];
  }
  held_block<S, most> block;
  block.rows = rows;
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) block.scalar[i + j * rows] = p.sums.by_rows ? sum[i * cols + j] : sum[i + j * rows];
  return block;
}

/// f(slot, entry) for one of `shares` shares of a position's entries, which several workers go through. `shift`: from
/// the layout's entries to those of the matrix (entry_runs).
template <class Layout, class F>
COMPOUND_FN void for_each_entry(const Layout& layout, idx position, int share, int shares, slot_t shift, const F& f) {
  const idx count = layout.count(position);
  slot_t slot = layout.first(position);
  idx nth = 0;
  COMPOUND_ROLLED
  for (idx k = 0; k < count; ++k, slot += layout.apart()) {
    if (!layout.present(slot)) continue;
    if (nth % shares == share) f(slot, layout.entry(slot, position, nth) + shift);
    ++nth;
  }
}

/// Where the blocks of packed words go: as `packing` has them.
template <class Entry, class Stored, class MatrixWords>
struct unpacking {
  packing<Entry, Stored, MatrixWords> packed;
  typename Entry::scalar* to = nullptr;
};

/// The block of one slot to where entry `e`, of block row `row`, has it.
template <class Entry, class Stored, class MatrixWords>
COMPOUND_FN void unpack_slot(const unpacking<Entry, Stored, MatrixWords>& u, slot_t slot, slot_t e, idx row) {
  const auto& p = u.packed;
  const auto words = p.matrix_words.at(p.entry, static_cast<const Stored*>(p.values), slot);
  const full_block<typename Entry::scalar> place = p.block(e, row);
  typename Entry::scalar* const to = u.to + (place.first - p.blocks);
  for (int j = 0; j < p.entry.cols(); ++j)
    for (int i = 0; i < p.entry.rows(); ++i) to[i * place.down + j * place.across] = p.entry.block(words, i, j);
}

}  // namespace compound
