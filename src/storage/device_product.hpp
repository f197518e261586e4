// Products of sparse matrices of full blocks in a device's memory. Their patterns are the host's (sparse_product.hpp).
#pragma once

#include "backend/backend.hpp"
#include "storage/sparse_product.hpp"

namespace compound {

/// FullBlocks in the memory of a backend, released with it.
class PlacedBlocks {
 public:
  /// `from` need not live longer; without values there: room for those of a product.
  PlacedBlocks(Backend& on, ScalarType scalar, const FullBlocks& from);

  /// Values in the order of rows, as products find or leave them.
  void* values() const { return values_.data(); }
  std::size_t value_bytes() const { return values_.bytes(); }
  std::size_t bytes() const { return start_.bytes() + column_.bytes() + values_.bytes(); }
  idx rows() const { return rows_; }
  BlockShape block() const { return block_; }
  block_rows_args args() const { return {start_.data(), column_.data(), values_.data()}; }

  void download_values(Backend& from, void* to) const {
    if (value_bytes() > 0) from.download(to, values(), value_bytes());
  }

 private:
  idx rows_;
  BlockShape block_;
  Buffer<count32> start_;
  Buffer<idx> column_;
  Buffer<std::byte> values_;
};

/// C <- A B, queued. C's pattern is their product_pattern(). Sums are in the order of the entries of A: always the same
/// bits. No row of B may have a column twice.
void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C);

/// C <- Q^T A P by way of A P, for which there must be room. `of` are their galerkin_patterns(), C's is of.result.
void multiply_galerkin(Backend& on, ScalarType scalar, const PlacedBlocks& Q, const PlacedBlocks& A,
                       const PlacedBlocks& P, const GalerkinPatterns& of, const PlacedBlocks& C);

}  // namespace compound
