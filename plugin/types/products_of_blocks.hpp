// Products of two sparse matrices of full blocks on the host: the set-up of algebraic multigrid.
#pragma once

#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// The operation `productsetfromoptions` of seq matrices above AIJ. Where operands multiply vectors on a device, so do
/// they each other (product_on_device.hpp); else A B and P^T A P go block by block (sparse_product.hpp) where both
/// operands' scalars come in full blocks and nobody asked for another algorithm than the parent's first
/// (-mat_product_algorithm, -matmatmult_via, -matptap_via). Others are the parent's.
PetscErrorCode seq_product_set_from_options(Mat product);

}  // namespace compound::plugin
