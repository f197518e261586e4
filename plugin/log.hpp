#pragma once

#include "petsc_guard.hpp"

namespace compound::plugin {

/// The event MatCompoundPack: encoding a pattern, packing values.
PetscLogEvent log_pack();

/// Registers the events anew after each PetscInitialize(), which forgets them.
PetscErrorCode register_log_events();

}  // namespace compound::plugin
