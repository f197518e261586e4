// What a device runs: one kernel's work over its grid of workers. The source that NVRTC compiles names a `Form` (all
// that is known about a plan) and one of the functions here (src/cuda/kernel_source.cpp).
#pragma once

#include "diagonal.hpp"
#include "entry/entries.hpp"
#include "fill_slots.hpp"
#include "layout/chunk_words.hpp"
#include "layout/compressed_rows.hpp"
#include "layout/coordinates.hpp"
#include "layout/diagonal_slices.hpp"
#include "layout/slices.hpp"
#include "pack_sums.hpp"
#include "spmv_components.hpp"
#include "spmv_patches.hpp"
#include "spmv_slots.hpp"
#include "spmv_vectors.hpp"

namespace compound {

struct product_args {
  layout_args layout;
  slot_t x_blocks = 0, y_blocks = 0, value_slots = 0;
  const void* values = nullptr;
  const count32* value_slot = nullptr;
  const void* codes = nullptr;  ///< [slots] items of `values`: codes=blocks8 and blocks16; [chunks] chunk_place
  const void* table = nullptr;  ///< that `values` are codes into: codes=scalars8, chunks8
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
  unsigned* counter = nullptr;  ///< [2], zeros before and after each kernel; Balance::counted only
  void* carries = nullptr;      ///< scalars between the two kernels of a product: [chunks][rows of op(block)] of one by
                                ///< slots with ordered carries, [partials][rows] of one by patches
  dot_args dot;                 ///< forms that say what follows
  smoothing_args smoothing;     ///< Update::smooth
};

/// Of several vectors, of which the product's are the first.
struct vectors_args {
  product_args product;
  vectors_apart apart;
  slot_t results_apart = 0;  ///< bytes from one result of a dot product to the next
};

struct pack_args {
  layout_args layout;
  const void* blocks = nullptr;  ///< of the entries [from, to)
  void* values = nullptr;
  slot_t from = 0, to = 0;
  const count32* start = nullptr;  ///< [rows + 1], where `blocks` are all values in the order of rows
  idx rows = 0;
};

/// Of a part of the matrix: its entries [first, last) are those among [from, to) of the whole.
struct pack_part_args {
  pack_args whole;
  entry_runs runs;
  slot_t first = 0, last = 0;
};

/// Sums of all entries of the matrix, to the words of a layout that has them or, by `runs`, some of them.
struct pack_sums_args {
  layout_args layout;
  block_sums sums;
  void* values = nullptr;
  entry_runs runs;
};

/// Warps that share the entries of 32 positions where these become blocks, or blocks become these: rows alone are too
/// few to keep a device busy.
inline constexpr int shares_of_positions = 4;

/// One worker's share of f(slot, entry of the matrix, its block row).
template <class Layout, class Packing, class F>
COMPOUND_FN void for_each_slot(const layout_args& l, const entry_runs& runs, const Packing& p, slot_t worker,
                               const F& f) {
  if constexpr (Layout::slots_are_entries) {
    const slot_t entry = worker + (runs.runs > 0 && worker < l.slots ? runs.shift(worker) : 0);
    if (worker < l.slots) f(worker, entry, p.row_of(entry));
  } else {
    const slot_t warp = worker / 32, position = warp / shares_of_positions * 32 + worker % 32;
    if (position >= l.positions) return;
    const Layout layout(l);
    const slot_t shift = runs.runs > 0 ? runs.shift(layout.first_entry[position]) : 0;
    const idx row = p.row_of(layout.first_entry[position] + shift);
    for_each_entry(layout, idx(position), int(warp % shares_of_positions), shares_of_positions, shift,
                   [&](slot_t slot, slot_t entry) { f(slot, entry, row); });
  }
}

/// values_t(slot) = values(value_slot[slot]), word by word: A's values in the order of a layout of A^T.
struct regroup_args {
  slot_t slots = 0, value_slots = 0;
  const count32* value_slot = nullptr;
  const void* values = nullptr;
  void* to = nullptr;
};

template <slot_t Group, slot_t Padding = usual_padding<Group>>
COMPOUND_FN word_map<Group, Padding> map_over(slot_t items) {
  word_map<Group, Padding> map;
  if constexpr (Group == all_items) map.stride = items;
  return map;
}

COMPOUND_FN own_values value_index(const product_args&, own_values) { return {}; }
COMPOUND_FN one_value value_index(const product_args&, one_value) { return {}; }
template <class Index>
COMPOUND_FN listed_values<Index> value_index(const product_args& a, listed_values<Index>) {
  return {static_cast<const Index*>(a.value_slot)};
}
template <class Index, class Base, Cache cache>
COMPOUND_FN coded_values<Index, Base, cache> value_index(const product_args& a, coded_values<Index, Base, cache>) {
  return {value_index(a, Base{}), static_cast<const Index*>(a.codes)};
}
template <class Base, Cache cache>
COMPOUND_FN values_by_bit<Base, cache> value_index(const product_args& a, values_by_bit<Base, cache>) {
  return {value_index(a, Base{}), static_cast<const count32*>(a.codes)};
}

/// Words that are no codes know no table. Args: product_args, or the like.
template <class Args, class WordsCode>
COMPOUND_FN void set_code(WordsCode&, const Args&) {}
template <class Args, class Item, Cache cache>
COMPOUND_FN void set_code(table_words<Item, cache>& words, const Args& a) {
  words.table = static_cast<const Item*>(a.table);
}
template <class Args, class Item, slot_t Chunk, Cache cache>
COMPOUND_FN void set_code(chunk_words<Item, Chunk, cache>& words, const Args& a) {
  words.table = static_cast<const Item*>(a.table);
  words.place = static_cast<const chunk_place*>(a.codes);
  words.chunk = slot_t(a.layout.height);
}

template <class Form>
COMPOUND_FN auto matrix_map_over(slot_t slots) {
  return map_over<Form::word_group, Form::word_padding>(slots);
}

template <class Form>
using words_of_form =
    matrix_words<Form::word_group, Form::word_order, typename Form::words_code, slot_t(Form::word_padding)>;

/// Most forms have one.
template <class Form>
constexpr int vectors_of() {
  if constexpr (requires { Form::vectors; })
    return Form::vectors;
  else
    return 1;
}

/// Products whose workers take whole entries hold their words, where that is of use: for wide accesses, for several
/// vectors, or where words stand in several places of a block (kinds that do not keep it whole).
template <class Form>
COMPOUND_FN auto words_of_product(slot_t slots) {
  using Entry = typename Form::entry;
  using Words = words_of_form<Form>;
  constexpr bool takes_whole = Form::traversal != Traversal::components && !Form::words_code::is_table;
  if constexpr (takes_whole && Form::word_group == 1 &&
                holds_words<typename Form::stored>(Entry{}.words(), Form::word_padding))
    return wide_matrix_words<Form::word_order, Form::cache, Form::word_padding>{matrix_map_over<Form>(slots)};
  else if constexpr (takes_whole &&
                     (vectors_of<Form>() > 1 || (Form::cache == Cache::stream && requires { Entry::word_count; })))
    return held_matrix_words<Words>{Words{matrix_map_over<Form>(slots)}};
  else
    return Words{matrix_map_over<Form>(slots)};
}

/// Most forms do not say it.
template <class Form>
constexpr Follow follow_of() {
  if constexpr (requires { Form::follow; })
    return Form::follow;
  else
    return Follow::nothing;
}

template <Follow follow, class S, int vectors = 1>
COMPOUND_FN auto following_of(const dot_args& a) {
  if constexpr (!has_dot(follow))
    return nothing_follows{};
  else if constexpr (vectors > 1)
    return dots_follow<follow, S>{static_cast<const S*>(a.w)};
  else
    return dot_follows<follow, S>{static_cast<const S*>(a.w)};
}

template <Update update, class S>
COMPOUND_FN auto smoothing_of(const smoothing_args& a) {
  if constexpr (update == Update::smooth)
    return smoothing<S>(a);
  else if constexpr (update == Update::correct)
    return correction<S>(a);
  else
    return no_smoothing{};
}

template <class Form>
COMPOUND_FN auto product_over(const product_args& a) {
  using Entry = typename Form::entry;
  using S = typename Entry::scalar;
  using Values = typename Form::value_index;
  using Words = decltype(words_of_product<Form>(0));
  using Vector = vector_words<Form::vector_group, Form::vector_access>;
  using Following = decltype(following_of<follow_of<Form>(), S, vectors_of<Form>()>(a.dot));
  using Smoothing = decltype(smoothing_of<Form::update, S>(a.smoothing));
  product<Entry, typename Form::stored, typename Form::layout, Words, Vector, Values, Following, const S*, Smoothing> p{
      .entry = {}, .layout = typename Form::layout(a.layout), .smoothing = smoothing_of<Form::update, S>(a.smoothing)};
  p.matrix_words = words_of_product<Form>(a.value_slots);
  p.x_words.map = map_over<Form::vector_group>(a.x_blocks);
  p.y_words.map = map_over<Form::vector_group>(a.y_blocks);
  p.value_of = value_index(a, Values{});
  if constexpr (requires { p.matrix_words.code; }) set_code(p.matrix_words.code, a);
  p.values = static_cast<const typename Form::stored*>(a.values);
  p.x = static_cast<const S*>(a.x);
  p.z = static_cast<const S*>(a.z);
  p.y = static_cast<S*>(a.y);
  p.following = following_of<follow_of<Form>(), S, vectors_of<Form>()>(a.dot);
  return p;
}

/// How a product's workers share it.
enum class Sharing {
  rows,         ///< a block row each, or `lanes` of them
  scalar_rows,  ///< a scalar row: words of neighbouring block rows are read together
  columns,      ///< `lanes` walk a block row's columns
  slots         ///< a block of threads each chunk of slots
};

template <class Form>
inline constexpr Sharing sharing_of = Form::traversal == Traversal::rows    ? Sharing::rows
                                      : Form::traversal == Traversal::slots ? Sharing::slots
                                      : Form::layout::interleaved           ? Sharing::scalar_rows
                                                                            : Sharing::columns;

/// Workers that a product of this form has, whole warps.
template <class Form>
COMPOUND_FN slot_t workers_of(const layout_args& l) {
  constexpr Sharing sharing = sharing_of<Form>;
  if constexpr (sharing == Sharing::slots)
    return (slot_t(l.positions) + l.height - 1) / l.height * Form::layout::threads;
  constexpr int rows_a_warp = 32 / Form::lanes;
  const slot_t warps = (slot_t(l.positions) + rows_a_warp - 1) / rows_a_warp;
  return warps * 32 * (sharing == Sharing::scalar_rows ? rows_of<Form::op>(typename Form::entry{}) : 1);
}

#if defined(__CUDA_ARCH__)

/// Where a worker of a product by rows is.
template <class Form>
struct place_of_worker {
  static constexpr int lanes = Form::lanes, rows = rows_of<Form::op>(typename Form::entry{});
  int lane;
  slot_t warp, position;

