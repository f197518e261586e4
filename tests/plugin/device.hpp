// For tests of products on a device: why there can be none here, and vectors on either side.
#pragma once

#include <petscdevice.h>

#include "compare.hpp"

namespace petsc_test {

/// Why no product can run on a device; empty if it can. `vectors` too are to lie there.
inline std::string why_no_device(bool vectors) {
  if (!tested_is_compound()) return "skipped: for compound types only";
  if (vectors && !PetscDefined(HAVE_CUDA)) return "skipped: this PETSc has no CUDA";
  const auto A = filled_matrix(MATBAIJCOMPOUND, "", random_problem(1, spread(2, 4, 4)));
  const auto found = catch_error([&] { return MatCompoundSetBackend(A, "cuda"); });
  return found.code ? "skipped: " + found.message : "";
}

struct DeviceTest : testing::Test {
  explicit DeviceTest(bool vectors = true) : vectors_(vectors) {}
  void SetUp() override {
    if (const auto why = why_no_device(vectors_); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }

 private:
  bool vectors_;
};

/// A copy of `v` on the device, or on the host.
inline Vector on_side(Vec v, bool device) {
  Vector copy;
  PetscInt n, all;
  PETSC_OK(VecGetLocalSize(v, &n));
  PETSC_OK(VecGetSize(v, &all));
  PETSC_OK(VecCreate(PETSC_COMM_WORLD, copy.out()));
  PETSC_OK(VecSetSizes(copy, n, all));
  PETSC_OK(VecSetType(copy, device ? VECCUDA : VECSTANDARD));
  PETSC_OK(VecCopy(v, copy));
  return copy;
}

inline std::string type_of(Vec v) {
  VecType type;
  PETSC_OK(VecGetType(v, &type));
  return type;
}

}  // namespace petsc_test
