#include "device_tests.hpp"

#include <dlfcn.h>

namespace petsc_test {

namespace {

#if defined(PETSC_HAVE_CUDA)
/// Asks the driver itself: a PETSc that failed to initialise a device crashes when it ends (seen in 3.26).
std::string find_reason() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return "there is no CUDA driver";
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool works = initialise && count && initialise(0) == 0 && count(&devices) == 0;
  return works && devices > 0 ? "" : "the CUDA driver finds no device";
}
#else
std::string find_reason() { return "this PETSc was built without CUDA"; }
#endif

}  // namespace

std::string why_no_device() {
  static const std::string reason = find_reason();
  return all_ranks(reason.empty()) ? "" : reason.empty() ? "another process has no device" : reason;
}

}  // namespace petsc_test
