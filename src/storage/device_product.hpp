// Products of sparse matrices of full blocks in a device's memory. Their patterns are the host's (sparse_product.hpp).
#pragma once

#include "backend/backend.hpp"
#include "device/sparse_product.hpp"
#include "storage/sparse_product.hpp"

namespace compound {

/// The pattern of a matrix of full blocks in the memory of a backend, released with it.
class PlacedPattern {
 public:
  /// `from` need not live longer.
  PlacedPattern(Backend& on, const PatternView& from, BlockShape block);

  std::size_t bytes() const { return start_.bytes() + column_.bytes(); }
  std::size_t scalars() const { return entries_ * scalars_in(block_); }
  idx rows() const { return rows_; }
  BlockShape block() const { return block_; }
  block_rows_args with(const void* values) const { return {start_.data(), column_.data(), values}; }

 private:
  idx rows_;
  std::size_t entries_;
  BlockShape block_;
  Buffer<count32> start_;
  Buffer<idx> column_;
};

/// With values in the same memory, in the order of rows.
struct PlacedBlocks {
  const PlacedPattern& pattern;
  void* values;
};

/// C <- A B, queued. C's pattern is their product_pattern(). Sums are in the order of the entries of A: always the same
/// bits. No row of B may have a column twice.
void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C);

/// What Q^T A P needs in a backend's memory beside the patterns of its operands and its result.
class PlacedGalerkin {
 public:
  /// `of` are galerkin_patterns() of blocks of Q, A and P of these sizes, and need not live longer.
  PlacedGalerkin(Backend& on, const GalerkinPatterns& of, BlockShape Q, BlockShape A, BlockShape P);

  std::size_t bytes() const { return product_.bytes() + to_coarse_.bytes() + entry_of_.bytes(); }

 private:
  friend void multiply_galerkin(Backend&, ScalarType, const PlacedBlocks&, const PlacedBlocks&, const PlacedBlocks&,
                                const PlacedGalerkin&, const PlacedBlocks&);
  PlacedPattern product_, to_coarse_;
  Buffer<count32> entry_of_;
};

/// C <- Q^T A P by way of A P, for whose values there must be room. C's pattern is their galerkin_pattern().
void multiply_galerkin(Backend& on, ScalarType scalar, const PlacedBlocks& Q, const PlacedBlocks& A,
                       const PlacedBlocks& P, const PlacedGalerkin& of, const PlacedBlocks& C);

}  // namespace compound
