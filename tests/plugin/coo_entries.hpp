// Coordinates and values for MatSetPreallocationCOO() and MatSetValuesCOO(), the same for any type.
#pragma once

#include "compare.hpp"

namespace petsc_test {

/// Entries as one process gives them.
struct Entries {
  std::vector<PetscInt> row, column;
  PetscCount size() const { return static_cast<PetscCount>(row.size()); }
};

/// 0 to n - 1 each, many of them twice and more, one in nine with a negative index. The last process of three gives
/// none.
inline Entries random_entries(std::uint64_t seed, const Shape& shape, int count) {
  Random random(seed + 1000 * static_cast<std::uint64_t>(rank()));
  const int rows = shape.block_rows() * shape.bs, cols = shape.block_cols() * shape.bs;
  Entries e;
  if (rank() == 2 || rows == 0 || cols == 0) return e;
  for (int k = 0; k < count; ++k) {
    e.row.push_back(random.below(9) == 0 ? -1 - random.below(3) : random.below(rows));
    e.column.push_back(random.below(9) == 0 ? -1 : random.below(cols));
  }
  return e;
}

/// Whole numbers, so that sums are exact in any order.
inline std::vector<PetscScalar> whole_values(std::uint64_t seed, const Entries& e) {
  Random random(seed + 77 * static_cast<std::uint64_t>(rank()));
  std::vector<PetscScalar> v(e.row.size());
  for (auto& s : v) {
    s = random.below(19) - 9;
#if defined(PETSC_USE_COMPLEX)
    s += PetscScalar(0, random.below(19) - 9);
#endif
  }
  return v;
}

/// Copies, since the call may change its arrays.
inline PetscErrorCode preallocate(Mat A, Entries e) {
  return MatSetPreallocationCOO(A, e.size(), e.row.data(), e.column.data());
}

/// aij leaves the last block size unset with size 1.
inline Matrix made_of(const std::string& type, const Shape& shape, const Entries& e) {
  auto A = empty_matrix(type, "", shape);
  PETSC_OK(preallocate(A, e));
  return A;
}

inline void set(Mat A, const std::vector<PetscScalar>& v, InsertMode mode) {
  PETSC_OK(MatSetValuesCOO(A, v.data(), mode));
}

/// No scalar differs, stored zeros apart.
inline testing::AssertionResult same_scalars(Mat A, Mat aij) {
  Matrix difference;
  PetscReal norm;
  PETSC_OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, difference.out()));
  PETSC_OK(MatAXPY(difference, -1.0, aij, DIFFERENT_NONZERO_PATTERN));
  PETSC_OK(MatNorm(difference, NORM_FROBENIUS, &norm));  // largest sums pass over NaN
  if (norm == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the Frobenius norm of the difference is " << norm;
}

inline testing::AssertionResult same_matrix(Mat A, Mat aij, std::uint64_t seed) {
  if (auto result = same_scalars(A, aij); !result) return result;
  if (auto result = same_mult(A, aij, seed); !result) return result;
  return same_product(A, aij, all_products()[3], seed);
}

struct Coo : testing::TestWithParam<int> {
  Shape square() const { return spread(GetParam(), 11, 11); }
};

}  // namespace petsc_test
