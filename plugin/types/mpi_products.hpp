// Products of a matrix of ours on several processes.
#pragma once

#include "device/operation.hpp"
#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// y = op(A) x or z + op(A) x; z may be y, or null for assign. Collective.
PetscErrorCode mpi_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y);

}  // namespace compound::plugin
