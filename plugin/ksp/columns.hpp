// Columns of KSPMatSolve(), and what PETSc hears of each.
#pragma once

#include <petsc/private/kspimpl.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "ksp/watched.hpp"
#include "petsc/guard.hpp"
#include "spgemm/dense_arrays.hpp"

namespace compound::plugin {

/// One right-hand side and its solution.
struct Column {
  Mat B, X;
  PetscInt number;
  std::vector<PetscReal> norms = {};  ///< of iterations, from 0 on
  // Of PETSc's test and of what it says of the solve, as the KSP has them.
  PetscReal ttol = 0, rnorm0 = 0, rnorm = 0;
  PetscInt its = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
};

/// Where PETSc's test takes the right-hand sides of a batch from, in releases that have it: not while a column is
/// solved.
template <class PetscKSP>
Mat exchange_batch(PetscKSP ksp, Mat with) {
  if constexpr (requires { ksp->mat_rhs; })
    return std::exchange(ksp->mat_rhs, with);
  else
    return nullptr;
}

/// work() while the KSP solves this column: with its vectors, norms and reason.
template <class C, class Work>
PetscErrorCode with_column(KSP ksp, C& column, const Work& work) {
  PetscFunctionBegin;
  const auto as_of_column = [&](Vec b, Vec x) {
    Vec const rhs = std::exchange(ksp->vec_rhs, b), sol = std::exchange(ksp->vec_sol, x);
    Mat const batch = exchange_batch(ksp, nullptr);
    const PetscErrorCode code = guarded(PETSC_COMM_SELF, work);
    ksp->vec_rhs = rhs;
    ksp->vec_sol = sol;
    exchange_batch(ksp, batch);
    return code;
  };
  ksp->reason = column.reason;
  ksp->ttol = column.ttol;
  ksp->rnorm0 = column.rnorm0;
  const PetscErrorCode code = with_column_vectors(column.B, column.X, column.number, as_of_column);
  if constexpr (!std::is_const_v<C>) {
    column.reason = ksp->reason;
    column.ttol = ksp->ttol;
    column.rnorm0 = ksp->rnorm0;
    column.rnorm = ksp->rnorm;
    column.its = ksp->its;
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By the last norm: PETSc's test alone. Monitors and the history hear of it at the end.
inline PetscErrorCode test(KSP ksp, const Column& column) {
  PetscFunctionBegin;
  const auto iteration = static_cast<PetscInt>(column.norms.size()) - 1;
  ksp->its = iteration;
  KSPCheckNorm(ksp, column.norms.back());
  PetscCall((*ksp->converged)(ksp, iteration, column.norms.back(), &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All norms, as a solve of this column alone would tell them.
inline PetscErrorCode tell_norms(KSP ksp, const Column& column) {
  PetscFunctionBegin;
  ksp->reason = KSP_CONVERGED_ITERATING;
  if (ksp->res_hist_reset) ksp->res_hist_len = 0;
  for (std::size_t i = 0; i < column.norms.size() && !ksp->reason; ++i)
    PetscCall(report_norm(ksp, static_cast<PetscInt>(i), column.norms[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What KSPGetConvergedReason() and its kin say of all columns: the first that failed, else the one with most
/// iterations.
class SolvedColumns {
 public:
  void note(const Column& c) { note(c.reason, c.its, c.rnorm); }
  void note(KSP ksp) { note(ksp->reason, ksp->its, ksp->rnorm); }
  void tell(KSP ksp) const {
    ksp->reason = reason_;
    ksp->its = its_;
    ksp->rnorm = rnorm_;
  }

 private:
  void note(KSPConvergedReason reason, PetscInt its, PetscReal rnorm) {
    const bool failed = reason < 0, has_failed = reason_ < 0;
    if (has_failed || (!failed && reason_ != KSP_CONVERGED_ITERATING && its <= its_)) return;
    reason_ = reason;
    its_ = its;
    rnorm_ = rnorm;
  }
  KSPConvergedReason reason_ = KSP_CONVERGED_ITERATING;
  PetscInt its_ = 0;
  PetscReal rnorm_ = 0;
};

}  // namespace compound::plugin
