// A Krylov method on a matrix, with its vectors, as a program makes it.
#pragma once

#include <petscksp.h>

#include <string>

#include "parent_matrix.hpp"

namespace compound::bench {

/// The right-hand side is 1 everywhere, the first guess 0.
class Solve {
 public:
  /// `prepare` is called before options are read.
  Solve(Mat A, const std::string& method, void (*prepare)(KSP));

  KSP ksp() const { return ksp_; }
  KSPConvergedReason run();
  PetscInt iterations() const;
  std::string method() const;          ///< "cg"
  std::string preconditioner() const;  ///< "pbjacobi"
  /// |b - A x| / |b|, by largest components.
  double residual();

 private:
  Mat A_;
  Handle<KSP, KSPDestroy> ksp_;
  Vector x_, b_;
};

}  // namespace compound::bench
