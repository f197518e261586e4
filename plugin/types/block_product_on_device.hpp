// Products of two sparse matrices of full blocks on a device, block by block.
#pragma once

#include "edge/petsc_guard.hpp"
#include "storage/sparse_product.hpp"

namespace compound::plugin {

/// A B, or B^T A B, whose patterns are known.
struct BlockOperands {
  Mat of_A, of_B;
  FullBlocks A, B;
  bool is_galerkin;
  const GalerkinPatterns& patterns;  ///< of A B `result` alone
};

/// C's values, in its own array; assembly is to follow. Where the device has no memory for it `done` is false, and C is
/// as it was. `has_copy`: whether C may have a packed copy on the device, which takes the values there, as those of the
/// operands do that are of older values.
PetscErrorCode multiply_blocks_on_device(Mat C, const BlockOperands& operands, bool has_copy, bool* done);

}  // namespace compound::plugin
