// What an iteration of conjugate gradients does with vectors on the host, in as few passes over memory as there can be.
#pragma once

#include <cstddef>

#include "edge/petsc_guard.hpp"

namespace compound::plugin::passes {

enum class Inner { hermitian, bilinear };

/// What a step sums up.
struct StepSums {
  Scalar rho{};           ///< r^H z, or r^T z
  Scalar of_z{}, of_r{};  ///< |z|^2, |r|^2
};

/// r -= alpha w; z = d r, which is where w was.
StepSums step_with_diagonal(std::size_t n, Scalar alpha, const Scalar* d, Scalar* w_then_z, Scalar* r, Inner inner);
/// r^H z, |z|^2 and |r|^2.
StepSums sums(std::size_t n, const Scalar* z, const Scalar* r, Inner inner);
/// x += alpha p; p = z + beta p
void turn(std::size_t n, Scalar alpha, Scalar beta, const Scalar* z, Scalar* x, Scalar* p);

}  // namespace compound::plugin::passes
