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

/// The other way round: the words of one slot to the full block that `p` has for entry `e`, of block row `row`.
template <class Packing>
COMPOUND_FN void unpack_slot(const Packing& p, slot_t slot, slot_t e, idx row) {
  using S = typename Packing::scalar;
  const auto words = p.matrix_words.at(p.entry, p.values, slot);
  const full_block<S> block = p.block(e, row);
  S* const to = const_cast<S*>(block.first);
  for (int j = 0; j < p.entry.cols(); ++j)
    for (int i = 0; i < p.entry.rows(); ++i) to[i * block.down + j * block.across] = p.entry.block(words, i, j);
}

}  // namespace compound
