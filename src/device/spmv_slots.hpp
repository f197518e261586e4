// Products whose workers share the slots evenly, whatever rows they are of: compressed coordinates, a block of threads
// each chunk. The sums of rows are those of segments: within a thread, over a warp, over a chunk; what a chunk adds to
// a row that began before it is a carry, which a second kernel adds.
//
// Source: Aliaga et al. 2020, section 2. There every warp adds to y by atomics; here sums come in a fixed order, and
// atomics add what crosses the border of a chunk, and only where a plan says so (Carries::atomic).
#pragma once

#include "spmv_rows.hpp"

namespace compound {

#if defined(__CUDA_ARCH__)

inline constexpr int lanes_of_warp = 32;

/// What a thread's entries add up to: `head` is the sum of their first row, `tail` that of their last; where these are
/// one there is no head.
template <class S, int most>
struct thread_sums {
  idx first_row = -1, last_row = -1;  ///< counted without empty ones; -1: no entries
  S head[most], tail[most];

  __device__ bool has_head() const { return first_row != last_row; }
};

/// Words of one entry, read here and now where they leave registers for others: a store to y, which the compiler cannot
/// know not to lie on them, must not be waited for.
template <class Product>
__device__ auto words_now(const Product& p, slot_t slot) {
  constexpr typename Product::entry_type entry{};
  constexpr int most_bytes = 64;
  if constexpr (decltype(p.layout)::each * entry.words() * int(sizeof(typename Product::stored_type)) <= most_bytes)
    return held_matrix_words<decltype(p.matrix_words)>{p.matrix_words}.at(p.entry, p.values, p.value_of.at(slot));
  else
    return p.words(slot);
}

/// A thread's entries of a chunk, as they are read: `count` of them, from entry k on.
template <Op op, class Product>
struct thread_entries {
  using scalar = typename Product::scalar;
  static constexpr int each = decltype(Product::layout)::each;

  idx k;
  int count;
  decltype(words_now(*static_cast<const Product*>(nullptr), 0)) words[each] = {};
  scalar x[each][most_cols_of<op, typename Product::entry_type>];
  idx row[each] = {};

  /// Words wait for nothing: they come first.
  __device__ thread_entries(const Product& p, slot_t chunk_begin, idx first, idx entries)
      : k(first),
        count(k >= entries         ? 0
              : entries - k < each ? entries - k
                                   : each) {
    for (int e = 0; e < each; ++e)
      if (e < count) words[e] = words_now(p, chunk_begin + k + e);
  }
  template <class Chunk>
  __device__ void load_x(const Product& p, const Chunk& chunk) {
    idx column[each] = {};
    chunk.template columns_of<each>(k, count, column);
    chunk.template rows_of<each>(k, count, row);
    for (int e = 0; e < each; ++e)
      if (e < count) p.x_words.load(p.x, column[e], cols_of<op>(p.entry), x[e]);
  }
};

/// Sums them. Rows that begin and end among them go to whole_row(row, sum).
template <Op op, class Product, class S, int most, class F>
__device__ void sum_entries(const Product& p, const thread_entries<op, Product>& of, thread_sums<S, most>& sums,
                            const F& whole_row) {
  const int out = rows_of<op>(p.entry);
  const auto clear = [&] {
    for (int i = 0; i < out; ++i) sums.tail[i] = S{};
  };
  clear();
  for (int e = 0; e < of.each; ++e)
    if (e < of.count) {
      if (e == 0) {
        sums.first_row = of.row[0];
      } else if (of.row[e] != of.row[e - 1]) {
        if (of.row[e - 1] == sums.first_row)
          for (int i = 0; i < out; ++i) sums.head[i] = sums.tail[i];
        else
          whole_row(of.row[e - 1], sums.tail);
        clear();
      }
      sums.last_row = of.row[e];
      p.entry.template madd<op>(of.words[e], of.x[e], sums.tail);
    }
}

/// Adds to each lane's sums what the lanes before have of the same rows: the sum of a row is then the tail of its last
/// lane, or the head of the next.
template <class S, int most>
__device__ void sum_over_segments(thread_sums<S, most>& sums, int n, int lane) {
  const idx row_before = shuffle_up(sums.last_row, 1);
  const bool goes_on = lane > 0 && row_before == sums.first_row;
  const unsigned begins = __ballot_sync(0xffffffffu, !goes_on || sums.has_head());
  // The lanes whose segment began `step` lanes before or earlier, the same number in all lanes: as many steps as the
  // longest segment needs.
  unsigned within = ~begins;
  for (int step = 1; within != 0; within &= within << step, step *= 2)
    for (int i = 0; i < n; ++i) {
      const S other = shuffle_up(sums.tail[i], step);
      if (within >> lane & 1) sums.tail[i] += other;
    }
  for (int i = 0; i < n; ++i) {
    const S other = shuffle_up(sums.tail[i], 1);
    if (goes_on && sums.has_head()) sums.head[i] += other;
  }
}

/// y(row) += sum while others add to it too.
template <class Product, class S>
__device__ void add_block_atomically(const Product& p, idx row, int n, const S* sum) {
  for (int i = 0; i < n; ++i) {
    const slot_t at = p.y_words.at(row, n, i);
    p.following.take(at, sum[i]);
    add_atomically(p.y + at, sum[i]);
  }
}

/// Which of a chunk's entries are a warp's, and the rows at its borders, counted without empty ones; -1: none there.
struct warp_share {
  idx begin, end;
  idx row_before, row_after;

