// Conversions to our types and back, and from ours to others.
#pragma once

#include "petsc/base_types.hpp"

namespace compound::plugin {

/// MatConvert() from any type to one of ours, or from ours to a pinned layout (which pins it anew).
///
/// The blocks are those of A's block size; blocks of an aij that are not full are filled with zeros.
PetscErrorCode convert_to_compound(Mat A, MatType newtype, MatReuse reuse, Mat* B);

/// MatCopy(A, B) for MAT_REUSE_MATRIX, where B may have got another pattern than A's since: B then keeps nothing but
/// its type and settings. A is of a base type or of ours.
PetscErrorCode take_from(Mat B, Mat A);

/// MatConvert_<ours>_<target>_C for the base type's converters (a derived type does not inherit them), for the way back
/// to the base type and for every pinned name.
PetscErrorCode compose_converters(Mat A, const TypePair& of);
PetscErrorCode remove_converters(Mat A, const TypePair& of);

}  // namespace compound::plugin
