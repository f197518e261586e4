// CG for several right-hand sides at once, on any number of processes, with vectors on the host and any preconditioner.
#pragma once

#include <span>

#include "ksp/columns.hpp"

namespace compound::plugin {

/// A multiplies several vectors of the host at once. Collective.
PetscErrorCode solve_on_host(KSP ksp, bool hermitian, std::span<Column> columns);

}  // namespace compound::plugin
