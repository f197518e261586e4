// What a product computes: parameters of one kernel, not copies of it.
#pragma once

#include "target.hpp"

namespace compound {

/// Which of A, A^T, A^H multiplies.
enum class Op { none, transpose, hermitian };

/// y = op(A) x; y = z + op(A) x (z may be y); a smoothing step, which reads z - A x (smoothing.hpp); or z, a step so
/// far, with what A x adds to it.
enum class Update { assign, add, smooth, correct };

}  // namespace compound
