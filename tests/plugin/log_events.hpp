// What -log_view would say of an event so far.
#pragma once

#include "petsc_test.hpp"

namespace petsc_test {

/// What PETSc makes of each operation with scalars that it is told of.
inline constexpr PetscLogDouble flops_of_operation = PetscDefined(USE_COMPLEX) ? 4 : 1;

inline PetscEventPerfInfo event(const char* name) {
  PetscLogEvent id = -1;
  PetscEventPerfInfo info = {};
  PETSC_OK(PetscLogEventGetId(name, &id));
  if (id >= 0) PETSC_OK(PetscLogEventGetPerfInfo(PETSC_DETERMINE, id, &info));
  return info;
}

/// What `work`() adds to an event: its count, flops, and copies to a device and from it.
template <class Work>
PetscEventPerfInfo added_to(const char* name, const Work& work) {
  const auto before = event(name);
  work();
  auto added = event(name);
  added.count -= before.count;
  added.flops -= before.flops;
#if PetscDefined(HAVE_DEVICE)
  added.GpuFlops -= before.GpuFlops;
  added.CpuToGpuCount -= before.CpuToGpuCount;
  added.GpuToCpuCount -= before.GpuToCpuCount;
#endif
  return added;
}

template <class Work>
PetscLogDouble flops_during(const Work& work) {
  PetscLogDouble before, after;
  PETSC_OK(PetscGetFlops(&before));
  work();
  PETSC_OK(PetscGetFlops(&after));
  return after - before;
}

}  // namespace petsc_test
