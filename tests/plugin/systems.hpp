// A linear system and its solution, for tests about solvers.
#pragma once

#include "compare.hpp"

namespace petsc_test {

/// 30 block rows: block tridiagonal plus far couplings, symmetric (Hermitian) positive definite.
Matrix spd(const std::string& type, int bs);

/// Block rows of any distribution, each coupled with its neighbours near and far: Hermitian and positive definite with
/// full blocks; with blocks of a `kind` of entry (kinds.hpp) that has no transposes only nearly so.
Matrix coupled(const std::string& type, const std::string& options, const Shape& shape, const std::string& kind = "");
/// The same without couplings between components, and nothing held: what is the same in each component's rows is its
/// null space.
Matrix free_components(const std::string& type, const Shape& shape);

/// One unknown a row, `size` rows a node; every fourth node of the first process has one unknown less if `clamped`.
Matrix scalar_matrix(int size, bool clamped, const std::string& type);

struct Solved {
  PetscInt iterations = -1;
  PetscReal residual = 0;  ///< relative, computed from the answer
};

/// Solves with the options, which all begin with -solver_.
Solved solve(Mat A, const std::string& options);
/// The same where an error may be the answer; P is what the preconditioner is made of.
PetscErrorCode try_to_solve(Mat A, Mat P, const std::string& options, Solved* solved);

}  // namespace petsc_test
