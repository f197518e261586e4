// Replacing some of a matrix's operations and composed functions by ours and giving the base type's back, from one
// list.
#pragma once

#include <algorithm>
#include <utility>

#include "petsc/base_types.hpp"
#include "petsc/huge_pages.hpp"

namespace compound::plugin {

/// An operation that calls the base type's, and is left out where that has none.
template <class F>
struct IfBaseHas {
  F* call;
};

/// `list(f)` calls f(&_MatOps::member, ours) for every operation a type overrides.
template <class List>
void install(Mat A, const _MatOps& base, const List& list) {
  list([&]<class F>(auto member, F ours) {
    if constexpr (requires { ours.call; })
      A->ops[0].*member = base.*member ? ours.call : nullptr;
    else
      A->ops[0].*member = ours;
  });
}

template <class List>
void uninstall(Mat A, const _MatOps& base, const List& list) {
  list([&](auto member, auto) { A->ops[0].*member = base.*member; });
}

/// Calls `f` while A's operation `Member` is another one.
template <auto Member, class Operation, class F>
PetscErrorCode with_operation(Mat A, Operation operation, const F& f) {
  const auto own = std::exchange(A->ops[0].*Member, operation);
  const PetscErrorCode code = f();
  A->ops[0].*Member = own;
  return code;
}

/// The base type's operation `Member`, followed by After(A): for those that change values and raise too few states, or
/// of which there is something to tell.
template <auto After, auto Member>
struct Followed;
template <auto After, class... Args, PetscErrorCode (*_MatOps::*Member)(Mat, Args...)>
struct Followed<After, Member> {
  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    const _MatOps* base;
    PetscCall(base_ops(A, &base));
    PetscCall((base->*Member)(A, args...));
    PetscCall(After(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// Its row in a list of operations.
template <auto Member, auto After, class F>
void follow(const F& f) {
  f(Member, IfBaseHas{for_petsc<Followed<After, Member>::call>});
}

/// The name under which a function is composed with an object, as a template's argument.
template <std::size_t size>
struct FunctionName {
  char text[size];
  constexpr FunctionName(const char (&from)[size]) { std::copy_n(from, size, text); }
};

/// A row in a list of functions: one that PETSc looks up by name and the base type does not have.
template <FunctionName name, auto ours>
struct OwnFunction {
  static PetscErrorCode put_on(Mat A) { return compose(A, name.text, for_petsc<ours>); }
  static PetscErrorCode take_off(Mat A) { return compose(A, name.text, nullptr); }
};

/// One that the base type has, and we do ourselves: of its type on one process, or on several.
template <bool is_mpi, FunctionName name, auto ours>
struct ReplacedFunction {
  static inline void (*base)(void) = nullptr;  ///< the same for all matrices of the type

  static PetscErrorCode put_on(Mat A) {
    PetscFunctionBegin;
    void (*found)(void);
    PetscCall(query(A, name.text, &found));
    if (found != reinterpret_cast<void (*)(void)>(for_petsc<ours>)) base = found;
    PetscCall(compose(A, name.text, for_petsc<ours>));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode take_off(Mat A) { return compose(A, name.text, base); }
};

inline PetscErrorCode nothing(Mat) { return PETSC_SUCCESS; }

/// One that the base type has: its own, after Before(A) and followed by After(A).
template <const BaseType& base_type, FunctionName name, auto After, class Signature, auto Before = nothing>
struct FollowedFunction;
template <const BaseType& base_type, FunctionName name, auto After, class... Args, auto Before>
struct FollowedFunction<base_type, name, After, PetscErrorCode(Mat, Args...), Before> {
  static inline PetscErrorCode (*base)(Mat, Args...) = nullptr;  ///< the same for all matrices of the type

  static PetscErrorCode call(Mat A, Args... args) {
    PetscFunctionBegin;
    PetscCall(Before(A));
    const HugePages of_new_arrays;
    PetscCall(base(A, args...));
    PetscCall(After(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode put_on(Mat A) {
    PetscFunctionBegin;
    PetscErrorCode (*found)(Mat, Args...);
    PetscCall(query(A, name.text, &found));
    if (found != for_petsc<call>) base = found;
    PetscCall(compose(A, name.text, for_petsc<call>));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode take_off(Mat A) { return compose(A, name.text, base); }
};

/// `list(f)` calls f(row) for every function that a type composes.
template <class List>
PetscErrorCode compose_all(Mat A, const List& list) {
  PetscErrorCode code = PETSC_SUCCESS;
  list([&](auto row) { code = code ? code : row.put_on(A); });
  return code;
}

template <class List>
PetscErrorCode remove_all(Mat A, const List& list) {
  PetscErrorCode code = PETSC_SUCCESS;
  list([&](auto row) { code = code ? code : row.take_off(A); });
  return code;
}

}  // namespace compound::plugin
