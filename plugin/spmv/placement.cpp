#include "spmv/placement.hpp"

#include <algorithm>

#include <petscdevice.h>

namespace compound::plugin {

Backend* device_backend() {
  const auto row = std::ranges::find(backends(), row_of(MemorySpace::device).backend, &BackendRow::name);
  return row->get ? row->get() : nullptr;
}

PetscErrorCode choose_device() {
  PetscFunctionBegin;
#if !PetscDefined(HAVE_CUDA)
  const auto row = std::ranges::find(backends(), row_of(MemorySpace::device).backend, &BackendRow::name);
  if (!row->get) PetscFunctionReturn(PETSC_SUCCESS);
  MPI_Comm node;
  PetscMPIInt rank;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &rank));
  PetscCallMPI(MPI_Comm_free(&node));
  if (Backend* const device = row->get())
    PetscCall(guarded(PETSC_COMM_SELF, [&] { device->extensions().control->choose_device(rank); }));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_device_work(Backend& device) {
  PetscFunctionBegin;
  void* stream = nullptr;
#if PetscDefined(HAVE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#if PETSC_VERSION_GE(3, 20, 0)
  PetscDeviceContext context;
  void* handle = nullptr;  // points to a cudaStream_t
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  if (handle) stream = *static_cast<void**>(handle);
#endif
#endif
  PetscCall(guarded(PETSC_COMM_SELF, [&] { device.extensions().control->use_queue(stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_bound([[maybe_unused]] Mat A) {
#if PetscDefined(HAVE_DEVICE)
  return A->boundtocpu == PETSC_TRUE;
#else
  return false;
#endif
}

PetscErrorCode is_on_device([[maybe_unused]] Vec v, bool* yes) {
  PetscFunctionBegin;
  *yes = false;
#if PetscDefined(HAVE_CUDA)
  const PetscScalar* array;
  PetscMemType memory;
  PetscCall(VecGetArrayReadAndMemType(v, &array, &memory));
  *yes = PetscMemTypeCUDA(memory);
  PetscCall(VecRestoreArrayReadAndMemType(v, &array));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

void set_bound([[maybe_unused]] Mat A, [[maybe_unused]] bool bound) {
#if PetscDefined(HAVE_DEVICE)
  A->boundtocpu = bound ? PETSC_TRUE : PETSC_FALSE;
#endif
}

PetscErrorCode space_of_product(Mat A, const Settings& settings, Vec x, MemorySpace* space) {
  PetscFunctionBegin;
  bool device = false;
  if (is_bound(A) || settings.parent_only())
    device = false;
  else if (settings.backend == BackendChoice::automatic)
    PetscCall(is_on_device(x, &device));
  else
    device = settings.backend == BackendChoice::cuda;
  *space = device && device_backend() ? MemorySpace::device : MemorySpace::host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
