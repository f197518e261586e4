// Products of sparse matrices of full blocks on the host, block by block: the set-up of algebraic multigrid.
#pragma once

#include "block_shape.hpp"
#include "pattern.hpp"
#include "scalar_type.hpp"

namespace compound {

/// Full blocks, values in the order of rows (ValueOrder::rows).
struct FullBlocks {
  PatternView pattern;
  BlockShape block;
  const void* values = nullptr;
};

/// Where A B has entries: where a product of entries is, zero or not. Columns ascend in each row, whatever the order in
/// A and B. Throws `argument` where the rows of B are not as many as the columns of A, `too_large` as pattern_from().
Pattern product_pattern(const PatternView& A, const PatternView& B);

/// The same of Q^T A P (Q = P: Galerkin's product), without the values that multiply_galerkin() keeps not either.
/// Throws as product_pattern(), and `argument` where the rows of Q are not as many as those of A.
Pattern galerkin_pattern(const PatternView& Q, const PatternView& A, const PatternView& P);

/// values <- A B. `C` is their product_pattern(); blocks are as high as those of A and as wide as those of B, and
/// values in the order of rows. Sums are in the order of the entries of A, so equal bits on one instruction set; double
/// precision by the vector instructions in use (host/instruction_set.hpp).
/// Returns how many multiplications of scalars it took.
double multiply(const FullBlocks& A, const FullBlocks& B, ScalarType scalar, const PatternView& C, void* values);

/// values <- Q^T A P, row by row of A, of whose products with P one row is kept at a time. `C` is their
/// galerkin_pattern().
double multiply_galerkin(const FullBlocks& Q, const FullBlocks& A, const FullBlocks& P, ScalarType scalar,
                         const PatternView& C, void* values);

}  // namespace compound
