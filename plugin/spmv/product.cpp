#include "spmv/product.hpp"

#include "spmv/placement.hpp"

namespace compound::plugin {

namespace {

/// x, z and y on the device, from take() to give_back().
struct DeviceOperands {
  DeviceVector x, z, y;

  PetscErrorCode take(const Operands& o, Backend& on, DeviceBuffers& buffers, bool* enough) {
    PetscFunctionBegin;
    PetscCall(x.take(o.x, Access::read, on, buffers[0], enough));
    if (*enough && o.z && !o.in_place()) PetscCall(z.take(o.z, Access::read, on, buffers[1], enough));
    if (*enough) PetscCall(y.take(o.y, o.in_place() ? Access::read_write : Access::write, on, buffers[2], enough));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode give_back(bool written) {
    PetscFunctionBegin;
    PetscCall(y.give_back(written));
    PetscCall(z.give_back(false));
    PetscCall(x.give_back(false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace

PetscErrorCode run_on_device(MPI_Comm comm, const Operands& o, PetscLogDouble flops, Backend& on,
                             const Multiply& multiply, DeviceBuffers& buffers, DeviceRun* run) {
  PetscFunctionBegin;
  DeviceOperands device;
  PetscCall(begin_device_work(on));
  PetscCall(device.take(o, on, buffers, &run->done));
  run->x_was_copied = device.x.is_copy();
  if (run->done) {
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded_memory(comm, &run->done, [&] {
      multiply(device.x.data(), o.in_place() ? device.y.data() : device.z.data(), device.y.data());
    }));
    PetscCall(PetscLogGpuTimeEnd());
  }
  PetscCall(device.give_back(run->done));
  if (run->done) PetscCall(PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
