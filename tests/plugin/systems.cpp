#include "systems.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kinds.hpp"
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

namespace {

/// Block (i, j), i < j.
std::vector<PetscScalar> coupling(const std::string& kind, int bs, PetscInt i, PetscInt j) {
  const auto seed = static_cast<std::uint64_t>(1000 * i + j + 1);
  std::vector<PetscScalar> block;
  if (!kind.empty()) block = block_of(kind, bs, seed);
  for (int k = 0; kind.empty() && k < bs * bs; ++k) block.push_back(value(seed, k));
  for (PetscScalar& v : block) v *= 0.3 / bs;
  return block;
}

std::vector<PetscScalar> conjugate_transposed(const std::vector<PetscScalar>& block, int bs) {
  std::vector<PetscScalar> t(block.size());
  for (int r = 0; r < bs; ++r)
    for (int c = 0; c < bs; ++c) t[c * bs + r] = PetscConj(block[r * bs + c]);
  return t;
}

std::vector<PetscScalar> times_identity(PetscScalar factor, int bs) {
  std::vector<PetscScalar> block(static_cast<std::size_t>(bs * bs));
  for (int k = 0; k < bs; ++k) block[k * bs + k] = factor;
  return block;
}

/// block(i, j) for neighbours i and j.
template <class MakeBlock>
Matrix of_neighbours(const std::string& type, const std::string& options, const Shape& shape, const MakeBlock& block) {
  auto A = empty_matrix(type, options, shape);
  PETSC_OK(MatSetUp(A));
  allow_new_nonzeros(A);
  const PetscInt all = shape.block_rows(), mine = shape.rows[static_cast<std::size_t>(rank())];
  for (PetscInt i = shape.first_row(); i < shape.first_row() + mine; ++i)
    for (const PetscInt j : {i - 7, i - 1, i, i + 1, i + 7})
      if (j >= 0 && j < all) PETSC_OK(MatSetValuesBlocked(A, 1, &i, 1, &j, block(i, j).data(), INSERT_VALUES));
  assemble(A);
  return A;
}

}  // namespace

Matrix coupled(const std::string& type, const std::string& options, const Shape& shape, const std::string& kind) {
  const bool transposes = kind.find("dual") == std::string::npos;
  return of_neighbours(type, options, shape, [&](PetscInt i, PetscInt j) {
    if (i == j) return times_identity(2.5 + 0.01 * double(i % 5), shape.bs);
    const auto upper = coupling(kind, shape.bs, std::min(i, j), std::max(i, j));
    return i < j || !transposes ? upper : conjugate_transposed(upper, shape.bs);
  });
}

Matrix free_components(const std::string& type, const Shape& shape) {
  const PetscInt all = shape.block_rows();
  return of_neighbours(type, "", shape, [&](PetscInt i, PetscInt j) {
    const int neighbours = (i >= 7) + (i >= 1) + (i + 1 < all) + (i + 7 < all);
    return times_identity(i == j ? neighbours : -1, shape.bs);
  });
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
