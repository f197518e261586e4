// The kernels of the default rule's plans: what is compiled when the library is built, and is then in it.
#pragma once

#include <string>
#include <vector>

#include "base/scalar.hpp"

namespace compound::cuda {

/// Largest block of the matrices whose kernels these are.
inline constexpr int largest_default_block = 8;

/// The sources of all kernels that matrices and vectors of this scalar run unless options ask for more than the
/// defaults: those that the backend makes (src/cuda/backend.cpp) for square blocks of up to 8 x 8, kinds of entry that
/// are found, and default_cuda_plans(). No source is there twice.
std::vector<std::string> default_sources(ScalarType scalar);

}  // namespace compound::cuda
