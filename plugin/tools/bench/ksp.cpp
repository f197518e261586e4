// An iteration of Krylov methods.
#include <petsccompound.h>
#include <petscksp.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "dense.hpp"
#include "dominant_rows.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "run_case.hpp"
#include "solve.hpp"

namespace compound::bench {

namespace {

/// An iteration's time is the difference of two solves, since the beginning of one is no part of it. Few enough that no
/// method comes to an exact answer, whose next iteration would divide by 0.
constexpr PetscInt few = 8, many = 32;

bool lacks_diagonal(MPI_Comm comm, const CaseMatrix& c) {
  const BlockArrays diagonal_part = block_arrays(c.parent).front();
  int lacks = 0;
  for (PetscInt r = 0; r < diagonal_part.rows && !lacks; ++r) {
    const std::span row(diagonal_part.column + diagonal_part.start[r],
                        diagonal_part.column + diagonal_part.start[r + 1]);
    lacks = std::ranges::find(row, r) == row.end();
  }
  MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, comm);
  return lacks;
}

/// None where the case's own will do. MatShift() makes places that are not there one by one, each of which moves the
/// whole matrix, or refuses to.
Matrix parent_with_diagonal(MPI_Comm comm, const CaseMatrix& c) {
  return lacks_diagonal(comm, c) ? assemble(comm, with_diagonal(c, 0), c.block.rows, nullptr) : Matrix();
}

Matrix matrix_of(Mat parent, const std::string& type, double diagonal) {
  Matrix A;
  must(MatConvert(parent, type.c_str(), MAT_INITIAL_MATRIX, A.out()));
  must(MatShift(A, diagonal));
  if (std::strstr(type.c_str(), MATBAIJCOMPOUND) == nullptr) return A;
  must(MatSetFromOptions(A));
  multiply_on_device(A);
  return A;
}

/// A product, so that the first solve does not pack the matrix.
void multiply_once(Mat A) {
  Vector x, y;
  must(MatCreateVecs(A, x.out(), y.out()));
  must(VecSet(x, 1.0));
  must(MatMult(A, x, y));
}

/// The case's matrix with a dominant diagonal, once for each type; each has made a product.
class MatricesOfTypes {
 public:
  MatricesOfTypes(MPI_Comm comm, const CaseMatrix& c) {
    if (!c.parent || c.block_rows != c.block_columns)
      throw usage_error("-types: Krylov methods take square matrices of square blocks only");
    diagonal_ = dominant_diagonal(c.parent);
    with_diagonal_ = parent_with_diagonal(comm, c);
    parent_ = with_diagonal_ ? with_diagonal_ : c.parent;
  }
  Mat of(const std::string& type) {
    const auto [at, is_new] = made_.try_emplace(type);
    if (is_new) multiply_once(at->second = matrix_of(parent_, type, diagonal_));
    return at->second;
  }

 private:
  double diagonal_ = 0;
  Matrix with_diagonal_;
  Mat parent_ = nullptr;
  std::map<std::string, Matrix> made_;
};

/// Without a test of convergence.
void iterate(Solve& solve, PetscInt iterations) {
  PetscReal relative, absolute, divergence;
  must(KSPGetTolerances(solve.ksp(), &relative, &absolute, &divergence, nullptr));
  must(KSPSetTolerances(solve.ksp(), relative, absolute, divergence, iterations));
  const KSPConvergedReason reason = solve.run();
  if (solve.iterations() != iterations)
    throw usage_error("-types: " + solve.method() + " stopped after " + std::to_string(solve.iterations()) + " of " +
                      std::to_string(iterations) + " iterations (" + KSPConvergedReasons[reason] +
                      "); leave out options that end it");
}

}  // namespace

