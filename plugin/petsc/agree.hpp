// What all processes must know of each other: errors that not all would see, and what holds on all.
#pragma once

#include <string>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The same error on all processes where one has a reason; none where all are empty. Collective.
PetscErrorCode agree_on(Mat A, PetscErrorCode code, const std::string& reason);

/// Whether something holds on all processes. Collective.
PetscErrorCode on_all(Mat A, bool here, bool* all);

}  // namespace compound::plugin
