// Products of a matrix of ours on one process, or of a part: by the packed copy of the place where they run, or by the
// parent.
#pragma once

#include "copies/state.hpp"

namespace compound::plugin {

/// y = op(A) x or z + op(A) x by the packed copy, which is brought up to date first; z may be y, or null for assign.
PetscErrorCode seq_multiply(Mat A, Op op, Update update, Vec x, Vec z, Vec y);

/// Its two halves. The first packs if need be, for `place` or the next that can multiply, and is all that can fail for
/// the matrix's sake; nothing where products are left to the parent. The second multiplies with what is there; a device
/// whose memory is full then leaves the product to the host.
PetscErrorCode seq_prepare(Mat A, Op op, Place* place);
PetscErrorCode seq_run(Mat A, Place place, Op op, Update update, Vec x, Vec z, Vec y);

/// The device had no memory for what else a product needs: the host is made ready instead.
PetscErrorCode seq_leave_device(Mat A, const char* wanted, Place* place);

/// The product by PETSc's own operations for this block size.
PetscErrorCode parent_multiply(Mat A, SeqState* state, Op op, Update update, Vec x, Vec z, Vec y);

}  // namespace compound::plugin
