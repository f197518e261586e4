// What preconditioners and assembly need of a matrix's packed copy in a device's memory.
#pragma once

#include "edge/petsc_guard.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// The copy of a seq matrix of ours, all of it in blocks as they are given, brought up to date; null where its products
/// do not run on a device, its blocks are made up of others, or not of the kind of entry that was asked for.
PetscErrorCode device_copy(Mat seq, PackedMatrix** packed);

/// Gives such a copy its values, which lie in `blocks` on the device and in the parent's array: the assembly that now
/// follows makes no others. Where there is no such copy the next product packs the parent's.
PetscErrorCode fill_device_copy(Mat seq, const void* blocks);

/// The same for the parent's values as they are, which lie in `blocks` for another reason: a copy of them that has
/// become old need not have them sent once more. Nothing where there is no copy of the present pattern.
PetscErrorCode refresh_device_copy(Mat seq, const void* blocks);

}  // namespace compound::plugin
