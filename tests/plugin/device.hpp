// For tests of products on a device: why there can be none here, and vectors on either side.
#pragma once

#include <petscdevice.h>

#include "compare.hpp"
#include "device_tests.hpp"
#include "operations.hpp"

namespace petsc_test {

/// Why no product can run on a device; empty if it can. `vectors` too are to lie there.
inline std::string why_no_device(bool vectors) {
  if (!tested_is_compound()) return "skipped: for compound types only";
  if (vectors && !PetscDefined(HAVE_CUDA)) return "skipped: this PETSc has no CUDA";
  const auto A = filled_matrix(tested_type(), "", random_problem(1, spread(2, 4, 4)));
  const auto found = catch_error([&] { return MatCompoundSetBackend(A, "cuda"); });
  return found.code ? "skipped: " + found.message : "";
}

struct DeviceTest : testing::Test {
  explicit DeviceTest(bool vectors = true) : vectors_(vectors) {}
  void SetUp() override {
    if (const auto why = why_no_device(vectors_); !why.empty()) SKIP_OF_DEVICE(why);
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

/// Where x, y and z lie: one bit each.
inline constexpr int all_mixes = 8;

inline testing::AssertionResult same_in_mix(Mat tested, Mat plain, const Product& product, int mix,
                                            std::uint64_t seed) {
  const auto x_host = product.transposed ? left_vector(plain, seed) : right_vector(plain, seed);
  const auto z_host = product.transposed ? right_vector(plain, seed + 1) : left_vector(plain, seed + 1);
  const auto x = on_side(x_host, mix & 1), y = on_side(z_host, mix & 2), z = on_side(z_host, mix & 4);
  const auto expected = reference_product(plain, product, seed);
  if (!product.adds())
    PETSC_OK(product.assign(tested, x, y));
  else
    PETSC_OK(product.add(tested, x, product.in_place ? y : z, y));
  const auto found = on_side(y, false), difference = on_side(expected, false);
  PetscReal size, error;
  PETSC_OK(VecAXPY(difference, -1.0, found));
  PETSC_OK(VecNorm(expected, NORM_INFINITY, &size));
  PETSC_OK(VecNorm(difference, NORM_INFINITY, &error));
  if (error <= 1e-13 * (1 + size)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << product.name << " in mix " << mix << " is off by " << error;
}

/// All products with their vectors on either side in every mix, against plain BAIJ on the host.
inline testing::AssertionResult same_everywhere(Mat tested, Mat plain, std::uint64_t seed) {
  for (const Product& product : all_products())
    for (int mix = 0; mix < all_mixes; ++mix)
      if (auto same = same_in_mix(tested, plain, product, mix, seed); !same) return same;
  return testing::AssertionSuccess();
}

}  // namespace petsc_test
