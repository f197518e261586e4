// Cycles of PETSc's PCMG and PCGAMG that a device runs by itself: when PETSc's own application is exchanged for one,
// the option, and the view that tells.
#pragma once

#include <petscpc.h>

#include <functional>

namespace compound::plugin {

/// Of a new PCMG, and again of the PCGAMG that it becomes.
PetscErrorCode prepare_cycle(PC pc);

/// Before PETSc's set-up: gives back what would keep matrices alive that this may replace.
PetscErrorCode release_cycle(PC pc);

/// After PETSc's set-up, which `set_up` runs again.
PetscErrorCode take_cycle(PC pc, const std::function<PetscErrorCode()>& set_up);

}  // namespace compound::plugin