  __device__ explicit place_of_worker(slot_t worker) : lane(int(worker % lanes)), warp(worker / 32) {
    constexpr int rows_a_warp = 32 / lanes;
    position = (sharing_of<Form> == Sharing::scalar_rows ? warp / rows : warp) * rows_a_warp + worker % 32 / lanes;
  }
  __device__ int component() const { return int(warp % rows); }  ///< Sharing::scalar_rows
};

/// One worker's share. Workers of a warp go together.
template <class Form, class Product>
__device__ void multiply_worker(const Product& p, slot_t worker, [[maybe_unused]] void* carries) {
  using Entry = typename Form::entry;
  constexpr Sharing sharing = sharing_of<Form>;
  constexpr int lanes = Form::lanes, n = rows_of<Form::op>(Entry{});
  const place_of_worker<Form> at(worker);
  const auto position = idx(at.position);
  const bool active = at.position < p.layout.positions;
  if constexpr (sharing == Sharing::slots)
    multiply_chunk<Form::op, Form::update, Form::carries>(p, worker / Form::layout::threads,
                                                          int(worker % Form::layout::threads),
                                                          static_cast<typename Entry::scalar*>(carries));
  else if constexpr (sharing == Sharing::scalar_rows)
    multiply_scalar_row<Form::op, Form::update, lanes, Form::at_once>(p, position, at.component(), at.lane, active);
  else if constexpr (sharing == Sharing::columns)
    multiply_row_by_columns<Form::op, Form::update, lanes, Form::at_once, n, cols_of<Form::op>(Entry{})>(
        p, position, at.lane, active);
  else
    multiply_row<Form::op, Form::update, lanes, Form::at_once>(p, position, at.lane, active);
}

/// The same of several vectors.
template <class Form, class Product>
__device__ void multiply_worker_of_vectors(const Product& p, const vectors_apart& apart, slot_t worker) {
  using Entry = typename Form::entry;
  constexpr Sharing sharing = sharing_of<Form>;
  constexpr int lanes = Form::lanes, n = rows_of<Form::op>(Entry{}), vectors = Form::vectors;
  const place_of_worker<Form> at(worker);
  const auto position = idx(at.position);
  const bool active = at.position < p.layout.positions;
  if constexpr (sharing == Sharing::scalar_rows)
    multiply_scalar_row_of_vectors<Form::op, Form::update, lanes, vectors>(p, apart, position, at.component(), at.lane,
                                                                           active);
  else if constexpr (sharing == Sharing::columns)
    multiply_row_by_columns_of_vectors<Form::op, Form::update, lanes, vectors, n, cols_of<Form::op>(Entry{})>(
        p, apart, position, at.lane, active);
  else
    multiply_row_of_vectors<Form::op, Form::update, lanes, vectors>(p, apart, position, at.lane, active);
}

/// work(block) for every block of workers, in the form's balance. All threads of a block call together.
template <Balance balance, class Work>
__device__ void for_each_block(slot_t blocks, unsigned* counter, const Work& work) {
  if constexpr (balance == Balance::grid) {
    work(blockIdx.x);
  } else if constexpr (balance == Balance::fixed) {
    for (slot_t b = blockIdx.x; b < blocks; b += gridDim.x) work(b);
  } else {
    __shared__ unsigned next;
    for (;;) {
      if (threadIdx.x == 0) next = atomicAdd(counter, 1u);
      __syncthreads();
      const slot_t b = next;
      __syncthreads();
      if (b >= blocks) break;
      work(b);
    }
    // The last block to come here leaves the counter as it was: no launch before the next product for that.
    if (threadIdx.x == 0 && atomicAdd(counter + 1, 1u) == gridDim.x - 1) counter[0] = counter[1] = 0;
  }
}

/// As settle(), of a product whose kernel is its only one.
template <class S, int vectors>
__device__ void settle_vectors(sums<S, vectors>& mine, const vectors_args& a, slot_t block, slot_t blocks) {
  const dot_args& dot = a.product.dot;
  sums<S, vectors> total = sum_over_block(mine);
  mine = {};
  if (!sum_over_grid(dot.sum, block, blocks, total, &total) || threadIdx.x != 0) return;
  dot_args one = dot;
  for (int v = 0; v < vectors; ++v) {
    one.result = static_cast<char*>(dot.result) + v * a.results_apart;
    give_result(one, total.of[v]);
  }
}

template <class Form>
__device__ void multiply_all_vectors(const vectors_args& a) {
  constexpr bool dots = has_dot(follow_of<Form>());
  auto p = product_over<Form>(a.product);
  sums<typename Form::entry::scalar, dots ? Form::vectors : 1> mine{};
  if constexpr (dots) p.following.sums = mine.of;
  const slot_t blocks = (workers_of<Form>(a.product.layout) + blockDim.x - 1) / blockDim.x;
  for_each_block<Form::balance>(blocks, a.product.counter, [&](slot_t b) {
    multiply_worker_of_vectors<Form>(p, a.apart, b * blockDim.x + threadIdx.x);
    if constexpr (dots) settle_vectors(mine, a, b, blocks);
  });
}

/// Whether what follows the products of a loop is over.
template <class Form>
__device__ bool has_stopped(const dot_args& a) {
  if constexpr (follow_of<Form>() != Follow::nothing) return a.stop && *a.stop;
  return false;
}

template <class Form>
__device__ void multiply_all(const product_args& a) {
  if (has_stopped<Form>(a.dot)) return;
  const auto p = product_over<Form>(a);
  const slot_t blocks = (workers_of<Form>(a.layout) + blockDim.x - 1) / blockDim.x;
  for_each_block<Form::balance>(blocks, a.counter, [&](slot_t b) {
    multiply_worker<Form>(p, b * blockDim.x + threadIdx.x, a.carries);
    settle(p.following, a.dot, b, blocks);
  });
}

/// What products by slots left over, one worker a chunk, whole warps.
template <class Form>
__device__ void add_all_carries(const product_args& a) {
  if (has_stopped<Form>(a.dot)) return;
  const auto p = product_over<Form>(a);
  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  add_carries<Form::op>(p, worker, int(worker % 32), static_cast<const typename Form::entry::scalar*>(a.carries));
  settle(p.following, a.dot, blockIdx.x, gridDim.x);
}

/// Of the half of a matrix: a block of threads each patch,
template <class Form>
__device__ void multiply_all_patches(const product_args& a) {
  if (has_stopped<Form>(a.dot)) return;
  multiply_patch<ops_of_half(Form::hermitian_half, Form::op), Form::lanes>(
      product_over<Form>(a), idx(blockIdx.x), static_cast<typename Form::entry::scalar*>(a.carries));
}

/// and one worker each scalar of y.
template <class Form>
__device__ void add_all_patches(const product_args& a) {
  if (has_stopped<Form>(a.dot)) return;
  constexpr int n = typename Form::entry{}.rows();
  const auto p = product_over<Form>(a);
  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (worker < a.y_blocks * n)
    sum_partials<Form::update>(p, idx(worker / n), int(worker % n),
                               static_cast<const typename Form::entry::scalar*>(a.carries));
  settle(p.following, a.dot, blockIdx.x, gridDim.x);
}

template <class Form>
__device__ auto packing_over(const pack_args& a) {
  using Entry = typename Form::entry;
  packing<Entry, typename Form::stored, words_of_form<Form>> p;
  p.matrix_words.map = matrix_map_over<Form>(a.layout.slots);
  p.blocks = static_cast<const typename Entry::scalar*>(a.blocks);
  p.values = static_cast<typename Form::stored*>(a.values);
  p.from = a.from;
  p.start = a.start;
  p.rows = a.rows;
  return p;
}

template <class Form>
__device__ void pack_all(const pack_args& a) {
  const auto p = packing_over<Form>(a);
  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if constexpr (Form::layout::slots_are_entries) {
    if (worker < a.to - a.from) pack_slot(p, a.from + worker, a.from + worker);
  } else {
    if (worker < a.layout.positions) pack_row_part(p, typename Form::layout(a.layout), idx(worker), a.from, a.to);
  }
}

template <class Form>
__device__ void pack_part(const pack_part_args& a) {
  const pack_args& whole = a.whole;
  const auto p = packing_over<Form>(whole);
  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if constexpr (Form::layout::slots_are_entries) {
    const slot_t slot = a.first + worker;
    if (slot < a.last) pack_slot(p, slot, slot + a.runs.shift(slot));
  } else if (worker < whole.layout.positions) {
    const typename Form::layout layout(whole.layout);
    const slot_t shift = a.runs.shift(layout.first_entry[worker]);
    pack_row_part(p, layout, idx(worker), whole.from, whole.to, shift);
  }
}

template <class Form>
__device__ void pack_sums(const pack_sums_args& a) {
  using Entry = typename Form::entry;
  sum_packing<Entry, typename Form::stored, words_of_form<Form>> p;
  p.matrix_words.map = matrix_map_over<Form>(a.layout.slots);
  p.sums = a.sums;
  p.values = static_cast<typename Form::stored*>(a.values);
  for_each_slot<typename Form::layout>(a.layout, a.runs, p, slot_t(blockIdx.x) * blockDim.x + threadIdx.x,
                                       [&](slot_t slot, slot_t entry, idx row) { pack_slot(p, slot, entry, row); });
}

/// To `blocks` of all entries; those that are the part's.
template <class Form>
__device__ void unpack(const pack_part_args& a) {
  const auto p = packing_over<Form>(a.whole);
  for_each_slot<typename Form::layout>(a.whole.layout, a.runs, p, slot_t(blockIdx.x) * blockDim.x + threadIdx.x,
                                       [&](slot_t slot, slot_t entry, idx row) { unpack_slot(p, slot, entry, row); });
}

template <class Form>
__device__ void regroup_all(const regroup_args& a) {
  using From = typename Form::from;
  const slot_t slot = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (slot >= a.slots) return;
  const words_of_form<From> from{matrix_map_over<From>(a.value_slots)};
  const words_of_form<Form> to{matrix_map_over<Form>(a.slots)};
  copy_words(typename Form::entry{}, from, static_cast<const typename Form::stored*>(a.values),
             slot_t(a.value_slot[slot]), to, static_cast<typename Form::stored*>(a.to), slot);
}

/// Over DiagonalArgs, one worker a position: f(diagonals, position).
template <class Entry, class Stored, class Layout, class Values, class WordsCode, class F>
__device__ void for_each_diagonal(const DiagonalArgs& a, const F& f) {
  const slot_t worker = slot_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (worker >= a.layout.positions) return;
  product_args coded;
  coded.codes = a.codes;
  diagonals<Entry, Stored, Layout, Values, WordsCode> d(a, Layout(a.layout), value_index(coded, Values{}));
  set_code(d.words.code, a);
  f(d, idx(worker));
}

#endif

}  // namespace compound
