// The diagonal on the device, and work on it that stays on the host, where PETSc has CUDA.
#pragma once

#include "petsc/base_types.hpp"

namespace compound::plugin {

/// The scalar diagonal of a seq matrix of ours: from the copy on the device for a vector there.
PetscErrorCode seq_get_diagonal(Mat A, Vec diagonal);

/// -info once, after work of a preconditioner (MatSOR(), MatInvertBlockDiagonal()) on the host although the products of
/// the matrix run on a device. Factorizations cannot tell: PETSc finds their makers by the type's name and hands them
/// the matrix, none of whose operations is called.
PetscErrorCode report_host_work(Mat A);

/// MatSOR() with report_host_work(), and the base type's own again. The base type has none before preallocation, and
/// then the same for all block sizes.
void follow_sor(Mat A, const BaseType& of);
void leave_sor(Mat A, const BaseType& of);

}  // namespace compound::plugin
