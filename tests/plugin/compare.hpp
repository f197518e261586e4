// Comparing twins: products within a computed bound, values bit by bit, and whether the products were our own.
// Every result is the same on all processes; the message names the worst place on the process that has it.
#pragma once

#include "twins.hpp"

namespace petsc_test {

/// One kind of product: y = A x, y = z + A x, or of the transpose. `in_place`: y and z are the same vector.
struct Product {
  const char* name;
  PetscErrorCode (*assign)(Mat, Vec x, Vec y);
  PetscErrorCode (*add)(Mat, Vec x, Vec z, Vec y);
  bool transposed = false, in_place = false, hermitian = false;

  bool adds() const { return add != nullptr; }
};
const std::vector<Product>& all_products();

/// Vectors that fit, filled by value(seed, global index).
Vector right_vector(Mat A, std::uint64_t seed);
Vector left_vector(Mat A, std::uint64_t seed);
void fill(Vec v, std::uint64_t seed);

/// y = product with x = value(seed, .) and z = value(seed + 1, .).
Vector product_of(Mat A, const Product& product, std::uint64_t seed);
/// The same by MatMult and MatMultTranspose alone. Plain BAIJ has no MatMultHermitianTranspose for block sizes above 5,
/// and (3.18) its MatMultAdd leaves y as it was for block size 11 without entries.
Vector reference_product(Mat plain, const Product& product, std::uint64_t seed);

/// This product agrees within 8 eps x row length x (|A||x| + |z|), row by row.
testing::AssertionResult same_product(Mat tested, Mat plain, const Product& product, std::uint64_t seed);
/// MatMult alone, and all of them.
testing::AssertionResult same_mult(Mat tested, Mat plain, std::uint64_t seed);
testing::AssertionResult same_products(Mat tested, Mat plain, std::uint64_t seed);

/// Of MatMult: the largest difference of a component over the largest component.
PetscReal relative_difference(Mat tested, Mat plain, std::uint64_t seed);
/// There is a difference, and none that values in single precision do not explain.
testing::AssertionResult differs_as_single(Mat tested, Mat plain, std::uint64_t seed);

/// Same pattern and same bits, row by row.
testing::AssertionResult same_values(Mat tested, Mat plain);
/// Same bits in both vectors; NaN equals NaN.
testing::AssertionResult same_bits(Vec a, Vec b);

/// |found - wanted| <= tolerance |wanted| in this norm.
testing::AssertionResult are_close(Vec found, Vec wanted, PetscReal tolerance, NormType norm = NORM_2);

/// MatGetType says the root type's name, with seq or mpi as the parent would.
testing::AssertionResult is_tested_type(Mat A);

/// Of MatCompoundGetInfo; all zero when the tested type is not compound.
MatCompoundInfo info_of(Mat A);
std::string plan_of(Mat A);

/// MatMult is counted as ours on every process that stores blocks: by exactly one on sequential types.
testing::AssertionResult counts_as_ours(Mat A);

/// All that must still hold after an operation: type, products, values, our own product, the layout asked for.
testing::AssertionResult still_twins(const Twins& twins, std::uint64_t seed);

/// Wherever one of the answers is finite, so is the other.
testing::AssertionResult same_finite_places(Vec a, Vec b);

/// Of this process.
inline std::vector<PetscScalar> values_of(Vec v) {
  const PetscScalar* from;
  PetscInt n;
  PETSC_OK(VecGetLocalSize(v, &n));
  PETSC_OK(VecGetArrayRead(v, &from));
  std::vector<PetscScalar> values(from, from + n);
  PETSC_OK(VecRestoreArrayRead(v, &from));
  return values;
}

}  // namespace petsc_test
