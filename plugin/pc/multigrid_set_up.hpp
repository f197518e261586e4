// PCGAMG's set-up, of matrices above AIJ: which steps a device takes, the option that chooses, and the view that tells.
#pragma once

#include <petscpc.h>

namespace compound::plugin {

/// Of a new PCGAMG: its option and its view.
PetscErrorCode prepare_multigrid(PC pc);

/// Runs `base`, PCGAMG's own set-up of a matrix above AIJ, on a device as far as it can.
PetscErrorCode set_up_multigrid(PC pc, PetscErrorCode (*base)(PC));

}  // namespace compound::plugin
