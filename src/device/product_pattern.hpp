// Patterns of products of sparse matrices, and of transposes. A group of threads collects the columns of a row in a
// hash table that it shares (Nagasaka, Matsuoka, Azad and Buluc 2018, Parallel Computing 90; Deveci, Trott and
// Rajamanickam 2018, Parallel Computing 78), and sorts them there.
#pragma once

#include "sparse_product.hpp"

namespace compound {

struct product_pattern_args {
  idx rows = 0;
  const count32* a_start = nullptr;
  const idx* a_column = nullptr;
  const count32* b_start = nullptr;
  const idx* b_column = nullptr;
  bool with_b = false;                     ///< the rows of B of the same number as well
  count32* counts = nullptr;               ///< [rows] columns of each, while they are counted
  unsigned long long* products = nullptr;  ///< of two entries, added up while columns are counted
  count32* too_many = nullptr;             ///< not 0 in the end: a row has more than the table holds
  const count32* c_start = nullptr;
  idx* c_column = nullptr;  ///< written where it is not null
};

struct transpose_args {
  idx rows = 0, cols = 0;  ///< of A
  const count32* start = nullptr;
  const idx* column = nullptr;
  count32* taken = nullptr;           ///< [cols] entries of each column
  const count32* to_start = nullptr;  ///< [cols + 1]
  unsigned long long* key = nullptr;  ///< [entries] row and entry of A; sorted in each row of A^T in the end
  idx* to_column = nullptr;
  count32* entry_of = nullptr;  ///< [entries] of A
};

/// Entries of a row of A^T; one that has more is left to the host.
inline constexpr int most_of_transposed_row = 4096;

#if defined(__CUDA_ARCH__)

inline constexpr unsigned no_column = ~0u;

/// Adds a column to the table if it is not there. `added` counts those of this thread; false where the table is full.
template <int slots>
__device__ bool add_column(unsigned* table, idx column, int* added) {
  unsigned at = count32(column) * 2654435761u >> 7;  // Knuth's multiplicative hash
  for (int tried = 0; tried < slots; ++tried, ++at) {
    unsigned* const slot = table + at % slots;
    unsigned found = *static_cast<volatile unsigned*>(slot);
    if (found == no_column) found = atomicCAS(slot, no_column, count32(column));
    if (found == count32(column)) return true;
    if (found == no_column) {
      ++*added;
      return true;
    }
  }
  return false;
}

/// Form: groups of `lanes`, tables of `slots`; `inner` lanes go through a row of B.
template <class Form>
__device__ void collect_columns(const product_pattern_args& a) {
  constexpr int lanes = Form::lanes, groups = Form::groups, slots = Form::slots, inner = Form::inner;
  __shared__ unsigned tables[groups][slots];
  __shared__ int counts[groups];
  const int group = int(threadIdx.x) / lanes, lane = int(threadIdx.x) % lanes;
  const slot_t at = slot_t(blockIdx.x) * groups + group;
  if (at >= a.rows) return;  // all lanes of the group
  const idx row = idx(at);
  unsigned* const table = tables[group];
  for (int k = lane; k < slots; k += lanes) table[k] = no_column;
  if (lane == 0) counts[group] = 0;
  sync_group<lanes>();
  int added = 0;
  unsigned long long products = 0;
  bool all = true;
  const auto add_row = [&](idx of_b) {
    for (count32 k = a.b_start[of_b] + lane % inner; k < a.b_start[of_b + 1]; k += inner)
      all = add_column<slots>(table, a.b_column[k], &added) && all;
  };
  for (slot_t e = slot_t(a.a_start[row]) + lane / inner; e < a.a_start[row + 1]; e += lanes / inner) {
    const idx of_b = a.a_column[e];
    if (lane % inner == 0) products += a.b_start[of_b + 1] - a.b_start[of_b];
    add_row(of_b);
  }
  if (a.with_b && lane < inner) add_row(row);
  if (!all) atomicAdd(a.too_many, 1u);
  if (added) atomicAdd(counts + group, added);
  if (products && !a.c_column) atomicAdd(a.products, products);
  sync_group<lanes>();
  if (!a.c_column) {
    if (lane == 0) a.counts[row] = count32(counts[group]);
    return;
  }
  sort_by_group<lanes>(table, slots, lane);
  for (int k = lane; k < counts[group]; k += lanes) a.c_column[slot_t(a.c_start[row]) + k] = idx(table[k]);
}

/// One worker a row of A.
__device__ inline void count_transposed(const transpose_args& a, slot_t worker) {
  for (count32 k = a.start[worker]; k < a.start[worker + 1]; ++k) atomicAdd(a.taken + a.column[k], 1u);
}

/// One worker a row of A, in any order within a row of A^T; `taken` counts down to 0.
__device__ inline void put_transposed(const transpose_args& a, slot_t worker) {
  for (count32 k = a.start[worker]; k < a.start[worker + 1]; ++k) {
    const idx to = a.column[k];
    a.key[a.to_start[to] + atomicSub(a.taken + to, 1u) - 1] = static_cast<unsigned long long>(worker) << 32 | k;
  }
}

/// A block of threads each row of A^T.
template <int threads>
__device__ void sort_transposed(const transpose_args& a) {
  __shared__ unsigned long long keys[most_of_transposed_row];
  const slot_t first = a.to_start[blockIdx.x];
  const int count = int(slot_t(a.to_start[blockIdx.x + 1]) - first);
  const int padded = padded_to_sort(count);
  for (int k = int(threadIdx.x); k < padded; k += threads) keys[k] = k < count ? a.key[first + k] : ~0ull;
  __syncthreads();
  sort_by_group<threads>(keys, padded, int(threadIdx.x));
  for (int k = int(threadIdx.x); k < count; k += threads) {
    a.to_column[first + k] = idx(keys[k] >> 32);
    a.entry_of[first + k] = count32(keys[k] & 0xffffffffu);
  }
}

#endif

}  // namespace compound
