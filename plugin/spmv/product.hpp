// One product with PETSc's vectors, on the host or on a device: the step below which there are arrays only.
#pragma once

#include <functional>

#include "spmv/device_vectors.hpp"
#include "storage/packed.hpp"

namespace compound::plugin {

/// y = op(A) x, or z + op(A) x, where z may be y.
struct Operands {
  Op op;
  Update update;
  Vec x, z, y;
  /// z and y are one vector, so that y is read too.
  bool in_place() const { return z == y; }
};

/// By what multiplies arrays in the host's memory: a packed matrix, or a copy of a matrix.
template <class Packed>
[[gnu::always_inline]] inline PetscErrorCode run_on_host(MPI_Comm comm, const Operands& o, PetscLogDouble flops,
                                                         const Packed& packed) {
  PetscFunctionBegin;
  const PetscScalar *x, *z = nullptr;
  PetscScalar* y;
  PetscCall(VecGetArrayRead(o.x, &x));
  if (o.z && !o.in_place()) PetscCall(VecGetArrayRead(o.z, &z));
  if (o.in_place())
    PetscCall(VecGetArray(o.y, &y));
  else
    PetscCall(VecGetArrayWrite(o.y, &y));
  const PetscErrorCode code = guarded(comm, [&] { packed.multiply(o.op, o.update, x, o.in_place() ? y : z, y); });
  if (o.in_place())
    PetscCall(VecRestoreArray(o.y, &y));
  else
    PetscCall(VecRestoreArrayWrite(o.y, &y));
  if (o.z && !o.in_place()) PetscCall(VecRestoreArrayRead(o.z, &z));
  PetscCall(VecRestoreArrayRead(o.x, &x));
  PetscCall(code);
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How a product on a device went.
struct DeviceRun {
  bool done = false;          ///< else its memory was full: nothing has happened to y, as far as y was read
  bool x_was_copied = false;  ///< it is a vector of the host's
};

using Multiply = std::function<void(const void* x, const void* z, void* y)>;
PetscErrorCode run_on_device(MPI_Comm comm, const Operands& o, PetscLogDouble flops, Backend& on,
                             const Multiply& multiply, DeviceBuffers& buffers, DeviceRun* run);

/// By what multiplies arrays in a device's memory.
template <class Packed>
PetscErrorCode run_on_device(MPI_Comm comm, const Operands& o, PetscLogDouble flops, const Packed& packed,
                             DeviceBuffers& buffers, DeviceRun* run) {
  const auto multiply = [&](const void* x, const void* z, void* y) { packed.multiply(o.op, o.update, x, z, y); };
  return run_on_device(comm, o, flops, packed.backend(), multiply, buffers, run);
}

}  // namespace compound::plugin
