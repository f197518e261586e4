// A linear system and its solution, for tests about solvers.
#pragma once

#include "compare.hpp"

namespace petsc_test {

/// 30 block rows: block tridiagonal plus far couplings, symmetric (Hermitian) positive definite.
Matrix spd(const std::string& type, int bs);

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
