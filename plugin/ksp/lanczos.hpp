// Eigenvalues of the preconditioned operator, estimated by what conjugate gradients know of it.
#pragma once

#include <petscsys.h>

#include <vector>

namespace compound::plugin {

/// Of the symmetric tridiagonal matrix with this diagonal and what is below it, in rising order; by the QR algorithm
/// with Wilkinson's shifts (Golub and Van Loan, Matrix Computations, 8.3).
std::vector<PetscReal> tridiagonal_eigenvalues(std::vector<PetscReal> diagonal, std::vector<PetscReal> below);

/// The Lanczos matrix of a solve: with steps alpha_i and directions p_i = z_i + beta_i p_{i-1}, and beta_0 = 0, its
/// diagonal is 1 / alpha_i + beta_i / alpha_{i-1}, and below it stand sqrt(beta_{i+1}) / alpha_i (Saad, Iterative
/// Methods for Sparse Linear Systems, 6.7.3).
class Lanczos {
 public:
  void forget() { steps_.clear(); }
  /// Iteration i, one after the other: the real part of 1 / alpha_i, and |beta_i|.
  void note(PetscInt i, PetscReal inverse_step, PetscReal growth) {
    if (wanted && i == static_cast<PetscInt>(steps_.size())) steps_.push_back({inverse_step, growth});
  }
  std::vector<PetscReal> eigenvalues() const;

  bool wanted = false;

 private:
  struct Step {
    PetscReal inverse_step, growth;
  };
  std::vector<Step> steps_;
};

}  // namespace compound::plugin
