// The error where values are not of the kind of entry that was asked for, or a layout that was pads too much.
#pragma once

#include <initializer_list>

#include "spmv/state.hpp"

namespace compound::plugin {

/// A matrix without parts, or a part of an mpi matrix, and where it is to multiply.
struct PartInSpace {
  Mat mat;
  MemorySpace space;
};

/// After refresh(): that error, on all processes of A. Collective.
PetscErrorCode check_copies(Mat A, std::initializer_list<PartInSpace> parts);

}  // namespace compound::plugin
