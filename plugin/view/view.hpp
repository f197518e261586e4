// What a compound matrix says of itself.
#pragma once

#include <string>

#include "options/settings.hpp"
#include "petsccompound.h"

namespace compound::plugin {

/// The paragraph of -mat_view ::ascii_info; nothing on other viewers and formats. Packs nothing and asks nothing of the
/// matrix that could fail: MatAssemblyEnd() runs it, long before any product. Collective.
PetscErrorCode view_info(Mat A, PetscViewer viewer);

}  // namespace compound::plugin
