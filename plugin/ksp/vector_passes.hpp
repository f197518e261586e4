// Passes of conjugate gradients over a process's part of vectors, on the host or on a device.
#pragma once

#include <petscksp.h>

#include <memory>

#include "copies/device_vectors.hpp"
#include "ksp/host_passes.hpp"

namespace compound::plugin {

class VectorPasses {
 public:
  virtual ~VectorPasses() = default;
  /// r -= alpha w; z = d r, which is where w was (d null: neither); and what is summed up.
  virtual PetscErrorCode step(PetscScalar alpha, Vec d, Vec z, Vec r, passes::StepSums* sums) = 0;
  /// x += alpha p; p = z + beta p
  virtual PetscErrorCode turn(PetscScalar alpha, PetscScalar beta, Vec z, Vec x, Vec p) = 0;
};

std::unique_ptr<VectorPasses> passes_on_host(passes::Inner inner);
/// Throws std::bad_alloc.
std::unique_ptr<VectorPasses> passes_on_device(Backend& device, passes::Inner inner);

}  // namespace compound::plugin
