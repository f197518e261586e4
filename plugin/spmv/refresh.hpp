// From the parent's arrays to the packed copies, and keeping them up to date.
#pragma once

#include "spmv/state.hpp"

namespace compound::plugin {

/// Packs again for one place what changed since the last time: nothing, values, or everything. No copy is left where
/// products are left to the next place; a device's memory that is full is such a case, not an error. Nor are values
/// that are not of a kind of entry asked for, of which the copy's `misfit` tells.
PetscErrorCode refresh(Mat A, SeqState* st, Place place, Op op = Op::none);

/// The same for `place` or the next that can multiply, which `place` then is.
PetscErrorCode refresh_one(Mat A, SeqState* st, Op op, Place* place);

/// Nothing has happened to the matrix since the copy was made: whatever puts other arrays into a matrix raises its
/// state, or makes the copy forget its own (seq_arrays_are_new()).
inline bool is_current(Mat A, SeqState& st, const PackedCopy& copy, Op op) {
  const PackedCopy::PatternKey& key = copy.pattern_key;
  return copy.packed && st.matrix_values.version(A) == copy.values_version && A->nonzerostate == key.nonzero_state &&
         st.settings.version == key.settings_version && (op == Op::none || copy.packed->has_transposed());
}

/// For a product: refresh_one(), unless products are left to the parent type.
inline PetscErrorCode make_ready(Mat A, SeqState* st, Op op, Place* place) {
  if (st->settings.parent_only() || is_current(A, *st, st->copy(*place), op)) return PETSC_SUCCESS;
  return refresh_one(A, st, op, place);
}

/// Gives up the copy on the device until the pattern or the settings change. Warns, and says why.
PetscErrorCode leave_device(Mat A, SeqState* st, const std::string& why);

inline std::string no_memory(const char* wanted) { return std::string("the device has no memory left ") + wanted; }

}  // namespace compound::plugin
