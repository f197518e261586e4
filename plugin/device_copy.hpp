// What preconditioners and assembly need of a matrix's packed copy in a device's memory.
#pragma once

#include "packed.hpp"
#include "petsc_guard.hpp"

namespace compound::plugin {

/// The copy of a seqbaijcompound, in blocks of the parent's size and brought up to date; null where its products do not
/// run on a device or its blocks are of another size.
PetscErrorCode device_copy(Mat seqbaij, PackedMatrix** packed);

/// The copy whose values the caller is about to give, in blocks of the parent's size and with its pattern up to date;
/// null where there is none, or its blocks are of another size: the next product then packs it from the parent.
PetscErrorCode device_copy_to_fill(Mat seqbaij, PackedMatrix** packed);

/// Such a copy has got the values that the parent's array has: the assembly that now follows makes no others.
PetscErrorCode device_copy_is_filled(Mat seqbaij);

}  // namespace compound::plugin
