// From PETSc's PCMG, once it is set up, to the plan of its cycle on a device: levels, smoothers, transfers, and why
// they are left to PETSc where they are.
#pragma once

#include <petscpc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "petsc/guard.hpp"
#include "spmv/device_parts.hpp"
#include "storage/cycle.hpp"

namespace compound::plugin {

/// A matrix whose own storage on the device is in single precision, until this goes.
class NarrowMatrix {
 public:
  explicit NarrowMatrix(Mat A);
  NarrowMatrix(NarrowMatrix&& other) noexcept : A_(std::exchange(other.A_, nullptr)) {}
  NarrowMatrix& operator=(NarrowMatrix&& other) noexcept {
    std::swap(A_, other.A_);
    return *this;
  }
  ~NarrowMatrix();
  Mat matrix() const { return A_; }

 private:
  Mat A_;
};

/// A plan with what it names.
struct PlannedCycle {
  CyclePlan plan;
  std::vector<Buffer<Scalar>> factors;  ///< of smoothers
  Buffer<Scalar> coarse_inverse;
  std::vector<Mat> matrices;          ///< whose packed storage the plan names; of several processes its parts
  std::vector<std::uint64_t> stamps;  ///< of that storage
  std::vector<Mat> exchanging;        ///< of several processes: the matrices whose exchanges the plan names
  std::vector<std::uint64_t> exchange_stamps;
  std::shared_ptr<const PeerGroup> group;  ///< the same: those that exchange
  bool is_single = false;                  ///< in single precision
  std::vector<NarrowMatrix> narrowed;      ///< of `matrices`
  /// The finest level in single precision: the matrix's own storage stays for the solver that the cycle serves.
  std::unique_ptr<PackedMatrix> finest;
  PetscInt64 finest_version = -1;  ///< of the values that it has
  std::uint64_t finest_stamp = 0;  ///< of the storage in double precision whose integers it has
};

/// Why PETSc's PCMG is not a cycle for a device, in words that follow "by PETSc: "; empty where it is one, and
/// `planned` then has its plan. `single`: matrices are to be in single precision where they can. Memory that it comes
/// with
/// (`factors`, `finest`) is used again. A matrix without packed storage on the device gets it here. After the
/// preconditioner's set-up.
PetscErrorCode plan_cycle(PC pc, bool single, PlannedCycle* planned, std::string* why_not);

/// All that PETSc's objects say of the cycle.
struct CycleSignature {
  std::vector<std::uint64_t> form;          ///< another one: the cycle is to be planned anew
  std::vector<double> numbers;              ///< of smoothers; others go into the cycle that is there
  std::vector<PetscObjectState> of_values;  ///< of the levels' matrices: so do others
};
/// `by_inverse`: the coarsest level is solved by its inverse, so that parts of its solver count.
PetscErrorCode signature_of_cycle(PC pc, bool by_inverse, CycleSignature* signature);

/// What PETSc's own application sets up where a level's matrix has other values than before.
PetscErrorCode set_up_smoothers(PC pc);

/// Whether packed storage is what it was when the cycle was planned; values may be others. Brings it up to date.
PetscErrorCode is_storage_kept(PlannedCycle& planned, bool* kept);

/// PETSc's solver of the coarsest level, on vectors that are lent for the while: x = its solution for b.
PetscErrorCode solve_on_coarsest(PC pc, Vec b, Vec x);

/// A vector of hashes, the one by which PETSc estimates eigenvalues.
PetscErrorCode set_to_noise(PC pc, Vec v);

/// Vectors of the coarsest level. The caller destroys them.
PetscErrorCode vectors_of_coarsest(PC pc, Vec* b, Vec* x);

}  // namespace compound::plugin
