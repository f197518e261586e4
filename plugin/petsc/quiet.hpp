// Calls of PETSc whose errors are not printed where they arise: we say more of them.
#pragma once

#include <petscsys.h>

namespace compound::plugin {

/// What `f` returns, a PetscErrorCode.
template <class F>
PetscErrorCode quietly(const F& f) {
  const bool is_quiet = !PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);  // else memory is lacking
  const PetscErrorCode code = f();
  if (is_quiet) (void)PetscPopErrorHandler();
  return code;
}

}  // namespace compound::plugin
