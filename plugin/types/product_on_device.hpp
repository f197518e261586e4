// Products of two sparse matrices on a device: algebraic multigrid's set-up.
#pragma once

#include "edge/petsc_guard.hpp"

#if PetscDefined(HAVE_CUDA)

namespace compound::plugin {

/// Takes products of seq matrices above AIJ, once the parent's MatProductSetFromOptions() has been called, where the
/// operands' products run on a device: large ones (AB, AtB, PtAP) are PETSc's by cuSPARSE, on copies in single scalars.
PetscErrorCode take_product_on_device(Mat product, bool* taken);

}  // namespace compound::plugin

#endif
