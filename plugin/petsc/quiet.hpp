// Calls of PETSc whose errors are not printed where they arise: we say more of them.
#pragma once

#include <petscsys.h>

namespace compound::plugin {

/// What `f` returns, a PetscErrorCode.
template <class F>
PetscErrorCode quietly(const F& f) {
  (void)PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  const PetscErrorCode code = f();
  (void)PetscPopErrorHandler();
  return code;
}

}  // namespace compound::plugin
