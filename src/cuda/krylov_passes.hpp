// Passes of Krylov methods over vectors of a CUDA device.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/krylov_loop.hpp"

namespace compound::cuda {

/// Of all passes, with the inner products that CG has unless options ask for others.
std::vector<std::string> pass_sources(ScalarType scalar);

/// These passes, on `backend`, whose queue is `queue`. Throws std::bad_alloc.
std::unique_ptr<KrylovPasses> krylov_passes(Backend& backend, cudaStream_t& queue, ScalarType scalar,
                                            std::span<const VectorPass> passes, bool hermitian);

}  // namespace compound::cuda
