// PETSc 3.18 crashes when values enter a BAIJ matrix that was never preallocated nor set up; from 3.19 on
// MatSetValues() sets it up. The same is done here for 3.18, so that a matrix typed late (preallocated as aij, then
// MatSetType()) works.
#pragma once

#include "petsc/base_types.hpp"

namespace compound::plugin {

inline void finish_late_set_up(Mat A, const _MatOps& base);

template <auto Member>
struct SetUpFirst;
template <class... Args, PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct SetUpFirst<Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    const _MatOps* base;
    PetscCall(base_ops(A, &base));
    PetscCall(MatSetUp(A));
    finish_late_set_up(A, *base);  // of AIJ it has not come by our preallocation
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
  for_each_first_operation([&](auto member, auto ours) {
    if (A->ops[0].*member) A->ops[0].*member = ours;  // AIJ leaves blocks to the interface
  });
#endif
}

/// Once the matrix is preallocated: the base type's operations again (those that PETSc has not replaced since).
inline void finish_late_set_up([[maybe_unused]] Mat A, [[maybe_unused]] const _MatOps& base) {
#if PETSC_VERSION_LT(3, 19, 0)
  if (!A->preallocated) return;
  for_each_first_operation([&](auto member, auto ours) {
    if (A->ops[0].*member == ours) A->ops[0].*member = base.*member;
  });
#endif
}

/// Before an assembly begins: sets a matrix up that was not. A program that never asked for that, nor preallocated, was
/// told by MatGetOwnershipRange() (3.18) that it has no rows, so that it inserted nothing on any process: better an
/// error than an empty matrix. Collective, as the assembly.
inline PetscErrorCode set_up_for_assembly(Mat A) {
  PetscFunctionBegin;
  int untouched = !A->preallocated;
  if (untouched) PetscCall(MatSetUp(A));
#if PETSC_VERSION_LT(3, 19, 0)
  if (A->num_ass > 0) PetscFunctionReturn(PETSC_SUCCESS);  // the same on all processes, unlike was_assembled
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &untouched, 1, MPI_INT, MPI_MIN, comm_of(A)));
  PetscCheck(
      !untouched, comm_of(A), PETSC_ERR_ARG_WRONGSTATE,
      "A matrix of type %s is assembled without an entry, and without MatSetUp() or preallocation for its type "
      "before it was filled; call MatSetUp() before MatGetOwnershipRange() and MatSetValues(), or use PETSc 3.19 "
      "or newer",
      reinterpret_cast<PetscObject>(A)->type_name);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
