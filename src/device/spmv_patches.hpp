// y = op(A) x of a matrix of which a half is stored (`half=`), without atomics: every sum is made in a fixed order.
//
// A patch is some segments of block rows, each of a few entries, and the block columns of these. A block of threads has
// the patch's x and its part of y in shared memory. A worker has a segment, or some columns of its blocks: it keeps its
// part of the row's own sum in registers, and adds each entry's mirrored product to the column's place. Entries that
// would add to one place at the same time take turns, which the encoder (src/layout/patches.cpp) has numbered; so do
// the sums of a row's segments in the end. A second kernel adds up what the patches have for each row.
#pragma once

#include "spmv_rows.hpp"

namespace compound {

/// What a product by an entry of the stored half does for the rows below the diagonal, and whether the entry itself is
/// to be conjugated: op(A) is A itself, or its conjugate.
struct half_ops {
  Op mirrored = Op::transpose;
  bool conjugated = false;
};
COMPOUND_FN constexpr half_ops ops_of_half(bool hermitian, Op op) {
  const bool is_conjugate = op == (hermitian ? Op::transpose : Op::hermitian);
  return {hermitian != is_conjugate ? Op::hermitian : Op::transpose, is_conjugate};
}

#if defined(__CUDA_ARCH__)

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
/// Of a block of threads, as much as its launch asks for.
__device__ inline unsigned char* dynamic_shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return memory;
}
#endif

/// Of a patch's vectors in shared memory: scalars i of the blocks at all places lie side by side.
template <class S>
struct patch_vectors {
  S *x, *y;
  __device__ patch_vectors(unsigned char* memory, int places, int n)
      : x(reinterpret_cast<S*>(memory)), y(x + places * n) {}
};

/// A worker's share of a block: all of it, of any kind,
template <half_ops ops, int lanes, class Product>
struct patch_share {
  using Entry = typename Product::entry_type;
  using S = typename Product::scalar;
  static constexpr Entry entry{};
  static constexpr int n = entry.rows(), columns = n, held_words = entry.words();

  decltype(held_matrix_words<decltype(Product::matrix_words)>{}.at(entry, Product::values, 0)) words;

  __device__ static int first_column(int /*lane*/) { return 0; }
  __device__ void read(const Product& p, slot_t slot, int /*lane*/) {
    words = held_matrix_words<decltype(p.matrix_words)>{p.matrix_words}.at(entry, p.values, slot);
  }
  __device__ void multiply(const S* x, S* sum) const { entry.template madd<Op::none>(words, x, sum); }
  __device__ void multiply_mirrored(const S* x_of_row, S* sum) const {
    entry.template madd<ops.mirrored>(words, x_of_row, sum);
  }
};

/// or, where several share a dense block, some of its columns: so its words and what is made of them stay in registers.
template <half_ops ops, int lanes, class Product>
requires(lanes > 1) struct patch_share<ops, lanes, Product> {
  using Entry = typename Product::entry_type;
  using S = typename Product::scalar;
  static constexpr Entry entry{};
  static constexpr int n = entry.rows(), columns = (n + lanes - 1) / lanes, held_words = n * columns;

  S words[columns][n];

  __device__ static int first_column(int lane) { return lane * columns; }
  __device__ void read(const Product& p, slot_t slot, int lane) {
    const auto from = p.words(slot);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i) words[j][i] = first_column(lane) + j < n ? S(from(i, first_column(lane) + j)) : S{};
  }
  __device__ void multiply(const S* x, S* sum) const {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i) add_product(sum[i], words[j][i], x[j]);
  }
  __device__ void multiply_mirrored(const S* x_of_row, S* sum) const {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < n; ++i)
        add_product(sum[j], ops.mirrored == Op::hermitian ? conjugate(words[j][i]) : words[j][i], x_of_row[i]);
  }
};

/// Shares whose words fit are read one step ahead, while the products of the entries before them take their turns.
template <class Share, class Stored>
inline constexpr bool reads_ahead = Share::held_words* int(sizeof(Stored)) <= 96;

/// f() of every thread in its turn, one turn after the other. Then all threads of the block see what it wrote.
template <class F>
__device__ void take_turns(int turn, const F& f) {
  for (int now = 0;; ++now) {
    if (turn == now) f();
    if (!__syncthreads_or(turn != no_turn && turn > now)) break;
  }
}

