// The preconditioner pbjacobicompound: inverses of the diagonal blocks as a packed matrix, on the device where the
// matrix's products run there.
#pragma once

#include "petsc_guard.hpp"

namespace compound::plugin {

PetscErrorCode register_preconditioners();

}  // namespace compound::plugin
