// Calls of user-level functions whose operation neither BAIJ nor the compound types have: which of them PETSc answers
// by other operations, and which it refuses.
#pragma once

#include "compare.hpp"

namespace petsc_test {

struct CallOfUser {
  const char* function;
  PetscErrorCode (*run)(Mat A);
};
const std::vector<CallOfUser>& calls();

/// 3 x 3 blocks of 2 x 2, symmetric, no block missing.
Matrix matrix_for_calls(const std::string& type);

}  // namespace petsc_test
