// Kernels for products of sparse matrices of full blocks.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "backend.hpp"

namespace compound::cuda {

/// A kernel over sparse_product_args: a warp each block row, or, of Q^T B, whose rows are few and long, a block of
/// threads.
struct SparseProductKernel {
  std::string source;
  int rows_a_block, threads;
};
SparseProductKernel sparse_product_kernel(ScalarType scalar, BlockShape a, int width, bool transposed);

/// Queues the product.
void multiply_sparse(const SparseProductTask& task, cudaStream_t queue);

}  // namespace compound::cuda
