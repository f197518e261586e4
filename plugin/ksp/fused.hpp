// One solve by a device's own loop, with what PETSc hears of it.
#pragma once

#include <petsc/private/kspimpl.h>

#include <functional>
#include <memory>
#include <string>

#include "backend/krylov_loop.hpp"
#include "ksp/lanczos.hpp"
#include "petsc/guard.hpp"
#include "spmv/device_parts.hpp"
#include "spmv/device_vectors.hpp"

namespace compound::plugin {

/// What a KSP keeps from solve to solve.
struct FusedSolver {
  KrylovMethod method = KrylovMethod::cg;
  bool hermitian = true;                          ///< KSPCGType; CG alone
  KrylovRunner runner = KrylovRunner::automatic;  ///< -ksp_compound_loop
  /// The last solve: of one right-hand side, or of several at once.
  enum class Ran { nowhere, base_solver, host, stepwise, device, host_systems, device_systems } ran = Ran::nowhere;
  std::string why_not;  ///< it was the base solver's
  std::unique_ptr<KrylovLoop> loop;
  std::unique_ptr<KrylovSystems> systems;  ///< of KSPMatSolve()
  std::shared_ptr<Peers> peers;            ///< of the loop
  Lanczos lanczos;                         ///< of the last solve, where eigenvalues are asked for
  DeviceBuffers buffers;                   ///< of vectors on the host
};

/// What of the solver's settings only PETSc's own loops do, in the user's words; null: nothing.
const char* why_not_solver(KSP ksp);
/// The same where the preconditioner's set-up has failed on some process: PETSc notes it only there. Collective.
PetscErrorCode why_failed(KSP ksp, const char** why);

/// Why this solve cannot run on the device by itself; empty if it can, on all processes: with the matrix's copies up to
/// date. Collective.
PetscErrorCode why_not_fused(KSP ksp, DeviceParts* matrix, std::string* why);

/// What PETSc's method does in KSPSolve(); or `why_not`, and nothing has happened to x, where the device has no memory
/// or no code for it.
PetscErrorCode solve_fused(KSP ksp, FusedSolver& fused, const DeviceParts& matrix);

/// CG's residual as its last iteration has left it, for code that looks between iterations or after them.
PetscErrorCode take_residual(FusedSolver& fused, Vec to);

// What solves of one right-hand side and of several (mat_solve.cpp) share.

/// The vector on the device, for as long as `use`(pointer) takes.
template <class Use>
PetscErrorCode with_vector(FusedSolver& f, Vec v, Access access, Backend& on, const Use& use) {
  return with_vectors(on, std::array{VectorUse{v, access}}, f.buffers, [&](const auto& data) { use(data[0]); });
}
PetscErrorCode problem_of(KSP ksp, FusedSolver& fused, Peers* peers, KrylovProblem* problem);
/// make(), or `why_not`: no memory, or no compiler for what is not built in.
PetscErrorCode try_to_make(KSP ksp, FusedSolver& fused, const std::function<void()>& make);
/// The preconditioner and the null space, for a loop.
PetscErrorCode take_input(KSP ksp, FusedSolver& fused, KrylovInput& to, Backend& on);
/// The bounds of PETSc's default test, which it has set with the first norm.
KrylovLimits limits_of(KSP ksp, int iteration);
/// Where a run has ended before PETSc had a reason to stop.
PetscErrorCode name_reason(KSP ksp, KrylovMethod method, const KrylovRun& run);
/// As PETSc's method counts so many iterations after the first residual.
PetscErrorCode log_flops(const KrylovProblem& problem, Mat A, int iterations);

}  // namespace compound::plugin
