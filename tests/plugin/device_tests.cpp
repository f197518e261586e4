#include "device_tests.hpp"

#include <dlfcn.h>

namespace petsc_test {

namespace {

/// Asks the driver itself: a PETSc that failed to initialise a device crashes when it ends (seen in 3.26).
std::string ask_driver() {
  if (std::getenv("COMPOUND_TEST_PRETENDED")) return "";  // pretended_device.cpp
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return "there is no CUDA driver";
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool works = initialise && count && initialise(0) == 0 && count(&devices) == 0;
  return works && devices > 0 ? "" : "the CUDA driver finds no device";
}

}  // namespace

std::string why_driver_finds_none() {
  static const std::string reason = ask_driver();
  return all_ranks(reason.empty()) ? "" : reason.empty() ? "another process has no device" : reason;
}

std::string why_no_device() {
  return PetscDefined(HAVE_CUDA) ? why_driver_finds_none() : "this PETSc was built without CUDA";
}

}  // namespace petsc_test
