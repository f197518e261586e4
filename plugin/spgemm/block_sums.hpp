// Y + a X of matrices of full blocks above AIJ: GAMG smooths prolongators so.
#pragma once

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Y <- Y + a X, of seq matrices, where the blocks of X are some of Y's (SUBSET_NONZERO_PATTERN). `done` is false, and
/// nothing happened, where they are not, or one of them is not of full blocks of one size. The base type
/// looks for the place of each scalar, which takes longer than to add.
PetscErrorCode add_full_blocks(Mat Y, PetscScalar a, Mat X, bool* done);

}  // namespace compound::plugin
