#include "systems.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "operations.hpp"

namespace petsc_test {

Matrix spd(const std::string& type, int bs) {
  const auto shape = spread(bs, 30, 30);
  auto A = empty_matrix(type, "", shape);
  PETSC_OK(MatSetUp(A));
  PETSC_OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscInt first, last, total;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetSize(A, &total, nullptr));
  for (PetscInt i = first; i < last; ++i) {
    const PetscInt columns[] = {i - 7 * bs, i - 1, i, i + 1, i + 7 * bs};
    for (PetscInt j : columns) {
      if (j < 0 || j >= total) continue;
      const PetscScalar off = -1.0 + 0.3 * PetscRealPart(value(31, std::min(i, j), std::max(i, j)));
      PETSC_OK(MatSetValue(A, i, j, i == j ? PetscScalar(5.3) : off, INSERT_VALUES));
    }
  }
  assemble(A);
  PETSC_OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  return A;
}

Matrix scalar_matrix(int size, bool clamped, const std::string& type) {
  std::vector<PetscInt> node_of;
  const int nodes = 24;
  for (int n = 0; n < nodes; ++n)
    for (int k = 0; k < (clamped && n % 4 == 0 ? size - 1 : size); ++k) node_of.push_back(n);
  const auto local = static_cast<PetscInt>(node_of.size());
  Matrix A;
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  PETSC_OK(MatSetSizes(A, local, local, PETSC_DETERMINE, PETSC_DETERMINE));
  PETSC_OK(MatSetType(A, type.c_str()));
  PETSC_OK(MatSetUp(A));
  allow_new_nonzeros(A);
  PetscInt first;
  PETSC_OK(MatGetOwnershipRange(A, &first, nullptr));
  for (PetscInt i = 0; i < local; ++i)
    for (PetscInt j = 0; j < local; ++j) {
      if (std::abs(static_cast<int>(node_of[i] - node_of[j])) > 1) continue;
      PETSC_OK(MatSetValue(A, first + i, first + j, value(130, first + i, first + j), INSERT_VALUES));
    }
  assemble(A);
  return A;
}

PetscErrorCode try_to_solve(Mat A, Mat P, const std::string& options, Solved* s) {
  Solver ksp;
  const auto b = left_vector(A, 32), x = right_vector(A, 33), r = left_vector(A, 34);
  PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
  PETSC_OK(KSPSetOperators(ksp, A, P));
  PETSC_OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscErrorCode code = KSPSetFromOptions(ksp);
  if (!code) code = KSPSolve(ksp, b, x);
  PETSC_OK(PetscOptionsClear(nullptr));
  if (code) {
    *ksp.in_place() = nullptr;  // lost: destroying it would need what the error left undone
    return code;
  }
  PetscReal norm;
  PETSC_OK(KSPGetIterationNumber(ksp, &s->iterations));
  PETSC_OK(MatMult(A, x, r));
  PETSC_OK(VecAXPY(r, -1.0, b));
  PETSC_OK(VecNorm(r, NORM_2, &s->residual));
  PETSC_OK(VecNorm(b, NORM_2, &norm));
  s->residual /= norm;
  return PETSC_SUCCESS;
}

Solved solve(Mat A, const std::string& options) {
  Solved s;
  PETSC_OK(try_to_solve(A, A, options, &s));
  return s;
}

}  // namespace petsc_test
