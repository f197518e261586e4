#include "pc/exact_names.hpp"

#include <petsc/private/pcimpl.h>

#include <cstring>

#include "mat/attach.hpp"
#include "mat/via_aij_copy.hpp"
#include "pc/cycle.hpp"
#include "pc/multigrid_set_up.hpp"
#include "values/guards.hpp"

namespace compound::plugin {

namespace {

PetscErrorCode under_name(PC pc, PetscErrorCode (*set_up)(PC)) {
  PetscFunctionBegin;
  PetscCall(need_host_values(pc->pmat));
  PetscCall(under_base_name(pc->pmat, [&] { return set_up(pc); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Classical coarsening alone composes this function, and of its prolongations the direct one alone asks for the name.
PetscErrorCode has_direct_prolongation(PC pc, bool* direct) {
  PetscFunctionBegin;
  PCGAMGClassicalType type = nullptr;
  PetscErrorCode (*get)(PC, PCGAMGClassicalType*) = nullptr;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(pc), "PCGAMGClassicalGetType_C", &get));
  if (get) PetscCall(get(pc, &type));
  *direct = type && std::strcmp(type, PCGAMGCLASSICALDIRECT) == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A name alone would not do here: smoothers multiply while they are set up.
PetscErrorCode multigrid(PC pc, PetscErrorCode (*set_up)(PC)) {
  PetscFunctionBegin;
  bool direct = false;
  const TypeOfMatrix k = pc->pmat ? type_of_matrix(pc->pmat) : TypeOfMatrix{};
  PetscCall(release_cycle(pc));
  PetscCall(has_direct_prolongation(pc, &direct));
  if (direct && k.is_ours && k.base_type == &aij) {
    PetscCall(as_base_type(pc->pmat, [&] { return set_up(pc); }));
  } else if (k.is_ours && k.base_type == &aij) {
    PetscCall(set_up_multigrid(pc, set_up));
    PetscCall(take_cycle(pc, [&] { return set_up_multigrid(pc, set_up); }));
  } else {
    PetscCall(set_up(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode with_cycle(PC pc, PetscErrorCode (*set_up)(PC)) {
  PetscFunctionBegin;
  PetscCall(release_cycle(pc));
  PetscCall(set_up(pc));
  if (pc->pmat && type_of_matrix(pc->pmat).is_ours) PetscCall(take_cycle(pc, [&] { return set_up(pc); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// It looks for SBAIJ by its exact type before it chooses between LU and Cholesky.
PetscErrorCode redundant(PC pc, PetscErrorCode (*set_up)(PC)) {
  PetscFunctionBegin;
  PetscCall(pc->pmat ? under_upper_name(pc->pmat, [&] { return set_up(pc); }) : set_up(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode no_preparation(PC) { return PETSC_SUCCESS; }

/// PETSc's own error, of the same code, names the type alone.
PetscErrorCode aij_only(PC pc, PetscErrorCode (*set_up)(PC)) {
  PetscFunctionBegin;
  const TypeOfMatrix k = pc->pmat ? type_of_matrix(pc->pmat) : TypeOfMatrix{};
  if (k.is_ours && k.base_type == &baij) PetscCall(refuse_multigrid(pc->pmat, PETSC_ERR_ARG_WRONG, "of ML (PCML)"));
  PetscCall(set_up(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct ExactNameType {
  const char* type;
  PetscErrorCode (*set_up)(PC, PetscErrorCode (*base)(PC));
  PetscErrorCode (*prepare)(PC) = no_preparation;  ///< of a new one
};
constexpr ExactNameType exact_name_types[] = {{PCCP, under_name},
                                              {PCTFS, under_name},
                                              {PCGAMG, multigrid, prepare_multigrid},
                                              {PCML, aij_only},
                                              {PCMG, with_cycle, prepare_cycle},
                                              {PCREDUNDANT, redundant}};

/// Of row `which`.
template <int which>
struct Wrapped {
  static inline PetscErrorCode (*base_create)(PC) = nullptr;
  static inline PetscErrorCode (*base_set_up)(PC) = nullptr;

  static PetscErrorCode set_up(PC pc) { return exact_name_types[which].set_up(pc, base_set_up); }
  static PetscErrorCode create(PC pc) {
    PetscFunctionBegin;
    PetscCall(base_create(pc));
    base_set_up = pc->ops->setup;
    pc->ops->setup = for_petsc<set_up>;
    PetscCall(exact_name_types[which].prepare(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Nothing where this PETSc has no such preconditioner.
  static PetscErrorCode wrap() {
    PetscFunctionBegin;
    PetscErrorCode (*found)(PC) = nullptr;
    PetscCall(PetscFunctionListFind(PCList, exact_name_types[which].type, &found));
    if (!found || found == for_petsc<create>) PetscFunctionReturn(PETSC_SUCCESS);
    base_create = found;
    PetscCall(PCRegister(exact_name_types[which].type, for_petsc<create>));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace

PetscErrorCode wrap_preconditioners_by_name() {
  PetscFunctionBegin;
  PetscCall(Wrapped<0>::wrap());
  PetscCall(Wrapped<1>::wrap());
  PetscCall(Wrapped<2>::wrap());
  PetscCall(Wrapped<3>::wrap());
  PetscCall(Wrapped<4>::wrap());
  PetscCall(Wrapped<5>::wrap());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
