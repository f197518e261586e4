// CUDA's errors as exceptions, and memory that frees itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace compound::bench {

inline void must_cuda(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // else a later call would report it again
  if (code == cudaErrorMemoryAllocation)
    throw std::runtime_error(std::string(doing) + ": out of device memory; choose a smaller case or fewer candidates");
  throw std::runtime_error(std::string(doing) + ": " + cudaGetErrorString(code));
}

inline std::shared_ptr<void> device_memory(std::size_t bytes) {
  void* memory = nullptr;
  must_cuda(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "allocating device memory");
  return {memory, [](void* p) { (void)cudaFree(p); }};
}

inline std::shared_ptr<void> uploaded_to_device(const void* from, std::size_t bytes) {
  std::shared_ptr<void> memory = device_memory(bytes);
  must_cuda(cudaMemcpy(memory.get(), from, bytes, cudaMemcpyHostToDevice), "uploading");
  return memory;
}

}  // namespace compound::bench
