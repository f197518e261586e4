// One solve by a device's own loop, with what PETSc hears of it.
#pragma once

#include <petsc/private/kspimpl.h>

#include <memory>
#include <string>

#include "backend/krylov_loop.hpp"
#include "ksp/lanczos.hpp"
#include "petsc/guard.hpp"
#include "spmv/device_vectors.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// What a KSP keeps from solve to solve.
struct FusedSolver {
  KrylovMethod method = KrylovMethod::cg;
  bool hermitian = true;                                                               ///< KSPCGType; CG alone
  KrylovRunner runner = KrylovRunner::automatic;                                       ///< -ksp_compound_loop
  enum class Ran { nowhere, base_solver, host, stepwise, device } ran = Ran::nowhere;  ///< the last solve
  std::string why_not;                                                                 ///< it was the base solver's
  std::unique_ptr<KrylovLoop> loop;
  Lanczos lanczos;        ///< of the last solve, where eigenvalues are asked for
  DeviceBuffers buffers;  ///< of vectors on the host
};

/// What of the solver's settings only PETSc's own loops do, in the user's words; null: nothing.
const char* why_not_solver(KSP ksp);

/// Why this solve cannot run on the device by itself; empty if it can: with `packed`, the matrix's copy up to date.
PetscErrorCode why_not_fused(KSP ksp, const PackedMatrix** packed, std::string* why);

/// What PETSc's method does in KSPSolve(); or `why_not`, and nothing has happened to x, where the device has no memory
/// or no code for it.
PetscErrorCode solve_fused(KSP ksp, FusedSolver& fused, const PackedMatrix& packed);

/// CG's residual as its last iteration has left it, for code that looks between iterations or after them.
PetscErrorCode take_residual(FusedSolver& fused, Vec to);

}  // namespace compound::plugin
