// The text of kernels for products of sparse matrices of full blocks.
#pragma once

#include <string>

#include "base/scalar.hpp"
#include "base/shape.hpp"

namespace compound::cuda {

/// A kernel over sparse_product_args: a warp each block row, or, of Q^T B, whose rows are few and long, a block of
/// threads. `a`: blocks of A, or of Q^T; `width`: columns of a block of B.
struct SparseProductKernel {
  std::string source;
  int rows_a_block, threads;
};
SparseProductKernel sparse_product_kernel(ScalarType scalar, BlockShape a, int width, bool transposed);

}  // namespace compound::cuda