Record time_ksp(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  MatricesOfTypes matrices(comm, c);
  std::vector<std::unique_ptr<Solve>> solves;
  std::vector<std::vector<double>> all_s(o.solvers.size()), iteration_s(o.solvers.size());
  Record rows;
  for (const auto& [type, method] : o.solvers) {
    progress.say("solving by " + method + " with " + type);
    solves.push_back(std::make_unique<Solve>(matrices.of(type), method, [](KSP ksp) {
      must(KSPSetConvergenceTest(ksp, KSPConvergedSkip, nullptr, nullptr));
    }));
    const double first_s = timed(comm, [&] { iterate(*solves.back(), many); });
    rows.push_back(
        {{"type", type}, {"ksp", method}, {"pc", solves.back()->preconditioner()}, {"first_solve_s", first_s}});
  }
  for (int round = 0; round < o.rounds; ++round) {
    progress.say("solving, round " + std::to_string(round + 1));
    for (std::size_t i = 0; i < solves.size(); ++i) {
      const double beginning = timed(comm, [&] { iterate(*solves[i], few); });
      all_s[i].push_back(timed(comm, [&] { iterate(*solves[i], many); }));
      iteration_s[i].push_back((all_s[i].back() - beginning) / (many - few));
    }
  }
  for (std::size_t i = 0; i < solves.size(); ++i) {
    const Statistics s = statistics_of(iteration_s[i]);
    rows[i].update({{"set_up_s", rows[i]["first_solve_s"].get<double>() - statistics_of(all_s[i]).median},
                    {"iteration_median_s", s.median},
                    {"iteration_spread", s.spread},
                    {"iteration_samples_s", iteration_s[i]},
                    {"times_first", statistics_of(iteration_s.front()).median / s.median},
                    {"residual", solves[i]->residual()}});
  }
  return rows;
}

namespace {

/// A method with a right-hand side, and with several at once; so many iterations of each.
struct Columns {
  const Solver& method;
  Solve one;
  std::vector<Matrix> B, X;

  Columns(const Solver& of, Mat A, const std::vector<int>& counts)
      : method(of), one(A, of.method, [](KSP ksp) {
          must(KSPSetConvergenceTest(ksp, KSPConvergedSkip, nullptr, nullptr));
          must(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, many));
        }) {
    iterate(one, many);
    for (const int count : counts) {
      B.push_back(dense_for(A, false, count));
      X.push_back(dense_for(A, false, count));
      solve(B.size() - 1);
    }
  }
  void solve(std::size_t k) { must(KSPMatSolve(one.ksp(), B[k], X[k])); }

  /// Of the last column: the largest difference from its solution alone, over the largest component.
  double error(std::size_t k, PetscInt columns) {
    Vec b, x;
    Vector alone;
    PetscReal scale, difference;
    must(MatDenseGetColumnVecRead(B[k], columns - 1, &b));
    must(VecDuplicate(b, alone.out()));
    must(KSPSolve(one.ksp(), b, alone));
    must(MatDenseRestoreColumnVecRead(B[k], columns - 1, &b));
    must(VecNorm(alone, NORM_INFINITY, &scale));
    must(MatDenseGetColumnVecRead(X[k], columns - 1, &x));
    must(VecAXPY(alone, -1.0, x));
    must(MatDenseRestoreColumnVecRead(X[k], columns - 1, &x));
    must(VecNorm(alone, NORM_INFINITY, &difference));
    return scale > 0 ? difference / scale : difference;
  }
};

}  // namespace

Record time_columns(MPI_Comm comm, const CaseMatrix& c, const Options& o, Progress& progress) {
  MatricesOfTypes matrices(comm, c);
  std::vector<std::unique_ptr<Columns>> all;
  std::vector<Runner> runners;
  for (const Solver& solver : o.of_columns) {
    progress.say("solving by " + solver.method + " with " + solver.type);
    Columns& columns = *all.emplace_back(std::make_unique<Columns>(solver, matrices.of(solver.type), o.columns));
    runners.push_back({solver.type, [&columns] { iterate(columns.one, many); }});
    for (std::size_t k = 0; k < o.columns.size(); ++k)
      runners.push_back({solver.type, [&columns, k] { columns.solve(k); }});
  }
  const std::vector<Record> samples = measure(comm, runners, o, progress);
  Record rows = Record::array();
  for (std::size_t t = 0, n = 0; t < all.size(); ++t) {
    const Record& one = samples[n++];
    for (std::size_t k = 0; k < o.columns.size(); ++k, ++n) {
      Record row = samples[n];
      row.update({{"type", all[t]->method.type},
                  {"ksp", all[t]->method.method},
                  {"pc", all[t]->one.preconditioner()},
                  {"columns", o.columns[k]},
                  {"iteration_s", row.at("median_s").get<double>() / many},
                  {"solves", 1 / paired_ratio(samples_of(one), samples_of(row))},
                  {"times_first", paired_ratio(samples_of(samples[1 + k]), samples_of(row))},
                  {"error", all[t]->error(k, o.columns[k])}});
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace compound::bench
