// From the base type's arrays to the packed copies, and keeping them up to date.
#pragma once

#include "backend/value_work.hpp"
#include "spmv/state.hpp"

namespace compound::plugin {

inline bool is_current(Mat A, SeqState& st, Op op, MemorySpace space) {
  return st.copy(space).is_current(A, st.matrix_values.version(A), st.settings.version, op);
}

/// Packs again for `space` what changed since the last time: nothing, values, or everything. Where products are left to
/// the next memory space there is no copy, and `space` then is that space; a device's memory that is full is such a
/// case, not an error. Nor are values that are not of a kind of entry asked for, of which the copy's misfit() tells.
PetscErrorCode refresh_one(Mat A, SeqState* st, Op op, MemorySpace* space);

/// The same for a product: nothing if those are left to the base type, or the copy is up to date.
inline PetscErrorCode make_ready(Mat A, SeqState* st, Op op, MemorySpace* space) {
  if (st->settings.parent_only() || is_current(A, *st, op, *space)) return PETSC_SUCCESS;
  return refresh_one(A, st, op, space);
}

/// The copy in a device's memory of a seq matrix of ours, all of it in blocks as they are given, brought up to date;
/// null where its products do not run on a device, its blocks are made up of others, or not of the kind of entry that
/// was asked for.
PetscErrorCode device_copy(Mat seq, const PackedMatrix** packed);

/// The copy in a device's memory that device_copy() gives, in single precision or as the matrix's settings have it
/// again. `done` is false where there is none, or it cannot be so: it stays as it is.
PetscErrorCode narrow_device_copy(Mat A, bool* done);
PetscErrorCode widen_device_copy(Mat A);

/// Whether pack_sums() can give a seq matrix of ours new values, all of them: its copy on the device is up to date, and
/// takes the sums of these lists.
bool takes_sums(Mat A, SeqState& st, const SumTask& lists);

/// Values that are sums by lists go straight to the copy on the device, which alone has them then. For guard_values().
PetscErrorCode pack_sums(Mat A, SeqState* st, const BlockSums& sums);

/// Gives up the copy on the device until the pattern or the settings change. Warns, and says why.
PetscErrorCode leave_device(Mat A, SeqState* st, const std::string& why);

inline std::string no_memory(const char* wanted) { return std::string("the device has no memory left ") + wanted; }

}  // namespace compound::plugin
