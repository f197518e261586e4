// Sorting in memory that a group of threads shares.
#pragma once

#include "target.hpp"

namespace compound {

#if defined(__CUDA_ARCH__)

/// What lanes wrote before is there for all of their group after.
template <int lanes>
__device__ void sync_group() {
  if constexpr (lanes == 32)
    __syncwarp();
  else
    __syncthreads();
}

/// The next power of two, at least 2.
__device__ inline int padded_to_sort(int n) {
  int padded = 2;
  while (padded < n) padded *= 2;
  return padded;
}

/// Bitonic (Batcher 1968, "Sorting networks and their applications"), by `lanes` threads: a warp, or a whole block. `n`
/// is a power of two.
template <int lanes, class Key>
__device__ void sort_by_group(Key* key, int n, int lane) {
  for (int size = 2; size <= n; size *= 2)
    for (int apart = size / 2; apart > 0; apart /= 2) {
      for (int k = lane; k < n / 2; k += lanes) {
        const int at = 2 * k - (k & (apart - 1));
        const Key a = key[at], b = key[at + apart];
        if ((a > b) == ((at & size) == 0)) {
          key[at] = b;
          key[at + apart] = a;
        }
      }
      sync_group<lanes>();
    }
}

#endif

}  // namespace compound
