#include "pc/cp.hpp"

#include <petsc/private/pcimpl.h>

#include "copies/host_values.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode (*parents_create)(PC);
PetscErrorCode (*parents_set_up)(PC);

/// It reads AIJ's array.
PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  PetscCall(need_host_values(pc->pmat));
  PetscCall(under_parents_name(pc->pmat, [&] { return parents_set_up(pc); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  PetscCall(parents_create(pc));
  parents_set_up = pc->ops->setup;
  pc->ops->setup = set_up;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode wrap_column_projection() {
  PetscFunctionBegin;
  PetscErrorCode (*found)(PC) = nullptr;
  PetscCall(PetscFunctionListFind(PCList, PCCP, &found));
  if (!found || found == create) PetscFunctionReturn(PETSC_SUCCESS);
  parents_create = found;
  PetscCall(PCRegister(PCCP, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
