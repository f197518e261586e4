// Are blocks all of a kind of entry? As a kernel with one worker a block.
#pragma once

#include "pack_values.hpp"

namespace compound {

struct fit_args {
  const void* blocks = nullptr;  ///< [entries][cols][rows]
  slot_t entries = 0;
  count32* first = nullptr;  ///< the lowest index of a block that is not; all bits set before
};

#if defined(__CUDA_ARCH__)

/// The minimum is the same in whatever order workers come.
template <class Entry, int rows, int cols>
__device__ void check_block(const fit_args& a, slot_t e) {
  using S = typename Entry::scalar;
  if (*static_cast<volatile count32*>(a.first) < e) return;
  const full_block<S> block{static_cast<const S*>(a.blocks) + e * rows * cols, rows};
  if (!fits(Entry::of(rows, cols), block)) atomicMin(a.first, static_cast<count32>(e));
}

#endif

}  // namespace compound
