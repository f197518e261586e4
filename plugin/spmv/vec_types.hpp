// Which vectors a matrix makes, where PETSc has CUDA.
#pragma once

#include "options/settings.hpp"
#include "spmv/placement.hpp"

namespace compound::plugin {

/// How sure it must be that the program works on the device: before vectors are made by the matrix itself, only what
/// the user asked for counts; when they are made, a device that is up is used.
enum class Moment { before, making_vectors };

/// Whether vectors of the type that the matrix has may be on a device.
PetscErrorCode has_device_vectors(Mat A, bool* yes);

/// MatSetVecType() to vectors of a device where they are wanted, of the type that was asked for. Nothing where a type
/// was set already or the matrix is bound.
PetscErrorCode decide_vec_type(Mat A, const Settings& settings, Moment moment);

/// Whether vectors of A will be on the device, as far as A can tell without being given one; initialises nothing.
PetscErrorCode expects_device_vectors(Mat A, const Settings& settings, bool* yes);

/// MatCreateVecs() as PETSc does it, for a matrix whose vector type is decided.
PetscErrorCode create_vecs(Mat A, Vec* right, Vec* left);

/// The function values of coloured differences, which PETSc takes by the matrix's vector type and then binds to the
/// host: on several processes a CUDA vector so bound has not what is copied to it (3.26). As for baij, they are the
/// host's.
PetscErrorCode keep_coloring_on_host(Mat A, MatFDColoring coloring);

/// What follows MatBindToCPU(): a bound matrix makes vectors on the host.
PetscErrorCode bind_to_cpu(Mat A, const Settings& settings, PetscBool bound);

}  // namespace compound::plugin
