// What Krylov loops and passes share on a CUDA device.
#pragma once

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

/// Blocks of threads_of_krylov: as many as the device holds at once, each of which takes several shares then.
inline slot_t most_krylov_blocks() { return slot_t{8} * current_device().multiprocessors; }
inline slot_t krylov_blocks(slot_t threads) {
  return std::min(blocks_for(threads, threads_of_krylov), most_krylov_blocks());
}

}  // namespace compound::cuda
