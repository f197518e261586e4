// BAIJ and SBAIJ as base types: names, arrays, parts, preallocation.
#pragma once

#include "petsc/base_type.hpp"

namespace compound::plugin {

extern const BaseType baij;
extern const BaseType sbaij;

/// Whether the triangle of a matrix above SBAIJ is that of a Hermitian one: its scalars are complex, and
/// MatSetOption(MAT_HERMITIAN) says so. Else it is symmetric.
inline bool is_hermitian(Mat A) { return PetscDefined(USE_COMPLEX) && A->hermitian == PETSC_BOOL3_TRUE; }

}  // namespace compound::plugin
