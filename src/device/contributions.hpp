// From coordinates of contributions, in any order and repeated, to block rows and lists of sums: counted, put into
// their rows, sorted in each, and written as lists. A warp sorts a row in memory that its threads share; the order of
// contributions to one block is that of their numbers, whatever order threads come in.
#pragma once

#include "group_sort.hpp"

namespace compound {

/// Of a row; one that has more is left to the host.
inline constexpr int most_contributions_of_row = 1024;

/// Numbers and columns share a key of 64 bits.
inline constexpr slot_t most_contributions = (slot_t{1} << 32) - 1;

struct contribution_args {
  slot_t count = 0;           ///< contributions
  const void* row = nullptr;  ///< [count] PETSc's integers; where one is negative, the contribution is ignored
  const void* column = nullptr;
  idx rows = 0, cols = 0;                ///< of the matrix, in blocks
  count32* wrong = nullptr;              ///< the lowest number of one that is beyond the matrix; all bits set before
  count32* taken = nullptr;              ///< [rows] contributions of each row; 0 before
  const count32* start = nullptr;        ///< [rows + 1] where the contributions of each row begin
  unsigned long long* key = nullptr;     ///< [start[rows]] column and number of each; sorted in each row in the end
  count32* blocks = nullptr;             ///< [rows] different columns of each row
  const count32* block_start = nullptr;  ///< [rows + 1] where the blocks of each row begin
  // What a list of sums needs (SumArgs, sum_lists.hpp):
  int side = 1;
  const slot_t* scalar = nullptr;           ///< [count] first scalar of each contribution; null: number * side * side
  const unsigned char* shape_of = nullptr;  ///< [count]; null: all are of one shape
  idx* block_column = nullptr;              ///< [blocks]
  slot_t* first = nullptr;                  ///< [blocks + 1]; null: each has one contribution
  slot_t* index = nullptr;                  ///< [start[rows]]
  unsigned char* shape = nullptr;           ///< [start[rows]]; null with shape_of
  slot_t* place = nullptr;                  ///< [blocks], with `stride`: values in the order of rows; or null
  int* stride = nullptr;
};

#if defined(__CUDA_ARCH__)

/// Whether contribution n counts, and where.
template <class Index>
struct contribution {
  Index row, column;
  __device__ contribution(const contribution_args& a, slot_t n)
      : row(static_cast<const Index*>(a.row)[n]), column(static_cast<const Index*>(a.column)[n]) {}
  __device__ bool is_ignored() const { return row < 0 || column < 0; }
};

/// One worker a contribution.
template <class Index>
__device__ void count_contribution(const contribution_args& a, slot_t n) {
  const contribution<Index> c(a, n);
  if (c.is_ignored()) return;
  if (c.row >= a.rows || c.column >= a.cols)
    atomicMin(a.wrong, static_cast<count32>(n));
  else
    atomicAdd(a.taken + c.row, 1u);
}

/// One worker a contribution, in any order within its row; `taken` counts down to 0.
template <class Index>
__device__ void put_contribution(const contribution_args& a, slot_t n) {
  const contribution<Index> c(a, n);
  if (c.is_ignored()) return;
  const count32 place = a.start[c.row] + atomicSub(a.taken + c.row, 1u) - 1;
  a.key[place] = static_cast<unsigned long long>(c.column) << 32 | static_cast<unsigned long long>(n);
}

/// Blocks of 128 threads, a warp each row.
__device__ inline void sort_contributions(const contribution_args& a, slot_t worker) {
  __shared__ unsigned long long shared_keys[4][most_contributions_of_row];
  const slot_t row = worker / 32;
  unsigned long long* const key = shared_keys[threadIdx.x / 32];
  const int lane = int(worker % 32), count = int(a.start[row + 1] - a.start[row]), padded = padded_to_sort(count);
  unsigned long long* const all = a.key + a.start[row];
  for (int k = lane; k < padded; k += 32) key[k] = k < count ? all[k] : ~0ull;
  __syncwarp();
  sort_by_group<32>(key, padded, lane);
  count32 different = 0;
  for (int k = lane; k < count; k += 32) {
    all[k] = key[k];
    different += k == 0 || key[k] >> 32 != key[k - 1] >> 32;
  }
  for (int apart = 16; apart > 0; apart /= 2) different += __shfl_xor_sync(~0u, different, apart);
  if (lane == 0) a.blocks[row] = different;
}

/// A warp each row.
__device__ inline void list_contributions(const contribution_args& a, slot_t worker) {
  const slot_t row = worker / 32;
  const int lane = int(worker % 32), count = int(a.start[row + 1] - a.start[row]), words = a.side * a.side;
  const slot_t from = a.start[row], first_block = a.block_start[row];
  const slot_t blocks = slot_t(a.block_start[row + 1]) - first_block;
  int before = 0;  // blocks that begin in front of these 32 contributions
  for (int begin = 0; begin < count; begin += 32) {
    const int k = begin + lane;
    const bool counts = k < count;
    const unsigned long long key = counts ? a.key[from + k] : 0;
    const bool is_first = counts && (k == 0 || key >> 32 != a.key[from + k - 1] >> 32);
    const unsigned firsts = __ballot_sync(~0u, is_first);
    if (is_first) {
      const slot_t nth = before + __popc(firsts & ((1u << lane) - 1)), block = first_block + nth;
      a.block_column[block] = idx(key >> 32);
      if (a.first) a.first[block] = from + k;
      if (a.place) {
        a.place[block] = first_block * words + nth * a.side;
        a.stride[block] = int(blocks * a.side);
      }
    }
    if (counts) {
      const slot_t number = slot_t(key & 0xffffffffu);
      a.index[from + k] = a.scalar ? a.scalar[number] : number * words;
      if (a.shape) a.shape[from + k] = a.shape_of[number];
    }
    before += __popc(firsts);
  }
  if (a.first && row == a.rows - 1 && lane == 0) a.first[a.block_start[a.rows]] = a.start[a.rows];
}

#endif

}  // namespace compound
