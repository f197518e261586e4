// From the parent's arrays to the packed copies, and keeping them up to date.
#pragma once

#include "mat_seq.hpp"

namespace compound::plugin {

/// Packs again for one place what changed since the last time: nothing, values, or everything. No copy is left where
/// products are left to the next place; a device's memory that is full is such a case, not an error.
PetscErrorCode refresh(Mat A, SeqState* st, Place place, Op op = Op::none);

/// The pattern alone, for who brings the values.
PetscErrorCode refresh_pattern(Mat A, SeqState* st, Place place);

/// The device's copy has the parent's values as they will be after `raises` more raises of A's state.
PetscErrorCode keep_filled(Mat A, SeqState* st, int raises);

/// Gives up the copy on the device, whose memory is full, until the pattern or the settings change. Warns.
PetscErrorCode leave_device(Mat A, SeqState* st, const char* wanted);

/// y = op(A) x or z + op(A) x with the host's packed copy as it is.
void multiply(const PackedCopy& copy, Op op, Update update, const PetscScalar* x, const PetscScalar* z, PetscScalar* y);

}  // namespace compound::plugin
