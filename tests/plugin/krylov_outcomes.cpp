#include <algorithm>
#include <cmath>
#include <limits>

#include "krylov_cases.hpp"
#include "view_text.hpp"

namespace krylov_test {

Solver solver(const Case& c, const System& s, const char* type, const char* more_options) {
  Solver ksp;
  PETSC_OK(PetscOptionsInsertString(nullptr, c.options));
  PETSC_OK(PetscOptionsInsertString(nullptr, more_options));
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
  PETSC_OK(KSPSetType(ksp, type));
  PETSC_OK(KSPSetOperators(ksp, s.A, s.A));
  PETSC_OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PETSC_OK(KSPSetInitialGuessNonzero(ksp, c.has_guess ? PETSC_TRUE : PETSC_FALSE));
  if (c.prepare) c.prepare(ksp, s.A);
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(PetscOptionsClear(nullptr));
  return ksp;
}

Outcome outcome(KSP ksp, const System& s) {
  Outcome o;
  PETSC_OK(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
  PETSC_OK(KSPSolve(ksp, s.b, s.x));
  PetscBool is_known;
  PetscReal known;
  PETSC_OK(VecNormAvailable(s.x, NORM_2, &is_known, &known));
  EXPECT_TRUE(all_ranks(is_known) || all_ranks(!is_known)) << "some processes alone would wait for the norm of x";
  const PetscReal* norms;
  PetscInt count;
  PETSC_OK(KSPGetResidualHistory(ksp, &norms, &count));
  o.norms.assign(norms, norms + count);
  PETSC_OK(KSPGetConvergedReason(ksp, &o.reason));
  PETSC_OK(KSPGetIterationNumber(ksp, &o.iterations));
  PETSC_OK(KSPGetResidualNorm(ksp, &o.last));
  o.x = values_of(s.x);
  o.view = view_of("krylov_test", ksp);
  PetscBool wanted;
  PETSC_OK(KSPGetComputeEigenvalues(ksp, &wanted));
  if (!wanted) return o;
  std::vector<PetscReal> imaginary(o.iterations);
  o.eigenvalues.resize(o.iterations);
  o.extremes.resize(2);
  PETSC_OK(KSPComputeEigenvalues(ksp, o.iterations, o.eigenvalues.data(), imaginary.data(), &count));
  EXPECT_EQ(count, o.iterations);
  EXPECT_EQ(imaginary, std::vector<PetscReal>(o.iterations, 0));
  PETSC_OK(KSPComputeExtremeSingularValues(ksp, &o.extremes[0], &o.extremes[1]));
  return o;
}

namespace {

/// Down to rounding, which may or may not be a residual of exactly zero: that is KSP_CONVERGED_ATOL.
bool is_exact(const Outcome& o) {
  return (o.reason == KSP_CONVERGED_RTOL || o.reason == KSP_CONVERGED_ATOL) && !o.norms.empty() &&
         o.norms.back() <= 1e-14 * o.norms.front();
}

}  // namespace

testing::AssertionResult same(const Outcome& a, const Outcome& b) {
  if (a.reason != b.reason && !(is_exact(a) && is_exact(b)))
    return testing::AssertionFailure() << "reasons " << a.reason << " and " << b.reason;
  if (std::abs(a.iterations - b.iterations) > std::max(2.0, 0.01 * double(b.iterations)))
    return testing::AssertionFailure() << "iterations " << a.iterations << " and " << b.iterations;
  // With one reduction the relative error of p^H A p is at most that of inner products, n eps / 2, times 1 + 2 kappa
  // (docs/solvers.md): for the 90 unknowns of most cases, whose kappa is below 105, 2e-12 an iteration, 6e-11 in
  // thirty.
  const std::size_t common = std::min({a.norms.size(), b.norms.size(), std::size_t{30}});
  if (common + 2 < std::min(b.norms.size(), std::size_t{30})) return testing::AssertionFailure() << "norms are missing";
  for (std::size_t i = 0; i < common; ++i)
    if (!(std::abs(a.norms[i] - b.norms[i]) <= 1e-10 * (b.norms[i] + b.norms[0])))
      return testing::AssertionFailure() << "norm " << i << ": " << a.norms[i] << " and " << b.norms[i];
  if (a.eigenvalues.size() != b.eigenvalues.size())
    return testing::AssertionFailure() << a.eigenvalues.size() << " eigenvalues and " << b.eigenvalues.size();
  for (std::size_t i = 0; i < a.extremes.size(); ++i)
    if (!(std::abs(a.extremes[i] - b.extremes[i]) <= 1e-6 * std::abs(b.extremes[i])))
      return testing::AssertionFailure() << "extremes " << a.extremes[i] << " and " << b.extremes[i];
  for (std::size_t i = 0; i < a.eigenvalues.size(); ++i)  // those between change with the last digits of a long solve
    if (a.eigenvalues.size() < 20 && !(std::abs(a.eigenvalues[i] - b.eigenvalues[i]) <= 1e-6 * b.extremes[0]))
      return testing::AssertionFailure() << "eigenvalues " << a.eigenvalues[i] << " and " << b.eigenvalues[i];
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    const double difference = PetscAbsScalar(a.x[i] - b.x[i]);
    if (std::isnan(PetscAbsScalar(a.x[i])) && std::isnan(PetscAbsScalar(b.x[i]))) continue;
    error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(error, difference);
    size = std::max(size, double(PetscAbsScalar(b.x[i])));
  }
  if (!all_ranks(error <= 1e-7 * (1 + size)))
    return testing::AssertionFailure() << "answers differ by " << max_over_ranks(error);
  return testing::AssertionSuccess();
}

bool by_peers() {
  static const bool yes = [] {
    const Case c{"", "-solver_pc_type jacobi"};
    const System s(c, true);
    return says(outcome(solver(c, s, KSPCGCOMPOUND), s), "devices exchange values and sums themselves");
  }();
  return yes;
}

}  // namespace krylov_test
