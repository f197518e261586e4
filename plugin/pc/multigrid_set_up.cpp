#include "pc/multigrid_set_up.hpp"

#include <petsc/private/pcimpl.h>

#include <memory>

#include "pc/cycle.hpp"
#include "pc/multigrid_on_device.hpp"
#include "petsc/guard.hpp"
#include "petsc/owned.hpp"

namespace compound::plugin {

namespace {

constexpr const char* container_name = "petsc-compound set-up of multigrid";

/// Values of -pc_gamg_compound_set_up.
enum class SetUpWanted { automatic, device, host };
constexpr const char* names_of_wanted[] = {"auto", "device", "host"};

/// Hangs on the preconditioner.
struct SetUp {
  SetUpWanted wanted = SetUpWanted::automatic;
  LevelPlaces places;
  bool is_known = false;  ///< a set-up has run
  decltype(_PCOps::view) base_view = nullptr;
  decltype(_PCOps::setfromoptions) base_set_from_options = nullptr;
};

PetscErrorCode set_up_of(PC pc, SetUp** s) {
  PetscFunctionBegin;
  PetscCall(composed(reinterpret_cast<PetscObject>(pc), container_name, s));
  PetscCheck(*s, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_PLIB, "A multigrid has lost its set-up");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  SetUp* s;
  PetscBool text;
  PetscCall(set_up_of(pc, &s));
  if (s->base_view) PetscCall(s->base_view(pc, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &text));
  if (!text || !s->is_known) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->places.why_not.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound set-up: on the host: %s\n", s->places.why_not.c_str()));
  for (std::size_t k = 0; k < s->places.levels.size(); ++k)
    PetscCall(PetscViewerASCIIPrintf(viewer, "    Compound set-up of the %s: %s\n",
                                     k == 0 ? "finest level" : ("level " + std::to_string(k) + " below it").c_str(),
                                     s->places.levels[k].c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode prepare_multigrid(PC pc) {
  PetscFunctionBegin;
  PetscCall(prepare_cycle(pc));
  auto made = std::make_unique<SetUp>();
  made->base_view = pc->ops->view;
  made->base_set_from_options = pc->ops->setfromoptions;
  PetscCall(compose_owned(reinterpret_cast<PetscObject>(pc), container_name, std::move(made)));
  pc->ops->view = for_petsc<view>;
  // Arguments differ by release; their name is that of PETSc's macros.
  pc->ops->setfromoptions = [](PC of, auto PetscOptionsObject) -> PetscErrorCode {
    PetscFunctionBegin;
    SetUp* s;
    PetscCall(set_up_of(of, &s));
    if (s->base_set_from_options) PetscCall(s->base_set_from_options(of, PetscOptionsObject));
    auto wanted = static_cast<PetscInt>(s->wanted);
    PetscCall(
        PetscOptionsEList("-pc_gamg_compound_set_up",
                          "Where levels of aijcompound are set up: auto is the device where it can (default auto)",
                          nullptr, names_of_wanted, 3, names_of_wanted[wanted], &wanted, nullptr));
    s->wanted = static_cast<SetUpWanted>(wanted);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_multigrid(PC pc, PetscErrorCode (*base)(PC)) {
  PetscFunctionBegin;
  SetUp* s;
  PetscCall(set_up_of(pc, &s));
  s->places.why_not.clear();
  s->is_known = true;
  if (s->wanted == SetUpWanted::host)
    s->places.why_not = "-pc_gamg_compound_set_up host";
  else
    PetscCall(set_up_on_device(pc, base, s->wanted == SetUpWanted::device, &s->places));
  if (s->places.why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  s->places.levels.clear();
  PetscCheck(s->wanted != SetUpWanted::device, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "-pc_gamg_compound_set_up device: multigrid cannot be set up on a device (%s); use auto or host",
             s->places.why_not.c_str());
  PetscCall(PetscInfo(pc, "The set-up runs on the host: %s\n", s->places.why_not.c_str()));
  PetscCall(base(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
