// Are blocks all of a kind of entry? As a kernel whose thread blocks each look at some blocks that lie side by side.
#pragma once

#include "pack_values.hpp"

namespace compound {

struct fit_args {
  const void* blocks = nullptr;  ///< [entries][cols][rows]
  slot_t entries = 0;
  count32* first = nullptr;  ///< the lowest index of a block that is not; all bits set before
};

inline constexpr int threads_of_tile = 128;
inline constexpr slot_t few_bytes_of_tile = 16384, most_bytes_of_tile = 32768;

/// Blocks of so many bytes that one thread block looks at: as many for each thread, if a copy of them fits in the
/// memory that threads share.
COMPOUND_FN constexpr int blocks_of_tile(slot_t bytes) {
  const slot_t of_thread = few_bytes_of_tile / (bytes * threads_of_tile);
  if (of_thread > 0) return int(of_thread * threads_of_tile);
  const slot_t fitting = most_bytes_of_tile / bytes;
  return fitting == 0 || fitting > threads_of_tile ? threads_of_tile : int(fitting);
}

#if defined(__CUDA_ARCH__)

/// The minimum is the same in whatever order thread blocks come. What is found meanwhile may be read late, from the
/// first cache: asking the second for one address in every warp would take longer than the blocks.
template <class Entry, int rows, int cols>
__device__ void check_tile(const fit_args& a) {
  using S = typename Entry::scalar;
  using Real = real_of<S>;
  constexpr int parts = sizeof(S) / sizeof(Real), size = rows * cols * parts;
  constexpr int tile = blocks_of_tile(sizeof(S) * rows * cols);
  constexpr bool shares = slot_t(sizeof(Real)) * size * tile <= most_bytes_of_tile;
  constexpr int apart = shares ? size + parts : size;  // in different banks
  const slot_t from = slot_t(blockIdx.x) * tile;
  if (__syncthreads_or(*a.first < from)) return;
  const int count = a.entries - from < tile ? int(a.entries - from) : tile;
  const Real* block = static_cast<const Real*>(a.blocks) + from * size;
  if constexpr (shares) {  // neighbouring threads read neighbouring numbers, which those of their own blocks are not
    alignas(S) __shared__ Real copy[tile * apart];
#pragma unroll 8
    for (int k = threadIdx.x; k < count * size; k += threads_of_tile) copy[k + k / size * parts] = block[k];
    __syncthreads();
    block = copy;
  }
  for (int e = threadIdx.x; e < count; e += threads_of_tile) {
    const full_block<S> one{reinterpret_cast<const S*>(block + slot_t(e) * apart), rows};
    if (!fits(Entry::of(rows, cols), one)) atomicMin(a.first, static_cast<count32>(from + e));
  }
}

#endif

}  // namespace compound
