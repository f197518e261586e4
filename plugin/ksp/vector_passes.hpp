// Passes of Krylov methods over a process's part of vectors, on the host or on a device.
#pragma once

#include <petscksp.h>

#include <array>
#include <memory>
#include <span>

#include "backend/krylov_loop.hpp"
#include "ksp/host_passes.hpp"
#include "spmv/device_vectors.hpp"

namespace compound::plugin {

/// What is reported to PETSc of a pass of device/vector_passes.hpp.
struct PassRow {
  int vectors;
  std::array<Access, most_pass_vectors> access;
  bool preconditions;  ///< by its first vector, a diagonal; without one it only reads its second
  int flops, flops_of_diagonal;
  int flops_of_norm = 0;                                     ///< where a method takes one of a vector
  std::array<int, most_pass_numbers> flops_of_numbers = {};  ///< where they are not 0
};
const PassRow& row_of(VectorPass pass);

using PassVectors = std::array<Vec, most_pass_vectors>;  ///< in the order of the pass; not one another
using PassNumbers = std::array<PetscScalar, most_pass_numbers>;

class VectorPasses {
 public:
  virtual ~VectorPasses() = default;
  /// The diagonal may be null. Sums are those of this process.
  virtual PetscErrorCode run(VectorPass pass, const PassVectors& vectors, const PassNumbers& numbers,
                             PassSums* sums) = 0;
};

std::unique_ptr<VectorPasses> passes_on_host(bool hermitian);
/// Throws std::bad_alloc, and compound::error where kernels cannot be compiled.
std::unique_ptr<VectorPasses> passes_on_device(Backend& device, std::span<const VectorPass> passes, bool hermitian);

}  // namespace compound::plugin
