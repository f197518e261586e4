// Products of sparse matrices in a device's memory; the host has functions of its own (storage/sparse_product.hpp).
#pragma once

#include <optional>
#include <vector>

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

/// A pattern in the backend's memory, columns ascending in each row.
struct PlacedRows {
  idx rows = 0, cols = 0;
  Buffer<count32> start;
  Buffer<idx> column;
  double products = 0;  ///< of two entries, where it is a product's
};

/// The pattern of A^T there.
struct PlacedTransposed {
  PlacedRows pattern;
  Buffer<count32> entry_of;  ///< of A, for each of A^T
};

class SparseProducts {
 public:
  /// Where A B has entries; `with_b`: or B in the same row. Nothing where a row has more than tables hold.
  virtual std::optional<PlacedRows> product_pattern(const PlacedRows& A, const PlacedRows& B, bool with_b) = 0;
  /// Nothing where a column of A has more entries than are sorted.
  virtual std::optional<PlacedTransposed> transposed(const PlacedRows& A) = 0;

  virtual void multiply_sparse(const SparseProductTask& task) = 0;

 protected:
  ~SparseProducts() = default;
};

}  // namespace compound
