// Products of sparse matrices in a device's memory; the host has functions of its own (storage/sparse_product.hpp).
#pragma once

#include "backend/backend.hpp"
#include "device/sparse_product.hpp"

namespace compound {

/// C = A B, or Q^T B (`transposed`), of sparse matrices of full blocks; arrays in the backend's memory.
struct SparseProductTask {
  ScalarType scalar;
  BlockShape a;   ///< of A; of Q^T: its own, not those of Q
  int width = 1;  ///< columns of a block of B
  bool transposed = false;
  const sparse_product_args& args;
};

class SparseProducts {
 public:
  virtual void multiply_sparse(const SparseProductTask& task) = 0;

 protected:
  ~SparseProducts() = default;
};

}  // namespace compound
