// Columns of dense matrices as vectors.
#pragma once

#include <vector>

#include "compare.hpp"

namespace petsc_test {

/// fill() of column n with seed + n. Assembles the matrix.
inline void fill_columns(Mat dense, std::uint64_t seed) {
  PetscInt columns;
  PETSC_OK(MatGetSize(dense, nullptr, &columns));
  for (PetscInt n = 0; n < columns; ++n) {
    Vec column;
    PETSC_OK(MatDenseGetColumnVecWrite(dense, n, &column));
    fill(column, seed + static_cast<std::uint64_t>(n));
    PETSC_OK(MatDenseRestoreColumnVecWrite(dense, n, &column));
  }
  assemble(dense);
}

template <class Use>
void with_column(Mat of, PetscInt n, const Use& use) {
  Vec column;
  PETSC_OK(MatDenseGetColumnVec(of, n, &column));
  use(column);
  PETSC_OK(MatDenseRestoreColumnVec(of, n, &column));
}

/// This process's parts.
inline std::vector<std::vector<PetscScalar>> columns_of(Mat X) {
  PetscInt count;
  std::vector<std::vector<PetscScalar>> all;
  PETSC_OK(MatGetSize(X, nullptr, &count));
  for (PetscInt n = 0; n < count; ++n) with_column(X, n, [&](Vec x) { all.push_back(values_of(x)); });
  return all;
}

}  // namespace petsc_test
