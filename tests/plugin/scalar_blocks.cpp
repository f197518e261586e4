#include "scalar_blocks.hpp"

#include "twins.hpp"

namespace petsc_test {

Matrix of_blocks(const std::string& type, Blocks b, bool tells, double fill, const std::string& options) {
  const PetscInt rows = 12, cols = 10;
  const std::string prefix = "aij_test_";
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, rows * b.rows, cols * b.cols, PETSC_DETERMINE, PETSC_DETERMINE));
  if (tells) PETSC_OK(MatSetBlockSizes(A, b.rows, b.cols));
  PETSC_OK(MatSetType(A, type.c_str()));
  if (!options.empty()) {
    const auto space = options.find(' ');
    PETSC_OK(PetscOptionsSetValue(nullptr, ("-" + prefix + options.substr(1, space - 1)).c_str(),
                                  options.substr(space + 1).c_str()));
    PETSC_OK(MatSetOptionsPrefix(A, prefix.c_str()));
    PETSC_OK(MatSetFromOptions(A));
  }
  PETSC_OK(MatSeqAIJSetPreallocation(A, 8 * b.cols, nullptr));
  PETSC_OK(MatMPIAIJSetPreallocation(A, 8 * b.cols, nullptr, 8 * b.cols, nullptr));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  const PetscInt all = cols * size();
  for (PetscInt row = rows * rank(); row < rows * (rank() + 1); ++row)
    for (const PetscInt col : {row % all, (row + 1) % all, (row * 7 + 3) % all, (row * 5 + 11) % all})
      for (int i = 0; i < b.rows; ++i)
        for (int j = 0; j < b.cols; ++j) {
          Random random(static_cast<std::uint64_t>((row * 991 + col) * 64 + i * 8 + j));
          const PetscInt at_row = row * b.rows + i, at_col = col * b.cols + j;
          if (random.chance(fill)) PETSC_OK(MatSetValue(A, at_row, at_col, value(7, at_row, at_col), INSERT_VALUES));
        }
  assemble(A);
  if (!options.empty())
    PETSC_OK(PetscOptionsClearValue(nullptr, ("-" + prefix + options.substr(1, options.find(' ') - 1)).c_str()));
  return A;
}

}  // namespace petsc_test
