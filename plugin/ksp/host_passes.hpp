// Passes of Krylov methods over vectors of the host, by vector instructions.
#pragma once

#include <array>

#include "device/vector_passes.hpp"
#include "petsc/guard.hpp"

namespace compound::plugin {

/// Arguments of a pass, in its order (device/vector_passes.hpp).
struct HostPass {
  VectorPass pass;
  bool hermitian, diagonal;
  slot_t scalars;
  std::array<Scalar, most_pass_numbers> numbers;
  std::array<void*, most_pass_vectors> vectors;
};

using PassSums = std::array<Scalar, most_pass_sums>;
PassSums run_on_host(const HostPass& pass);

}  // namespace compound::plugin
