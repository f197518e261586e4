// One solve by a device's own loop, with what PETSc hears of it.
#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>
#include <string>

#include "copies/device_vectors.hpp"
#include "edge/petsc_guard.hpp"
#include "krylov_loop.hpp"

namespace compound::plugin {

/// What a KSP keeps from solve to solve.
struct FusedSolver {
  KrylovMethod method = KrylovMethod::cg;
  bool hermitian = true;  ///< KSPCGType; CG alone
  std::string why_not;    ///< of the last solve; empty: it was fused
  bool has_solved = false;
  std::unique_ptr<KrylovLoop> loop;
  DeviceBuffers buffers;  ///< of vectors on the host
};

/// Why this solve cannot be fused, in the user's words; empty if it can. The matrix's copy is then up to date.
PetscErrorCode why_not_fused(KSP ksp, std::string* why);

/// What PETSc's method does in KSPSolve(); or `why_not`, and nothing has happened to x, where the device has no memory
/// or no code for it.
PetscErrorCode solve_fused(KSP ksp, FusedSolver& fused);

}  // namespace compound::plugin