  template <class Chunk>
  __device__ warp_share(const Chunk& chunk, idx entries, int warp, int of_warp)
      : begin(warp * of_warp),
        end(begin + of_warp < entries ? begin + of_warp : entries),
        row_before(begin >= entries            ? -1
                   : begin > 0                 ? chunk.row_of(begin - 1)
                   : chunk.begins_within_row() ? chunk.row
                                               : -1),
        row_after(end < entries ? chunk.row_of(end) : -1) {}
};

/// One chunk, by its block of threads: op(entry) x of its slots. `carries`: [chunks][rows of op(block)], of which one
/// is written where a chunk begins within a row and carries are ordered.
///
/// All threads of a block must call. Rows without entries are not written. Where y is added to, it holds z (or 0).
template <Op op, Update update, Carries how, class Product, class S>
__device__ void multiply_chunk(const Product& p, slot_t number, int thread, S* carries) {
  constexpr int each = decltype(p.layout)::each, warps = decltype(p.layout)::threads / lanes_of_warp,
                most = most_rows_of<op, typename Product::entry_type>;
  // What each warp adds to the row that is open where it begins.
  alignas(16) __shared__ unsigned char memory[warps][most * sizeof(S)];
  const auto begun = [&](int warp) { return reinterpret_cast<S*>(memory[warp]); };
  const int out = rows_of<op>(p.entry), lane = thread % lanes_of_warp, warp = thread / lanes_of_warp;
  const slot_t begin = number * p.layout.chunk, left = p.layout.positions - begin;
  const idx entries = idx(left < p.layout.chunk ? left : slot_t(p.layout.chunk));
  thread_entries<op, Product> of_thread(p, begin, thread * each, entries);
  const auto chunk = p.layout.in_chunk(number);
  of_thread.load_x(p, chunk);
  const warp_share share(chunk, entries, warp, lanes_of_warp * each);

  const auto store = [&](idx row, const S* sum) {
    const bool is_shared =
        how == Carries::atomic && chunk.chunks_after() > 0 && row == chunk.row_of(entries - 1);  // with chunks after it
    if (is_shared)
      add_block_atomically(p, p.layout.block_row(row), out, sum);
    else
      store_block<update>(p, p.layout.block_row(row), out, sum);
  };
  bool goes_on = false;  // the row of this thread's tail began in its warp, and goes on in the next
  const auto settle = [&](idx row, const S* sum) {
    if (row == share.row_before)
      for (int i = 0; i < out; ++i) begun(warp)[i] = sum[i];
    else if (row == share.row_after)
      goes_on = true;
    else
      store(row, sum);
  };
  // A row's sum in the warps from this one on, which it was open before.
  const auto add_warps = [&](int from, idx row, S* sum) {
    for (int w = from; w < warps && w * lanes_of_warp * each < entries; ++w) {
      if (chunk.row_of(w * lanes_of_warp * each) != row) break;
      for (int i = 0; i < out; ++i) sum[i] += begun(w)[i];
    }
  };

  thread_sums<S, most> sums;
  sum_entries(p, of_thread, sums, store);
  __syncthreads();  // the sums of the chunk before are no longer read
  if (share.begin < entries) {
    const idx k = of_thread.k, row = shuffle_from(sums.first_row, 0);
    const bool has_others = k < entries && (sums.first_row != row || sums.last_row != row);
    if (__ballot_sync(0xffffffffu, has_others) == 0) {
      for (int i = 0; i < out; ++i) sums.tail[i] = sum_over_lanes<lanes_of_warp>(sums.tail[i]);
      if (lane == 0) settle(sums.last_row, sums.tail);
    } else {
      sum_over_segments(sums, out, lane);
      if (sums.has_head()) settle(sums.first_row, sums.head);
      const idx next = shuffle_down<lanes_of_warp>(sums.first_row, 1);
      if (k < entries && (k + each >= share.end || next != sums.last_row)) settle(sums.last_row, sums.tail);
    }
  }
  __syncthreads();
  if (goes_on) {
    add_warps(warp + 1, sums.last_row, sums.tail);
    store(sums.last_row, sums.tail);
  }
  if (thread == 0 && chunk.begins_within_row()) {
    S sum[most];
    for (int i = 0; i < out; ++i) sum[i] = S{};
    add_warps(0, chunk.row, sum);
    if constexpr (how == Carries::atomic)
      add_block_atomically(p, p.layout.block_row(chunk.row), out, sum);
    else
      for (int i = 0; i < out; ++i) carries[number * out + i] = sum[i];
  }
}

/// y(row) += what the chunks after one add to the row that is open at its end, if the row begins in it; in their order,
/// or 32 sums of every 32nd for a row over many. One worker for each chunk; all lanes of a warp must call.
template <Op op, class Product, class S>
__device__ void add_carries(const Product& p, slot_t number, int lane, const S* carries) {
  constexpr idx few = 8;
  const int out = rows_of<op>(p.entry);
  const bool exists = number * p.layout.chunk < p.layout.positions;
  const idx after = exists ? p.layout.chunks[number].chunks_after() : 0;
  S sum[most_rows_of<op, typename Product::entry_type>];
  const auto sum_up = [&](slot_t first, idx from, idx count, idx step) {
    for (int i = 0; i < out; ++i) sum[i] = S{};
    for (idx c = from; c < count; c += step)
      for (int i = 0; i < out; ++i) sum[i] += carries[(first + c) * out + i];
  };
  for (unsigned many = __ballot_sync(0xffffffffu, after > few); many != 0; many &= many - 1) {
    const int owner = __ffs(int(many)) - 1;
    sum_up(shuffle_from(number, owner) + 1, lane, shuffle_from(after, owner), lanes_of_warp);
    for (int i = 0; i < out; ++i) sum[i] = sum_over_lanes<lanes_of_warp>(sum[i]);
    if (lane == owner) store_block<Update::add>(p, p.layout.last_row(number), out, sum);
  }
  if (after == 0 || after > few) return;
  sum_up(number + 1, 0, after, 1);
  store_block<Update::add>(p, p.layout.last_row(number), out, sum);
}

#endif

}  // namespace compound
