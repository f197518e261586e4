// Solves with random settings that change between them are PETSc's own.
#include <string>
#include <utility>
#include <vector>

#include "dense_columns.hpp"
#include "krylov_cases.hpp"
#include "random_runs.hpp"

namespace krylov_test {

namespace {

/// Of a solve; all have a value, so that none stays of the solve before.
std::string random_options(Random& random, const Method& method, bool is_indefinite) {
  const bool is_cg = method.petscs == cg.petscs;
  const auto is = [&random] { return random.chance(0.5) ? "true" : "false"; };
  const std::string of_cg[] = {"preconditioned", "unpreconditioned", "natural", "none"};
  const std::string norm = is_cg ? one_of(of_cg, random) : of_cg[random.chance(0.8) ? 0 : 3];
  // Rounding tells in BiCGSTAB's later iterations, and in SOR of indefinite matrices.
  const int most[] = {1, 3, 9, norm == "none" || !is_cg ? 14 : 300};
  const char* const preconditioners[] = {"none", "jacobi", "pbjacobi", "bjacobi", is_indefinite ? "none" : "sor"};
  const char *const rtol[] = {"1e-1", "1e-4", "1e-8"}, *const divtol[] = {"1e4", "1e4", "0.9"};
  const std::string lags = method.petscs_options ? "false" : is();  // not fused: PETSc's loop of two reductions
  const std::pair<const char*, std::string> all[] = {{"ksp_norm_type", norm},
                                                     {"ksp_max_it", std::to_string(one_of(most, random))},
                                                     {"ksp_rtol", one_of(rtol, random)},
                                                     {"ksp_divtol", one_of(divtol, random)},
                                                     {"ksp_converged_maxits", is()},
                                                     {"ksp_initial_guess_nonzero", is()},
                                                     {"ksp_lag_norm", lags},
                                                     {"pc_type", one_of(preconditioners, random)},
                                                     {"pc_jacobi_abs", is()}};
  std::string text;
  for (const auto& [name, value] : all) text += std::string(" -solver_") + name + " " + value;
  return text;
}

Case random_case(Random& random, const Method& method) {
  using Null = Case::Null;
  const Null spaces[] = {Null::nothing, Null::nothing, Null::constant, Null::vectors, Null::constant_and_vectors};
  const Case::Rhs sides[] = {Case::Rhs::random, Case::Rhs::zero, Case::Rhs::of_guess};
  Case c{.name = "", .options = "", .bs = 1 + random.below(7)};
  if (method.petscs == cg.petscs && random.chance(0.1)) c.shift = -6.0;
  c.null_space = one_of(spaces, random);
  if (c.bs == 1 && c.removes_null_space()) c.null_space = Null::constant;
  c.rhs = c.removes_null_space() ? Case::Rhs::of_guess : one_of(sides, random);
  return c;
}

/// KSPMatSolve() for right-hand sides that have solutions, some of them zero. Returns the columns one after the other.
std::vector<PetscScalar> solve_columns(KSP ksp, Mat A, int count, std::uint64_t seed) {
  PetscInt rows;
  Matrix B, X;
  PETSC_OK(MatGetLocalSize(A, &rows, nullptr));
  for (Matrix* made : {&B, &X})
    PETSC_OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, count, nullptr, made->out()));
  fill_columns(X, seed + 100);
  fill_columns(B, seed);
  for (int n = 0; n < count; ++n)
    with_column(B, n, [&](Vec b) {
      Vector x;
      PETSC_OK(VecDuplicate(b, x.out()));
      PETSC_OK(VecCopy(b, x));
      PETSC_OK(MatMult(A, x, b));
      if ((seed + static_cast<std::uint64_t>(n)) % 5 == 0) PETSC_OK(VecSet(b, 0));
    });
  PETSC_OK(KSPMatSolve(ksp, B, X));
  std::vector<PetscScalar> all;
  for (const auto& x : columns_of(X)) all.insert(all.end(), x.begin(), x.end());
  return all;
}

/// Three solves of one solver, each perhaps after one for several right-hand sides, between which the matrix, the
/// right-hand side or the solver changes.
testing::AssertionResult solve_at_random(std::uint64_t seed, std::string& history) {
  Random random(seed);
  const Method methods[] = {cg, bcgs, one_reduction};
  const Method method = one_of(methods, random);
  const Case c = random_case(random, method);
  history += std::string(method.name) + ", blocks of " + std::to_string(c.bs) + ", null space " +
             std::to_string(int(c.null_space)) + ", right-hand side " + std::to_string(int(c.rhs)) + ", shift " +
             std::to_string(c.shift);
  const System of_petsc(c, false), of_ours(c, false);
  const std::pair<Solver, const System&> both[] = {
      {solver(c, of_petsc, method.petscs, method.petscs_options ? method.petscs_options : ""), of_petsc},
      {solver(c, of_ours, method.ours, method.options), of_ours}};
  for (int n = 0; n < 3; ++n) {
    const std::string options = random_options(random, method, c.shift != 0);
    const int change = n > 0 ? random.below(4) : 0;
    // Columns at once have two reductions; PETSc's form with one is less accurate.
    const int columns = random.chance(0.3) && !method.petscs_options ? 1 + random.below(20) : 0;
    const auto of_columns = random.next();
    history += "\n  change " + std::to_string(change) + ", columns " + std::to_string(columns) + ":" + options;
    Outcome outcomes[2], of_all[2];
    for (int k = 0; k < 2; ++k) {
      const auto& [ksp, s] = both[k];
      if (change == 1 && !c.removes_null_space()) PETSC_OK(MatShift(s.A, 1.25));
      if (change == 2) PETSC_OK(VecScale(s.b, 3));
      if (change == 3) PETSC_OK(KSPReset(ksp));
      if (change == 3) PETSC_OK(KSPSetOperators(ksp, s.A, s.A));
      fill(s.x, 43);
      PETSC_OK(PetscOptionsInsertString(nullptr, options.c_str()));
      PETSC_OK(KSPSetFromOptions(ksp));
      PETSC_OK(PetscOptionsClear(nullptr));
      if (columns > 0) of_all[k].x = solve_columns(ksp, s.A, columns, of_columns);
      outcomes[k] = outcome(ksp, s);
    }
    if (auto result = same(of_all[1], of_all[0]); !result)
      return testing::AssertionFailure() << "columns: " << result.message();
    if (auto result = same(outcomes[1], outcomes[0]); !result) return result;
  }
  return testing::AssertionSuccess();
}

TEST(RandomSettings, ArePetscsOwn) {
  run_sequences(whole_tier() ? 500 : 60 / static_cast<std::uint64_t>(size()), solve_at_random);
}

}  // namespace

}  // namespace krylov_test
