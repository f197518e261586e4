// Values of full blocks from the order of rows, as AIJ has them, to block by block.
#pragma once

#include "target.hpp"

namespace compound {

/// Within a block row of `length` blocks, whose scalar rows lie one after the other: scalar (i, j) of block k.
COMPOUND_FN constexpr slot_t place_in_rows(slot_t length, slot_t k, int i, int j, int block_cols) {
  return (i * length + k) * block_cols + j;
}

/// Neighbouring workers share a block row, and write it together.
inline constexpr int workers_of_block_row = 32;

struct order_args {
  const count32* start = nullptr;  ///< [rows + 1], in blocks
  idx rows = 0;
  int block_rows = 1, block_cols = 1;
  const void* from = nullptr;  ///< in rows
  void* to = nullptr;          ///< in blocks, each column-major

  COMPOUND_FN slot_t workers() const { return slot_t(rows) * workers_of_block_row; }
};

/// Every workers_of_block_row-th scalar of a block row, in the order in which they are written. No divisions but small
/// ones: a block row may have more scalars than 32 bits count.
template <class S>
COMPOUND_FN void order_blocks(const order_args& a, slot_t worker) {
  const idx row = idx(worker / workers_of_block_row);
  const int words = a.block_rows * a.block_cols;
  const slot_t first = slot_t(a.start[row]) * words, length = slot_t(a.start[row + 1]) - a.start[row];
  const S* const from = static_cast<const S*>(a.from) + first;
  S* const to = static_cast<S*>(a.to) + first;
  int within = int(worker % workers_of_block_row);  // of its block
  slot_t k = within / words;
  within %= words;
  const int blocks_on = workers_of_block_row / words, words_on = workers_of_block_row % words;
  for (; k < length; k += blocks_on) {
    const int j = within / a.block_rows, i = within - j * a.block_rows;
    to[k * words + within] = from[place_in_rows(length, k, i, j, a.block_cols)];
    within += words_on;
    if (within >= words) {
      within -= words;
      ++k;
    }
  }
}

}  // namespace compound
