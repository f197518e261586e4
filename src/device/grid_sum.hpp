// Sums over all blocks of threads of a kernel, in a fixed order: partial sums belong to blocks of workers, and the last
// block to come, of which integer tickets tell, adds them up. The same numbers give the same bits, whichever it is.
#pragma once

#include "scalar.hpp"

namespace compound {

/// Memory of one such sum, as the host makes it; tickets are zeros before and after each kernel.
struct grid_sum_args {
  void* partials = nullptr;     ///< [partials_of(blocks)] of what is summed
  unsigned* tickets = nullptr;  ///< [tickets_of(blocks)]
};

/// Blocks are added up in groups, so that few sums are left for the last block of all.
inline constexpr slot_t blocks_of_group = 128;
COMPOUND_FN slot_t groups_of(slot_t blocks) { return (blocks + blocks_of_group - 1) / blocks_of_group; }
COMPOUND_FN slot_t partials_of(slot_t blocks) { return blocks + groups_of(blocks); }
COMPOUND_FN slot_t tickets_of(slot_t blocks) { return groups_of(blocks) + 1; }

/// Several sums at once.
template <class S, int n>
struct sums {
  S of[n];
};

#if defined(__CUDA_ARCH__)

/// Between what other blocks are to see, or have written, and what tells of it. __threadfence() is the same with a
/// promise about all fences of a device, which takes longer and is of no use here.
__device__ inline void fence_device() {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  __threadfence();
#endif
}

/// The first warp gets the sum; all threads of the block must call, whole warps.
template <class S, int n>
__device__ sums<S, n> sum_over_block(sums<S, n> v) {
  constexpr int warps = 32;
  alignas(16) __shared__ unsigned char memory[n * warps * sizeof(S)];
  S* const of_warps = reinterpret_cast<S*>(memory);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  for (int i = 0; i < n; ++i) v.of[i] = sum_over_lanes<32>(v.of[i]);
  __syncthreads();  // before: the last sums are no longer read
  if (lane == 0)
    for (int i = 0; i < n; ++i) of_warps[i * warps + warp] = v.of[i];
  __syncthreads();
  if (warp == 0)
    for (int i = 0; i < n; ++i)
      v.of[i] = sum_over_lanes<32>(lane < int(blockDim.x) / 32 ? of_warps[i * warps + lane] : S{});
  return v;
}

/// partials[0, count) in a fixed order, by a block of threads; thread 0 gets the sum.
template <class S, int n>
__device__ sums<S, n> sum_of_partials(const sums<S, n>* partials, slot_t count) {
  sums<S, n> v{};
  for (slot_t k = threadIdx.x; k < count; k += blockDim.x)
    for (int i = 0; i < n; ++i) v.of[i] += read_fresh(&partials[k].of[i]);
  return sum_over_block(v);
}

/// Whether this block is the last of `of` to draw a ticket; all its threads are told.
__device__ inline bool is_last_of(unsigned* ticket, slot_t of) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    fence_device();
    last = atomicAdd(ticket, 1u) == unsigned(of - 1);
    if (last) *ticket = 0;
    fence_device();
  }
  __syncthreads();
  return last;
}

/// Adds up what `blocks` blocks of workers have, of which this is number `block`, in thread 0. True in the last block
/// to come, whose thread 0 has the total then. All threads of a block must call.
template <class S, int n>
__device__ bool sum_over_grid(const grid_sum_args& a, slot_t block, slot_t blocks, const sums<S, n>& mine,
                              sums<S, n>* total) {
  auto* const partials = static_cast<sums<S, n>*>(a.partials);
  const slot_t groups = groups_of(blocks), group = block / blocks_of_group, first = group * blocks_of_group;
  const slot_t members = blocks - first < blocks_of_group ? blocks - first : blocks_of_group;
  if (threadIdx.x == 0) partials[block] = mine;
  if (!is_last_of(&a.tickets[group], members)) return false;
  *total = sum_of_partials(partials + first, members);
  if (groups == 1) return true;
  if (threadIdx.x == 0) partials[blocks + group] = *total;
  if (!is_last_of(&a.tickets[groups], groups)) return false;
  *total = sum_of_partials(partials + blocks, groups);
  return true;
}

/// The sum of what the threads of all blocks of this kernel have; `end`(total) by one thread of the last block to come.
template <class S, int n, class End>
__device__ void end_with_sum_over_grid(const grid_sum_args& a, const sums<S, n>& mine, const End& end) {
  const sums<S, n> of_block = sum_over_block(mine);
  sums<S, n> total;
  if (sum_over_grid(a, blockIdx.x, gridDim.x, of_block, &total) && threadIdx.x == 0) end(total);
}

#endif

}  // namespace compound
