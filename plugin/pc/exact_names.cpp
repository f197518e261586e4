#include "pc/exact_names.hpp"

#include <petsc/private/pcimpl.h>

#include "copies/host_values.hpp"

namespace compound::plugin {

namespace {

constexpr const char* asking[] = {PCCP, PCTFS};

/// Of row `which`: its set-up reads the parent's arrays.
template <int which>
struct UnderParentsName {
  static inline PetscErrorCode (*parents_create)(PC) = nullptr;
  static inline PetscErrorCode (*parents_set_up)(PC) = nullptr;

  static PetscErrorCode set_up(PC pc) {
    PetscFunctionBegin;
    PetscCall(need_host_values(pc->pmat));
    PetscCall(under_parents_name(pc->pmat, [&] { return parents_set_up(pc); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode create(PC pc) {
    PetscFunctionBegin;
    PetscCall(parents_create(pc));
    parents_set_up = pc->ops->setup;
    pc->ops->setup = set_up;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Nothing where this PETSc has no such preconditioner.
  static PetscErrorCode wrap() {
    PetscFunctionBegin;
    PetscErrorCode (*found)(PC) = nullptr;
    PetscCall(PetscFunctionListFind(PCList, asking[which], &found));
    if (!found || found == create) PetscFunctionReturn(PETSC_SUCCESS);
    parents_create = found;
    PetscCall(PCRegister(asking[which], create));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace

PetscErrorCode wrap_preconditioners_by_name() {
  PetscFunctionBegin;
  PetscCall(UnderParentsName<0>::wrap());
  PetscCall(UnderParentsName<1>::wrap());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
