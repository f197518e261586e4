// Products of two sparse matrices on a device: algebraic multigrid's set-up.
#pragma once

#include "petsc/guard.hpp"

#if PetscDefined(HAVE_CUDA)

namespace compound::plugin {

/// Whether a product of seq matrices above AIJ is to be made on a device: where one of the operands' products with
/// vectors run there, the other's can, and they are large. Of AB, AtB and PtAP, once the base type's
/// MatProductSetFromOptions() has been called.
PetscErrorCode is_product_on_device(Mat product, bool* yes);

/// Why products with A are not made on a device, whatever the other operand; null where they may be.
PetscErrorCode why_no_device(Mat A, const char** why);

/// Such a product is PETSc's by cuSPARSE, on copies in single scalars, unless that cannot count it.
PetscErrorCode take_product_on_device(Mat product, bool* taken);

}  // namespace compound::plugin

#endif
