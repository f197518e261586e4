// Replacing some of a matrix's operations by ours and giving the parent's back, from one list of pairs.
#pragma once

#include <utility>

#include "parent.hpp"

namespace compound::plugin {

/// `list(f)` calls f(&_MatOps::member, ours) for every operation a type overrides.
template <class List>
void install(Mat A, const List& list) {
  list([&](auto member, auto ours) { A->ops[0].*member = ours; });
}

template <class List>
void uninstall(Mat A, const _MatOps& parent, const List& list) {
  list([&](auto member, auto) { A->ops[0].*member = parent.*member; });
}

/// Calls `f` while A's operation `Member` is another one.
template <auto Member, class Operation, class F>
PetscErrorCode with_operation(Mat A, Operation operation, const F& f) {
  const auto own = std::exchange(A->ops[0].*Member, operation);
  const PetscErrorCode code = f();
  A->ops[0].*Member = own;
  return code;
}

/// The parent's operation `Member`, followed by After(A): for those that change values and raise too few states, or of
/// which there is something to tell.
template <auto ParentOf, auto After, auto Member>
struct Followed;
template <auto ParentOf, auto After, class... Args, PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct Followed<ParentOf, After, Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    const Parent* parent;
    PetscCall(ParentOf(&parent));
    PetscCall((parent->ops.*Member)(A, args...));
    PetscCall(After(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace compound::plugin
