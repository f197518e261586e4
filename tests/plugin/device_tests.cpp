#include "device_tests.hpp"

namespace petsc_test {

namespace {

std::string find_reason() {
#if defined(PETSC_HAVE_CUDA)
  Vector v;
  const auto found = catch_error([&] {
    PetscErrorCode code = VecCreateSeq(PETSC_COMM_SELF, 1, v.out());
    if (!code) code = VecSetType(v, VECSEQCUDA);
    return code ? code : VecSet(v, 1.0);
  });
  return found.code ? "no usable CUDA device: " + found.message : "";
#else
  return "this PETSc was built without CUDA";
#endif
}

}  // namespace

std::string why_no_device() {
  static const std::string reason = find_reason();
  return all_ranks(reason.empty()) ? "" : reason.empty() ? "another process has no device" : reason;
}

}  // namespace petsc_test
