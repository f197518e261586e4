// Products of two sparse matrices of full blocks on the host: the set-up of algebraic multigrid.
#pragma once

#include <vector>

#include "base/shape.hpp"
#include "pattern/pattern.hpp"
#include "petsc/base_type.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// The operation `productsetfromoptions` of seq matrices above AIJ. Where operands multiply vectors on a device, so do
/// they each other (product_on_device.hpp); else A B and P^T A P go block by block (sparse_product.hpp) where both
/// operands' scalars come in full blocks and nobody asked for another algorithm than the parent's first
/// (-mat_product_algorithm, -matmatmult_via, -matptap_via). Others are the parent's.
PetscErrorCode seq_product_set_from_options(Mat product);

/// The same of mpi matrices, whose blocks are those of MatSetBlockSizes(); on the host (mpi_products_of_blocks.cpp).
PetscErrorCode mpi_product_set_from_options(Mat product);

/// What both have in common.
struct BlockProductKind {
  MatProductType type;
  const char* option;  ///< by which users of MatMatMult() and the like name an algorithm
  bool is_galerkin;
};

/// Calls the parent's MatProductSetFromOptions(). `kind` is null where the product is of another kind, or an algorithm
/// was asked for.
PetscErrorCode ask_parent(Mat product, const BlockProductKind** kind);

/// An operand with its values; `full`: whether it is a seq matrix of ours above AIJ whose scalars come in full blocks
/// of more than one.
PetscErrorCode full_blocks_of(Mat A, BlockArrays* blocks, bool* full);

/// Which pattern an operand had.
struct PatternKey {
  PetscObjectId id = 0;
  PetscObjectState nonzeros = -1;
  bool operator==(const PatternKey&) const = default;
};
PetscErrorCode key_of(Mat A, PatternKey* key);

/// An error that tells of operands which give another pattern than those of MAT_INITIAL_MATRIX.
PetscErrorCode refuse_other_pattern(Mat product);

}  // namespace compound::plugin
