// CG for several right-hand sides at once, as CUDA graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "backend/krylov_loop.hpp"

namespace compound::cuda {

/// On `backend`, whose queue is `queue`. Throws std::bad_alloc.
std::unique_ptr<KrylovSystems> krylov_systems(Backend& backend, cudaStream_t& queue, const KrylovProblem& problem,
                                              int systems);

}  // namespace compound::cuda
