// Objects of ours that live as long as a PETSc object which they are composed with.
#pragma once

#include <memory>

#include "petsc/guard.hpp"

namespace compound::plugin {

/// Composes `owned` with `object`, whose destruction (or another composition of that name) destroys it.
template <class T>
PetscErrorCode compose_owned(PetscObject object, const char* name, std::unique_ptr<T> owned) {
  PetscFunctionBegin;
  PetscContainer container;
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, owned.get()));
#if PETSC_VERSION_GE(3, 23, 0)
  PetscCall(
      PetscContainerSetCtxDestroy(container, [](auto context) -> PetscErrorCode {  // void** in 3.23, void* from 3.25
        delete *static_cast<T**>(static_cast<void*>(context));
        return PETSC_SUCCESS;
      }));
#else
  PetscCall(PetscContainerSetUserDestroy(container, [](void* context) -> PetscErrorCode {
    delete static_cast<T*>(context);
    return PETSC_SUCCESS;
  }));
#endif
  static_cast<void>(owned.release());
  const PetscErrorCode code = PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What was composed, or null.
template <class T>
PetscErrorCode composed(PetscObject object, const char* name, T** owned) {
  PetscFunctionBegin;
  PetscObject container;
  void* context = nullptr;
  PetscCall(PetscObjectQuery(object, name, &container));
  if (container) PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &context));
  *owned = static_cast<T*>(context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
