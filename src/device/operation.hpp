// What a product computes: parameters of one kernel, not copies of it.
#pragma once

#include "target.hpp"

namespace compound {

/// Which of A, A^T, A^H multiplies.
enum class Op { none, transpose, hermitian };

/// y = op(A) x, or y = z + op(A) x (z may be y). `either`, of templates alone: the second where there is a z, so that
/// one kernel of a device serves both.
enum class Update { assign, add, either };

}  // namespace compound
