// Symmetric and Hermitian matrices: a ring of blocks, each coupled to its neighbours and to the node 7 after it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "systems.hpp"

namespace petsc_test {

enum class Mirror { symmetric, hermitian };

constexpr PetscInt ring_nodes = 30;

inline PetscScalar ring_value(PetscInt i, PetscInt j, Mirror mirror) {
  const PetscInt first = std::min(i, j), second = std::max(i, j);
  if (i == j) return 30.0 + std::sin(double(i));
  const double re = std::sin(double(7 * first + 3 * second)), im = std::cos(double(first + 5 * second));
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(re, mirror == Mirror::hermitian && i > j ? -im : im);
#else
  (void)im, (void)mirror;
  return re;
#endif
}

/// In blocks of `bs`; of types that keep the upper triangle, that alone. Block by block: of single scalars 3.18 leaves
/// out on several processes what is below the diagonal of a diagonal block.
inline void fill_ring(Mat A, PetscInt bs, Mirror mirror) {
  PetscInt begin, end;
  MatType type;
  std::vector<PetscScalar> block;
  PETSC_OK(MatGetType(A, &type));
  const bool upper = std::strstr(type, "sbaij") != nullptr;
  PETSC_OK(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin / bs; row < end / bs; ++row)
    for (const PetscInt step : {PetscInt(0), PetscInt(1), PetscInt(7), ring_nodes - 7, ring_nodes - 1}) {
      const PetscInt column = (row + step) % ring_nodes;
      if (upper && column < row) continue;
      block.clear();
      for (PetscInt i = 0; i < bs; ++i)
        for (PetscInt j = 0; j < bs; ++j) block.push_back(ring_value(row * bs + i, column * bs + j, mirror));
      PETSC_OK(MatSetValuesBlocked(A, 1, &row, 1, &column, block.data(), INSERT_VALUES));
    }
  assemble(A);
}

/// `prefix`: of the matrix's options. Filled by the caller.
inline Matrix empty_ring(const char* type, PetscInt bs, const char* prefix) {
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, ring_nodes * bs, ring_nodes * bs));
  PETSC_OK(MatSetBlockSize(A, bs));
  PETSC_OK(MatSetType(A, type));
  PETSC_OK(MatSetOptionsPrefix(A, prefix));
  PETSC_OK(MatSetFromOptions(A));
  PETSC_OK(MatSetUp(A));
  return A;
}

inline void expect_same(Vec found, Vec wanted, const std::string& what, PetscReal tolerance = 1e-13) {
  EXPECT_TRUE(are_close(found, wanted, tolerance)) << what;
}

/// All products of A beside those of `reference`.
inline void expect_same_products(Mat A, Mat reference, const std::string& what) {
  const auto x = right_vector(reference, 1), z = right_vector(reference, 2), found = right_vector(reference, 3),
             wanted = right_vector(reference, 4);
  const auto check = [&](auto plain, auto added, const std::string& name) {
    PETSC_OK(plain(A, x, found));
    PETSC_OK(plain(reference, x, wanted));
    expect_same(found, wanted, what + ": " + name);
    PETSC_OK(added(A, x, z, found));
    PETSC_OK(added(reference, x, z, wanted));
    expect_same(found, wanted, what + ": z + " + name);
    PETSC_OK(VecCopy(z, found));
    PETSC_OK(added(A, x, found, found));
    expect_same(found, wanted, what + ": y + " + name);
  };
  check(MatMult, MatMultAdd, "A x");
  check(MatMultTranspose, MatMultTransposeAdd, "A^T x");
  check(MatMultHermitianTranspose, MatMultHermitianTransposeAdd, "A^H x");
}

}  // namespace petsc_test
