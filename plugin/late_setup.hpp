// PETSc 3.18 crashes when values enter a BAIJ matrix that was never preallocated nor set up; from 3.19 on
// MatSetValues() sets it up. The same is done here for 3.18, so that a matrix typed late (preallocated as aij, then
// MatSetType()) works.
#pragma once

#include "petsc_guard.hpp"

namespace compound::plugin {

template <auto Member>
struct SetUpFirst;
template <class... Args, PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct SetUpFirst<Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    PetscCall(MatSetUp(A));  // ends in finish_late_set_up(), so that the operation is the parent's now
    PetscCall((A->ops[0].*Member)(A, args...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class F>
void for_each_first_operation(const F& f) {
  f(&_MatOps::setvalues, SetUpFirst<&_MatOps::setvalues>::call);
  f(&_MatOps::setvaluesblocked, SetUpFirst<&_MatOps::setvaluesblocked>::call);
  f(&_MatOps::zeroentries, SetUpFirst<&_MatOps::zeroentries>::call);
}

/// For a constructor: operations that may come first set the matrix up.
inline void begin_late_set_up([[maybe_unused]] Mat A) {
#if PETSC_VERSION_LT(3, 19, 0)
  for_each_first_operation([&](auto member, auto ours) { A->ops[0].*member = ours; });
#endif
}

/// Once the matrix is preallocated: the parent's operations again (those that PETSc has not replaced since).
inline void finish_late_set_up([[maybe_unused]] Mat A, [[maybe_unused]] const _MatOps& parent) {
#if PETSC_VERSION_LT(3, 19, 0)
  if (!A->preallocated) return;
  for_each_first_operation([&](auto member, auto ours) {
    if (A->ops[0].*member == ours) A->ops[0].*member = parent.*member;
  });
#endif
}

}  // namespace compound::plugin
