// -mat_compound_save: a matrix as tuning sees it, for compound-tune.
#pragma once

#include "copies/settings.hpp"
#include "petsccompound.h"

namespace compound::plugin {

/// Writes the matrix to the file of -mat_compound_save, once: where its name ends in .mtx the places of its blocks
/// alone (Matrix Market, of the size that is packed), else values and all (PETSc's binary format). Collective.
PetscErrorCode save_once(Mat A, Settings& settings);

}  // namespace compound::plugin
