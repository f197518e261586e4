// From PETSc's PCMG, once it is set up, to the plan of its cycle on a device: levels, smoothers, transfers, and why
// they are left to PETSc where they are.
#pragma once

#include <petscpc.h>

#include <cstdint>
#include <string>
#include <vector>

#include "petsc/guard.hpp"
#include "storage/cycle.hpp"

namespace compound::plugin {

/// A plan with what it names.
struct PlannedCycle {
  CyclePlan plan;
  std::vector<Buffer<Scalar>> factors;  ///< of smoothers
  Buffer<Scalar> coarse_inverse;
  std::vector<Mat> matrices;          ///< whose packed storage the plan names
  std::vector<std::uint64_t> stamps;  ///< of that storage
};

/// Why PETSc's PCMG is not a cycle for a device, in words that follow "PETSc's: "; empty where it is one, and `planned`
/// then has its plan. Memory of `factors` that it comes with is used again. A matrix without packed storage on the
/// device gets it here. After the preconditioner's set-up.
PetscErrorCode plan_cycle(PC pc, PlannedCycle* planned, std::string* why_not);

/// All that PETSc's objects say of the cycle but for values: another one where it is to be planned anew.
using CycleSignature = std::vector<std::uint64_t>;
CycleSignature signature_of_cycle(PC pc);

/// Whether packed storage is what it was when the cycle was planned; values may be others. Brings it up to date.
PetscErrorCode is_storage_kept(const PlannedCycle& planned, bool* kept);

/// PETSc's solver of the coarsest level, on vectors that are lent for the while: x = its solution for b.
PetscErrorCode solve_on_coarsest(PC pc, Vec b, Vec x);

/// A vector of hashes, the one by which PETSc estimates eigenvalues.
PetscErrorCode set_to_noise(PC pc, Vec v);

/// Vectors of the coarsest level. The caller destroys them.
PetscErrorCode vectors_of_coarsest(PC pc, Vec* b, Vec* x);

}  // namespace compound::plugin
