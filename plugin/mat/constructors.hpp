// The type names that users may give.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Registers each base_type's types, and their names with a pinned layout.
PetscErrorCode register_types();

}  // namespace compound::plugin
