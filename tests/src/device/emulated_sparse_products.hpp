// Products of sparse matrices by the device text on the host (emulated_sparse_products.cpp).
#pragma once

namespace emulated {

struct SparseProduct {
  int rows, inner, width;  ///< of blocks
  bool transposed;
  bool is_double;     ///< else complex numbers of floats
  bool sums_at_hand;  ///< short rows are summed up in shared memory; else none is
  const void* args;   ///< sparse_product_args
};

/// Whether there is such a kernel; runs it.
bool multiply_sparse(const SparseProduct& p);

}  // namespace emulated
