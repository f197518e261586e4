// Where a matrix has blocks: compared between matrices, and told from one time to another.
#pragma once

#include <cstdint>

#include "petsc_guard.hpp"

namespace compound::plugin {

/// Whether two matrices, BAIJ or of our types and of one size, have their blocks in the same places on all processes.
/// Collective.
PetscErrorCode have_same_pattern(Mat A, Mat B, bool* same);

/// Hash of where this process's blocks are.
PetscErrorCode hash_of_pattern(Mat A, std::uint64_t* hash);

}  // namespace compound::plugin
