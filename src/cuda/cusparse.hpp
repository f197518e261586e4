// cuSPARSE, NVIDIA's library of sparse matrices: opened when a plan first names one of its products. Nothing links it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "plan/library_products.hpp"

namespace compound::cuda {

/// Why this product of cuSPARSE cannot be had, in words: where the library was looked for, what it lacks, or that this
/// build does not know it; empty if it can. Opens the library.
std::optional<std::string> why_no_cusparse(const LibraryProduct& product);

/// "12.6.3"; empty without cuSPARSE.
std::optional<std::string> cusparse_version();

/// Products that it has made so far: for logs and tests.
int cusparse_product_count();

/// One packed matrix as the library has it, and what its products work in.
class CusparseMatrix {
 public:
  virtual ~CusparseMatrix() = default;
  /// y = [z +] A x, queued. Throws std::bad_alloc when memory is full, else `device` with cuSPARSE's words.
  virtual void multiply(const ProductTask& task, cudaStream_t queue) = 0;
  /// Of the device's memory that is its own.
  virtual std::size_t bytes() const = 0;
};

/// Of a plan that why_no_cusparse() lets through. The matrix is described, and prepared for, in its first product.
std::unique_ptr<CusparseMatrix> cusparse_matrix(const LibraryProduct& product, const Plan& plan,
                                                const Problem& problem);

}  // namespace compound::cuda
