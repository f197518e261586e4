// Products of sparse matrices of full blocks in a device's memory.
#pragma once

#include <optional>

#include "backend/backend.hpp"
#include "backend/sparse_products.hpp"
#include "device/sparse_product.hpp"
#include "storage/sparse_product.hpp"

namespace compound {

/// The pattern of a matrix of full blocks in the memory of a backend, released with it.
class PlacedPattern {
 public:
  /// `from` need not live longer.
  PlacedPattern(Backend& on, const PatternView& from, BlockShape block);
  PlacedPattern(PlacedRows rows, BlockShape block) : rows_(std::move(rows)), block_(block) {}

  std::size_t bytes() const { return rows_.start.bytes() + rows_.column.bytes(); }
  std::size_t entries() const { return rows_.column.bytes() / sizeof(idx); }
  std::size_t scalars() const { return entries() * scalars_in(block_); }
  const PlacedRows& rows() const { return rows_; }
  BlockShape block() const { return block_; }
  block_rows_args with(const void* values) const { return {rows_.start.data(), rows_.column.data(), values}; }
  /// A copy on the host.
  Pattern pattern(Backend& on) const;

 private:
  PlacedRows rows_;
  BlockShape block_;
};

/// With values in the same memory, in the order of rows.
struct PlacedBlocks {
  const PlacedPattern& pattern;
  void* values;
};

/// The pattern of A B; `with_b`: with that of B as well, whose rows are as many. Nothing where the backend cannot find
/// it: a row has thousands of blocks.
std::optional<PlacedPattern> product_pattern(Backend& on, const PlacedPattern& A, const PlacedPattern& B, bool with_b);

/// Multiplications of scalars of A B, where its pattern was found there.
double multiplications(const PlacedPattern& A, const PlacedPattern& product);

/// C <- A B, queued. C's pattern is their product_pattern(). Sums are in the order of the entries of A: always the same
/// bits. No row of B may have a column twice.
void multiply(Backend& on, ScalarType scalar, const PlacedBlocks& A, const PlacedBlocks& B, const PlacedBlocks& C);

/// What Q^T A P needs in a backend's memory beside the patterns of its operands and its result.
class PlacedGalerkin {
 public:
  /// `of` are galerkin_patterns() of blocks of Q, A and P of these sizes, and need not live longer.
  PlacedGalerkin(Backend& on, const GalerkinPatterns& of, BlockShape Q, BlockShape A, BlockShape P);

  /// The same found there, and the pattern of the result. Nothing where the backend cannot find them.
  struct Found;
  static std::optional<Found> find(Backend& on, const PlacedPattern& Q, const PlacedPattern& A, const PlacedPattern& P);

  std::size_t bytes() const { return product_.bytes() + to_coarse_.bytes() + entry_of_.bytes(); }
  /// Multiplications of scalars, where `result` is what find() found.
  double multiplications(const PlacedPattern& A, const PlacedPattern& result) const;

 private:
  PlacedGalerkin(PlacedPattern product, PlacedTransposed to_coarse, BlockShape Q)
      : product_(std::move(product)),
        to_coarse_(std::move(to_coarse.pattern), {Q.cols, Q.rows}),
        entry_of_(std::move(to_coarse.entry_of)) {}
  friend void multiply_galerkin(Backend&, ScalarType, const PlacedBlocks&, const PlacedBlocks&, const PlacedBlocks&,
                                const PlacedGalerkin&, const PlacedBlocks&);
  PlacedPattern product_, to_coarse_;
  Buffer<count32> entry_of_;
};
struct PlacedGalerkin::Found {
  PlacedGalerkin way;
  PlacedPattern result;
};

/// C <- Q^T A P by way of A P, for whose values there must be room. C's pattern is their galerkin_pattern().
void multiply_galerkin(Backend& on, ScalarType scalar, const PlacedBlocks& Q, const PlacedBlocks& A,
                       const PlacedBlocks& P, const PlacedGalerkin& of, const PlacedBlocks& C);

}  // namespace compound
