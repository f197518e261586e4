// PCGAMG's set-up of smoothed aggregation on a device. PETSc's PCGAMG stays the driver: for the time of its set-up some
// of its steps are exchanged, level by level, where the device can take them.
#pragma once

#include <petscpc.h>

#include <string>
#include <vector>

namespace compound::plugin {

/// Where levels were set up.
struct LevelPlaces {
  std::string why_not;              ///< why none can be set up on a device; empty if one can
  std::vector<std::string> levels;  ///< of each level that was coarsened, the finest first: "on the device"
};

/// Runs `base`, PCGAMG's own set-up, unless no level can be set up on a device. `must`: it is an error where the finest
/// level cannot.
PetscErrorCode set_up_on_device(PC pc, PetscErrorCode (*base)(PC), bool must, LevelPlaces* places);

}  // namespace compound::plugin
