// Products whose workers share the slots evenly, whatever rows they are of: coordinates. The sums of rows are those of
// segments; what a chunk adds to a row that began before it goes to a list of carries, which a second kernel adds up.
//
// Source: Aliaga et al. 2020, section 3; theirs adds carries by atomics, here they come in order: the same bits always.
#pragma once

#include "spmv_rows.hpp"

namespace compound {

#if defined(__CUDA_ARCH__)

inline constexpr int lanes_of_chunk = 32;

/// Adds to `sum` the sums of the lanes before that are of the same row, whose lanes are neighbours.
template <class S>
__device__ void sum_over_segments(S* sum, int n, idx row, int lane) {
  for (int step = 1; step < lanes_of_chunk; step *= 2) {
    const bool same = shuffle_up(row, step) == row && lane >= step;
    for (int i = 0; i < n; ++i) {
      const S other = shuffle_up(sum[i], step);
      if (same) sum[i] += other;
    }
  }
}

/// One warp's chunk: op(entry) x of its slots, lane by lane and step by step. `carries`: [chunks][rows of op(block)],
/// of which one is written where the chunk begins within a row.
///
/// All lanes of a warp must call, with y holding z (or 0): a chunk adds to it.
template <Op op, class Product, class S>
__device__ void multiply_chunk(const Product& p, slot_t chunk, int lane, S* carries) {
  constexpr int most = most_rows_of<op, typename Product::entry_type>;
  const int out = rows_of<op>(p.entry);
  const slot_t first = chunk * p.layout.chunk, slots = p.layout.positions;
  if (first >= slots) return;
  const idx begun_before =
      first > 0 && p.layout.row(idx(first - 1)) == p.layout.row(idx(first)) ? p.layout.row(idx(first)) : idx(-1);
  const auto store = [&](idx row, const S* sum) {
    if (row == begun_before)
      for (int i = 0; i < out; ++i) carries[chunk * out + i] = sum[i];
    else
      store_block<Update::add>(p, row, out, sum);
  };
  // The row whose sum is not finished yet, the same in every lane.
  idx open_row = -1;
  S open[most];
  for (slot_t from = first; from < first + p.layout.chunk && from < slots; from += lanes_of_chunk) {
    const slot_t slot = from + lane;
    const bool active = slot < slots;
    const idx row = active ? p.layout.row(idx(slot)) : idx(-1);
    S sum[most];
    for (int i = 0; i < out; ++i) sum[i] = S{};
    if (active) add_entries<op, 1>(p, idx(slot), slot, 1, sum);
    sum_over_segments(sum, out, row, lane);
    if (open_row >= 0) {
      if (row == open_row)
        for (int i = 0; i < out; ++i) sum[i] += open[i];
      else if (lane == 0)  // it ended with the step before
        store(open_row, open);
    }
    const idx next = shuffle_down<lanes_of_chunk>(row, 1);
    if (active && lane + 1 < lanes_of_chunk && next != row) store(row, sum);
    open_row = shuffle_from(row, lanes_of_chunk - 1);
    for (int i = 0; i < out; ++i) open[i] = shuffle_from(sum[i], lanes_of_chunk - 1);
  }
  if (open_row >= 0 && lane == 0) store(open_row, open);
}

/// y(row) += what the chunks after `chunk` add to the row that is open at its end, in their order. For each chunk one
/// worker, which does so if the row begins in it.
template <Op op, class Product, class S>
__device__ void add_carries(const Product& p, slot_t chunk, const S* carries) {
  const int out = rows_of<op>(p.entry);
  const slot_t size = p.layout.chunk, slots = p.layout.positions, first = chunk * size;
  slot_t next = first + size;
  if (next >= slots) return;
  const idx row = p.layout.row(idx(next));
  if (p.layout.row(idx(next - 1)) != row) return;
  if (first > 0 && p.layout.row(idx(first - 1)) == row) return;  // it began before
  S sum[most_rows_of<op, typename Product::entry_type>];
  for (int i = 0; i < out; ++i) sum[i] = S{};
  for (slot_t c = chunk + 1; next < slots && p.layout.row(idx(next)) == row; ++c, next += size)
    for (int i = 0; i < out; ++i) sum[i] += carries[c * out + i];
  store_block<Update::add>(p, row, out, sum);
}

#endif

}  // namespace compound
