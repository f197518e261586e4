// The edge between PETSc's error codes and the core's exceptions, and names that old PETSc releases lack.
#pragma once

#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <petsc/private/matimpl.h>
#include <petscmat.h>

#include "base/error.hpp"
#include "base/scalar.hpp"
#include "petsc/scoped.hpp"

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace compound::plugin {

#if defined(PETSC_USE_COMPLEX)
using Scalar = complex_number<PetscReal>;
#else
using Scalar = PetscReal;
#endif
static_assert(sizeof(Scalar) == sizeof(PetscScalar));
inline PetscScalar petsc_scalar(Scalar s) { return std::bit_cast<PetscScalar>(s); }

/// The exception that is being handled, as a PETSc error: the one place where they become such.
PetscErrorCode translate_exception(MPI_Comm comm);

/// The error that `body` returns, where it returns one, or throws. Inline: every product comes by here.
template <class Body>
[[gnu::always_inline]] inline PetscErrorCode guarded(MPI_Comm comm, const Body& body) {
  using Result = decltype(body());
  static_assert(std::is_void_v<Result> || std::is_same_v<Result, PetscErrorCode>);
  try {
    if constexpr (std::is_void_v<Result>) {
      body();
      return PETSC_SUCCESS;
    } else {
      return body();
    }
  } catch (...) {
    return translate_exception(comm);
  }
}

/// A function of ours as PETSc may call it: an exception must not go through frames of C. What is handed to PETSc (an
/// operation, a constructor, a function under a name) is this, and is compared with this.
template <auto function>
struct ForPetsc;
template <class... Args, PetscErrorCode (*function)(Args...)>
struct ForPetsc<function> {
  static PetscErrorCode call(Args... args) {
    return guarded(PETSC_COMM_SELF, [&] { return function(args...); });
  }
};
template <auto function>
constexpr auto for_petsc = ForPetsc<function>::call;

/// Calls `finish`, and destroys what was made for it where that fails: it is not the caller's yet.
template <class Body>
PetscErrorCode finish_or_destroy(Mat* made, const Body& finish) {
  PetscFunctionBegin;
  const PetscErrorCode code = guarded(PETSC_COMM_SELF, finish);
  if (code) {
    static_cast<void>(MatDestroy(made));  // may want memory itself
    *made = nullptr;
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same where it was made anew; a matrix that was there stays.
template <class Body>
PetscErrorCode finish_or_keep(MatReuse reuse, Mat* B, const Body& finish) {
  return reuse == MAT_INITIAL_MATRIX ? finish_or_destroy(B, finish) : guarded(PETSC_COMM_SELF, finish);
}

/// guarded(), but lack of memory is no error: `enough` tells of it.
template <class Body>
PetscErrorCode guarded_memory(MPI_Comm comm, bool* enough, const Body& body) {
  *enough = true;
  return guarded(comm, [&] {
    try {
      body();
    } catch (const std::bad_alloc&) {
      *enough = false;
    }
  });
}

inline MPI_Comm comm_of(Mat A) { return PetscObjectComm(reinterpret_cast<PetscObject>(A)); }

inline bool has_type(Mat A, const char* type) {
  const char* const name = reinterpret_cast<PetscObject>(A)->type_name;
  return name && std::strcmp(name, type) == 0;
}

/// For messages.
inline const char* type_of(Mat A) {
  const char* const name = reinterpret_cast<PetscObject>(A)->type_name;
  return name ? name : "(none yet)";
}

/// Calls `f` while A bears a type name that is not its own: for functions of PETSc that compare the exact name where a
/// descendant would do.
template <class F>
PetscErrorCode under_type_name(Mat A, MatType lent, const F& f) {
  char*& type_name = reinterpret_cast<PetscObject>(A)->type_name;
  char* const own = std::exchange(type_name, const_cast<char*>(lent));  // PETSc does not write to it
  const PetscErrorCode code = f();
  type_name = own;
  return code;
}

/// Another type name for a matrix, for which memory is taken before anything changes.
class NewTypeName {
 public:
  NewTypeName() = default;
  NewTypeName(const NewTypeName&) = delete;
  ~NewTypeName() { static_cast<void>(PetscFree(name_)); }
  PetscErrorCode make(MatType type) { return PetscStrallocpy(type, &name_); }
  /// A's name is the other one then, and goes with this.
  void exchange(Mat A) { std::swap(name_, reinterpret_cast<PetscObject>(A)->type_name); }

 private:
  char* name_ = nullptr;
};

/// Composes a function of any signature under a name; null removes it.
template <class F>
PetscErrorCode compose(Mat A, const char* name, F* f) {
  return PetscObjectComposeFunction(reinterpret_cast<PetscObject>(A), name, f);
}

/// The function composed under a name, or null.
template <class F>
PetscErrorCode query(Mat A, const char* name, F** f) {
  return PetscObjectQueryFunction(reinterpret_cast<PetscObject>(A), name, f);
}

/// PETSc would make room for a name that is not there, and a matrix is destroyed without memory, too.
inline PetscErrorCode compose(Mat A, const char* name, std::nullptr_t) {
  PetscFunctionBegin;
  void (*found)(void) = nullptr;
  PetscCall(query(A, name, &found));
  if (found)
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(A), name, static_cast<void (*)(void)>(nullptr)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same of a pristine matrix of a type, which is made for it.
template <class F>
PetscErrorCode query_type(MatType type, const char* name, F** f) {
  PetscFunctionBegin;
  ScopedMat pristine;
  PetscCall(MatCreate(PETSC_COMM_SELF, pristine.out()));
  PetscCall(MatSetType(pristine, type));
  PetscCall(query(pristine, name, f));
  PetscCall(pristine.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