/// The patch of a block of threads. `partials`: [partials][n], of which the patch's own are written. `lanes` workers
/// share a segment; those of neighbouring segments are side by side.
template <half_ops ops, int lanes, class Product, class S>
__device__ void multiply_patch(const Product& p, idx patch, S* partials) {
  using Share = patch_share<ops, lanes, Product>;
  constexpr int n = Share::n;
  constexpr bool is_ahead = reads_ahead<Share, typename Product::stored_type>;
  const auto columns = p.layout.columns.of_patch(patch);
  const int places = columns.places, threads = int(blockDim.x), thread = int(threadIdx.x), segments = threads / lanes,
            segment = thread % segments, lane = thread / segments, first_column = Share::first_column(lane);
  const patch_vectors<S> shared(dynamic_shared_memory(), places, n);

  const idx first_position = patch * segments, position = first_position + segment;
  const bool is_there = position < p.layout.positions;
  const idx count = is_there ? p.layout.count(position) : 0;
  const slot_t first = is_there ? p.layout.first(position) : 0;
  const count32 row_word = is_there ? p.layout.columns.row_words[position] : 0;
  Share share;
  count32 word = 0;
  const auto read_entry = [&](idx k) {
    if (k >= count) return;
    word = columns.word(first + k * p.layout.apart());
    if constexpr (is_ahead) share.read(p, first + k * p.layout.apart(), lane);
  };
  read_entry(0);

  for (int place = thread; place < places; place += threads) {
    S x[n];
    p.x_words.load(p.x, columns.column(place), n, x);
    for (int i = 0; i < n; ++i) {
      shared.x[i * places + place] = x[i];
      shared.y[i * places + place] = S{};
    }
  }
  __syncthreads();

  const int row = place_in_patch(row_word);
  S x_of_row[n], sum[n];
  if (count > 0)
    for (int i = 0; i < n; ++i) x_of_row[i] = shared.x[i * places + row];
  for (int i = 0; i < n; ++i) sum[i] = S{};
  const idx longest = p.layout.count(first_position);  // the longest segments of a patch come first
  for (idx k = 0; k < longest; ++k) {
    int turn = no_turn, place = 0;
    S mirrored[Share::columns];
    if (k < count) {
      place = place_in_patch(word);
      turn = turn_in_patch(word);
      if constexpr (!is_ahead) share.read(p, first + k * p.layout.apart(), lane);
      S x[Share::columns];
      for (int j = 0; j < Share::columns; ++j) {
        x[j] = first_column + j < n ? shared.x[(first_column + j) * places + place] : S{};
        if constexpr (ops.conjugated) x[j] = conjugate(x[j]);
        mirrored[j] = S{};
      }
      share.multiply(x, sum);
      if (turn != no_turn) share.multiply_mirrored(x_of_row, mirrored);
    }
    read_entry(k + 1);
    take_turns(turn, [&] {
      for (int j = 0; j < Share::columns; ++j)
        if (first_column + j < n) shared.y[(first_column + j) * places + place] += mirrored[j];
    });
  }
  take_turns(count > 0 ? turn_in_patch(row_word) * lanes + lane : no_turn, [&] {
    for (int i = 0; i < n; ++i) {
      if constexpr (ops.conjugated) sum[i] = conjugate(sum[i]);
      shared.y[i * places + row] += sum[i];
    }
  });
  S* const to = partials + columns.first_partial * n;
  for (int at = thread; at < places * n; at += threads) to[at] = shared.y[at % n * places + at / n];
}

/// Scalar i of a row of y: what patches have for it, in their order.
template <Update update, class Product, class S>
__device__ void sum_partials(const Product& p, idx row, int i, const S* partials) {
  constexpr int n = typename Product::entry_type{}.rows();
  const auto& columns = p.layout.columns;
  S sum{};
  const count32 end = columns.partial_start[row + 1];
  for (count32 at = columns.partial_start[row]; at < end; ++at) sum += partials[slot_t(columns.partial[at]) * n + i];
  store_component<update>(p, row, n, i, sum);
}

#endif

}  // namespace compound
