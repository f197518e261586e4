// Products of two sparse matrices on a device: algebraic multigrid's set-up.
#pragma once

#include "edge/petsc_guard.hpp"

#if PetscDefined(HAVE_CUDA)

namespace compound::plugin {

/// The operation `productsetfromoptions` of seq matrices above AIJ. Where the operands' products run on a device, those
/// of large ones (AB, AtB, PtAP) are PETSc's by cuSPARSE, on copies in single scalars; others are the parent's.
PetscErrorCode seq_product_set_from_options(Mat product);

}  // namespace compound::plugin

#endif
