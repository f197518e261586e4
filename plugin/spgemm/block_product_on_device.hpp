// Products of two sparse matrices of full blocks on a device, block by block.
#pragma once

#include <memory>

#include "petsc/guard.hpp"
#include "storage/device_product.hpp"

namespace compound::plugin {

/// A B, or B^T A B, of matrices in full blocks.
struct BlockOperands {
  Mat of_A, of_B;
  FullBlocks A, B;  ///< without values
  bool is_galerkin;
};

/// The patterns of a product on a device, which stay there from one numeric phase to the next.
struct PlacedProduct {
  std::shared_ptr<const PlacedPattern> A, B, C;
  std::optional<PlacedGalerkin> galerkin;
  double multiplications = 0;  ///< of scalars
};

/// The pattern of a matrix in full blocks on a device: made once, and kept with the matrix. Throws what the backend
/// throws.
std::shared_ptr<const PlacedPattern> placed_pattern(Backend& on, Mat A, const FullBlocks& blocks);

/// The patterns of a product, found on the device, and that of the result on the host as well. `placed` stays null
/// where the device cannot find them: a row has thousands of blocks, or there is no memory.
PetscErrorCode find_patterns_on_device(Mat C, const BlockOperands& operands, std::unique_ptr<PlacedProduct>* placed,
                                       Pattern* result);

/// The same sent there: `patterns` are the host's, of A B `result` alone.
PetscErrorCode send_patterns(Mat C, const BlockOperands& operands, const GalerkinPatterns& patterns,
                             std::unique_ptr<PlacedProduct>* placed);

/// The values of C, on the device, by those of the product's operands there; assembly is to follow. Where the device
/// has no memory for it, `done` is false, C is as it was, and `placed` is given up.
PetscErrorCode multiply_blocks_on_device(Mat C, std::unique_ptr<PlacedProduct>* placed, bool* done);

}  // namespace compound::plugin
