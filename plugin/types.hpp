// Names, constructors and conversions, shared by the seq and the mpi type.
#pragma once

#include <cstring>
#include <span>

#include "late_setup.hpp"
#include "settings.hpp"

namespace compound::plugin {

inline bool has_type(Mat A, const char* type) {
  const char* name = reinterpret_cast<PetscObject>(A)->type_name;
  return name && std::strcmp(name, type) == 0;
}

/// MatConvert() from any type to one of ours, or from ours to a pinned layout (which pins it anew).
///
/// The blocks are those of A's block size; blocks of an aij that are not full are filled with zeros.
PetscErrorCode convert_to_compound(Mat A, MatType newtype, MatReuse reuse, Mat* B);

/// MatCopy(A, B) for MAT_REUSE_MATRIX, where B may have got another pattern than A's since: B then keeps nothing but
/// its type and settings. A is BAIJ or of our types.
PetscErrorCode take_from(Mat B, Mat A);

/// MatConvert_<type>_<target>_C for the parent's converters (a derived type does not inherit them), for the way back to
/// the parent and for every pinned name.
PetscErrorCode compose_converters(Mat A, MatType parent, MatType type, std::span<const char* const> parent_targets);
PetscErrorCode remove_converters(Mat A, MatType type, std::span<const char* const> parent_targets);

/// The settings of a matrix of ours; an error that names the function for any other type.
PetscErrorCode settings_of(Mat A, Settings** settings);

PetscErrorCode register_types();

}  // namespace compound::plugin
