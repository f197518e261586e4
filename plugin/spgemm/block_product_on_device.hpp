// Products of two sparse matrices of full blocks on a device, block by block.
#pragma once

#include <memory>

#include "petsc/guard.hpp"
#include "storage/device_product.hpp"

namespace compound::plugin {

/// A B, or B^T A B, whose patterns are known.
struct BlockOperands {
  Mat of_A, of_B;
  FullBlocks A, B;  ///< without values
  bool is_galerkin;
  const GalerkinPatterns& patterns;  ///< of A B `result` alone
};

/// The patterns of a product on a device, which stay there from one numeric phase to the next.
struct PlacedProduct {
  PlacedPattern A, B, C;
  std::optional<PlacedGalerkin> galerkin;

  PlacedProduct(Backend& on, const BlockOperands& operands);
};

/// The values of C, on the device, by those of the operands there; assembly is to follow. `placed` is made where it is
/// null. Where the device has no memory for it `done` is false, and C is as it was.
PetscErrorCode multiply_blocks_on_device(Mat C, const BlockOperands& operands, std::unique_ptr<PlacedProduct>* placed,
                                         bool* done);

}  // namespace compound::plugin
