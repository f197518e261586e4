#include "backend_cuda.hpp"

#include <cuda_runtime_api.h>

namespace compound {

Backend* cuda_backend() { return nullptr; }

std::string why_no_cuda() {
  int devices = 0;
  if (const cudaError_t result = cudaGetDeviceCount(&devices); result != cudaSuccess) return cudaGetErrorString(result);
  return devices == 0 ? "no CUDA device is visible" : "the CUDA backend is not finished";
}

}  // namespace compound
