// Errors that not all processes would see.
#pragma once

#include <string>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// The same error on all processes where one has a reason; none where all are empty. Collective.
PetscErrorCode agree_on(Mat A, PetscErrorCode code, const std::string& reason);

}  // namespace compound::plugin
