// Products of sparse matrices of full blocks on the host, block by block: the set-up of algebraic multigrid.
#pragma once

#include <span>

#include "base/scalar.hpp"
#include "base/shape.hpp"
#include "pattern/pattern.hpp"

namespace compound {

/// Full blocks, values in the order of rows (ValueOrder::rows).
struct FullBlocks {
  PatternView pattern;
  BlockShape block;
  const void* values = nullptr;
};

/// A product A B of a sum: of several processes' matrices, the columns of this process and those of others.
template <class Matrix>
struct Term {
  Matrix A, B;
};

/// Where the sum of one or two A B has entries: where a product of entries is, zero or not. Columns ascend in each row,
/// whatever the order in A and B. Throws `argument` where the rows of B are not as many as the columns of A, or the
/// sizes of two products differ, `too_large` as pattern_from().
Pattern product_pattern(std::span<const Term<PatternView>> sum);

/// The same of Q^T times the sum; Galerkin's product is P^T A P. Throws as product_pattern(), and `argument` where the
/// rows of Q are not as many as those of A.
Pattern galerkin_pattern(const PatternView& Q, std::span<const Term<PatternView>> sum);

/// The patterns of Q^T A P by way of A P, where there is room to keep that (device_product.hpp).
struct GalerkinPatterns {
  Pattern product;       ///< of A P
  Transposed to_coarse;  ///< of Q
  Pattern result;
};
/// Throws as galerkin_pattern().
GalerkinPatterns galerkin_patterns(const PatternView& Q, const Term<PatternView>& term);

/// How many products of two blocks A B has.
double block_products(const PatternView& A, const PatternView& B);

/// values <- sum of A B. `C` is their product_pattern(); all A have blocks of one size, and all B; those of C are as
/// high as those of A and as wide as those of B, values in the order of rows. Sums are in the order of the entries of
/// A, so equal bits on one instruction set; double precision by the vector instructions in use
/// (host/instruction_set.hpp). Returns how many multiplications of scalars it took.
double multiply(std::span<const Term<FullBlocks>> sum, ScalarType scalar, const PatternView& C, void* values);

/// values <- Q^T times the sum, row by row of A, of whose products one row is kept at a time. `C` is their
/// galerkin_pattern().
double multiply_galerkin(const FullBlocks& Q, std::span<const Term<FullBlocks>> sum, ScalarType scalar,
                         const PatternView& C, void* values);

}  // namespace compound
