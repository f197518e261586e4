// From the parent's arrays to a packed copy, and keeping the copy up to date.
#pragma once

#include "mat_seq.hpp"

namespace compound::plugin {

/// Packs again what changed since the last time: nothing, values, or everything.
PetscErrorCode refresh(Mat A, SeqState* st);

/// y = op(A) x or z + op(A) x with the packed copy as it is.
void multiply(const SeqState& st, Op op, Update update, const PetscScalar* x, const PetscScalar* z, PetscScalar* y);

}  // namespace compound::plugin
