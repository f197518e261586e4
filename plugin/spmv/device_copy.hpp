// What preconditioners need of a matrix's packed copy in a device's memory.
#pragma once

#include "petsc/guard.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// The copy of a seq matrix of ours, all of it in blocks as they are given, brought up to date; null where its products
/// do not run on a device, its blocks are made up of others, or not of the kind of entry that was asked for.
PetscErrorCode device_copy(Mat seq, PackedMatrix** packed);

}  // namespace compound::plugin
