// What is kept of values that the parent's array does not have (-mat_compound_host_values never).
#pragma once

#include "backend/backend.hpp"
#include "edge/petsc_guard.hpp"

namespace compound::plugin {

/// Of a seq matrix: all its values, in the parent's order, in the memory that they came by. Other room than this is
/// needed by nobody: the array is written by each assembly from such values, whether the host gets them or not.
struct ValuesApart {
  Backend* on = nullptr;
  Buffer<Scalar> values;
  bool missing = false;         ///< in the parent's array, which is full of NaN
  PetscObjectState state = -1;  ///< of the matrix since when they are
};

}  // namespace compound::plugin
