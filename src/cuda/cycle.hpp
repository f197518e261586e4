// Kernels of multigrid's cycles on a device, and recordings (backend/cycle_work.hpp).
#pragma once

#include <cuda_runtime.h>

#include "backend/cycle_work.hpp"

namespace compound::cuda {

void smooth(ScalarType scalar, const smoothing_pass_args& args, cudaStream_t queue);
void multiply_dense(ScalarType scalar, const dense_args& args, cudaStream_t queue);
/// `queue`: the backend's, which is another one while work is recorded.
std::unique_ptr<Recording> record(cudaStream_t& queue);

}  // namespace compound::cuda
