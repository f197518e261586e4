// The operation `productsetfromoptions` of matrices above AIJ: it chooses how two of them are multiplied.
#pragma once

#include "petsc/base_type.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// Of seq matrices. Where operands multiply vectors on a device, so do they each other (product_on_device.hpp); else A
/// B and P^T A P go block by block (block_product.hpp) where both operands' scalars come in full blocks and no other
/// algorithm than the base type's first is asked for. Others are the base type's.
PetscErrorCode seq_product_set_from_options(Mat product);

/// The same of mpi matrices, whose blocks are those of MatSetBlockSizes(); on the host.
PetscErrorCode mpi_product_set_from_options(Mat product);

/// An operand with its values; `full`: whether it is a seq matrix of ours above AIJ whose scalars come in full blocks
/// of more than one.
PetscErrorCode full_blocks_of(Mat A, BlockArrays* blocks, bool* full);

}  // namespace compound::plugin
