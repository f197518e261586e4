// What Krylov loops and passes share on a CUDA device.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

/// Host memory that kernels write to.
class Pinned {
 public:
  explicit Pinned(std::size_t bytes) { check(cudaHostAlloc(&memory_, bytes, cudaHostAllocMapped), "pinning memory"); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(memory_); }
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

/// Blocks of threads_of_krylov: as many as the device holds at once, each of which takes several shares then.
inline slot_t most_krylov_blocks() { return slot_t{8} * current_device().multiprocessors; }
inline slot_t krylov_blocks(slot_t threads) {
  return std::min((threads + threads_of_krylov - 1) / threads_of_krylov, most_krylov_blocks());
}

}  // namespace compound::cuda
