// KSPMatSolve() of cgcompound beside PETSc's CG with each right-hand side alone: answers, iterations, reasons and norms
// are the same, whether columns are solved at once or not; the view says which. And several vectors in the
// preconditioner.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dense_columns.hpp"
#include "device.hpp"
#include "log_events.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

struct Case {
  const char* name;
  const char* options;  ///< with the prefix -solver_
  int columns = 5;
  bool at_once = true;  ///< else one by one
  bool fused = true;    ///< at once on a device, too
  bool has_guess = false;
  int bs = 3;
  PetscReal shift = 0;
  bool removes_mean = false;
  bool has_only_zeros = false;
  bool has_odd_columns = false;  ///< of zeros, and with a NaN
  bool is_scaled = false;        ///< each column ten times the one before
  void (*prepare)(KSP) = [](KSP) {};
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

PetscErrorCode stop_at_three(KSP, PetscInt i, PetscReal, KSPConvergedReason* reason, void*) {
  *reason = i == 3 ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}

const Case cases[] = {
    {"none", "-solver_pc_type none"},
    {"jacobi", "-solver_pc_type jacobi"},
    {"pbjacobi", "-solver_pc_type pbjacobi"},
    {"pbjacobicompound", "-solver_pc_type pbjacobicompound", 2},
    {"pbjacobi_of_scalars", "-solver_pc_type pbjacobi", 3, true, true, false, 1},
    {"one_column", "-solver_pc_type jacobi", 1, false},
    {"more_than_fit", "-solver_pc_type jacobi", 19},
    {"unpreconditioned", "-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned"},
    {"natural", "-solver_pc_type pbjacobi -solver_ksp_norm_type natural"},
    {"no_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 11"},
    {"few_iterations", "-solver_pc_type jacobi -solver_ksp_max_it 5"},
    {"no_iteration", "-solver_pc_type none -solver_ksp_max_it 0"},
    {"loose", "-solver_pc_type none -solver_ksp_rtol 1e-1"},
    {"divergence_tolerance", "-solver_pc_type none -solver_ksp_divtol 0.5"},
    {.name = "guess", .options = "-solver_pc_type pbjacobi", .has_guess = true},
    {.name = "sor", .options = "-solver_pc_type sor", .fused = false},
    {.name = "bjacobi", .options = "-solver_pc_type bjacobi", .fused = false},
    {.name = "negative", .options = "-solver_pc_type none -solver_ksp_max_it 50", .shift = -20},
    {.name = "indefinite", .options = "-solver_pc_type none -solver_ksp_max_it 3", .shift = -6},
    {.name = "bilinear", .options = "-solver_pc_type jacobi -solver_ksp_cg_type symmetric"},
    {.name = "odd_columns", .options = "-solver_pc_type jacobi", .columns = 6, .has_odd_columns = true},
    {.name = "zeros_without_norm",
     .options = "-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 7",
     .has_only_zeros = true},
    // By the same bound, or each by its own: columns that end in the middle of the others' solves.
    {.name = "absolute_tolerance",
     .options = "-solver_pc_type jacobi -solver_ksp_rtol 1e-50 -solver_ksp_atol 1e-6",
     .columns = 7,
     .is_scaled = true},
    {.name = "absolute_tolerance_with_sor",
     .options = "-solver_pc_type sor -solver_ksp_rtol 1e-50 -solver_ksp_atol 1e-6",
     .columns = 7,
     .fused = false,
     .is_scaled = true},
    {.name = "scaled", .options = "-solver_pc_type pbjacobi", .is_scaled = true},
    {.name = "null_space", .options = "-solver_pc_type jacobi", .removes_mean = true},
    {.name = "null_space_with_sor", .options = "-solver_pc_type sor", .fused = false, .removes_mean = true},
    {.name = "monitor", .options = "-solver_pc_type jacobi -solver_ksp_monitor"},
    {.name = "batches", .options = "-solver_pc_type jacobi -solver_ksp_matsolve_batch_size 2", .columns = 4},
    {.name = "test_of_the_users",
     .options = "-solver_pc_type jacobi",
     .at_once = false,
     .prepare = [](KSP ksp) { PETSC_OK(KSPSetConvergenceTest(ksp, stop_at_three, nullptr, nullptr)); }},
    {.name = "single_reduction", .options = "-solver_pc_type jacobi -solver_ksp_cg_single_reduction", .at_once = false},
    {.name = "guess_of_the_preconditioner", .options = "-solver_pc_type jacobi -solver_ksp_knoll", .at_once = false},
#if PETSC_VERSION_GE(3, 26, 0)
    {.name = "minimum_of_iterations",
     .options = "-solver_pc_type jacobi -solver_ksp_rtol 1e-2 -solver_ksp_min_it 20",
     .at_once = false},
#else
    {.name = "diagonal_scale",
     .options = "-solver_pc_type none -solver_ksp_diagonal_scale -solver_ksp_diagonal_scale_fix",
     .at_once = false},
#endif
    {.name = "eigenvalues", .options = "-solver_pc_type jacobi", .at_once = false, .prepare = [](KSP ksp) {
       PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
     }}};

/// Of A's rows, with more room between columns than they need.
Matrix dense(Mat A, int columns, bool device, std::uint64_t seed) {
  PetscInt rows, all;
  Matrix made;
  PETSC_OK(MatGetLocalSize(A, &rows, nullptr));
  PETSC_OK(MatGetSize(A, &all, nullptr));
  PETSC_OK(MatCreate(PETSC_COMM_WORLD, made.out()));
  PETSC_OK(MatSetSizes(made, rows, PETSC_DECIDE, all, columns));
  PETSC_OK(MatSetType(made, device ? "densecuda" : MATDENSE));
  if (!device) PETSC_OK(MatDenseSetLDA(made, rows + 3));
  PETSC_OK(MatSetUp(made));
  fill_columns(made, seed);
  return made;
}

Solver solver(const Case& c, Mat A, const char* type) {
  Solver ksp;
  PETSC_OK(PetscOptionsInsertString(nullptr, c.options));
  PETSC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PETSC_OK(KSPSetOptionsPrefix(ksp, "solver_"));
  PETSC_OK(KSPSetType(ksp, type));
  PETSC_OK(KSPSetOperators(ksp, A, A));
  PETSC_OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PETSC_OK(KSPSetInitialGuessNonzero(ksp, c.has_guess ? PETSC_TRUE : PETSC_FALSE));
  c.prepare(ksp);
  PETSC_OK(KSPSetFromOptions(ksp));
  PETSC_OK(PetscOptionsClear(nullptr));
  return ksp;
}

struct Systems {
  Matrix A, B, X;

  Systems(const Case& c, bool device) {
    A = coupled(tested_type(), "", spread(c.bs, 40, 40));
    if (device) PETSC_OK(MatSetVecType(A, VECCUDA));
    PETSC_OK(MatShift(A, c.shift));
    if (c.removes_mean) remove_mean();
    B = dense(A, c.columns, device, 900);
    X = dense(A, c.columns, device, 700);
    // A symmetric matrix has none of its null space in its range, and a system with such a right-hand side no answer.
    for (int n = 0; c.removes_mean && n < c.columns; ++n)
      with_column(B, n, [](Vec b) {
        PetscScalar sum;
        PetscInt all;
        PETSC_OK(VecGetSize(b, &all));
        PETSC_OK(VecSum(b, &sum));
        PETSC_OK(VecShift(b, -sum / PetscScalar(all)));
      });
    for (int n = 0; c.is_scaled && n < c.columns; ++n)
      with_column(B, n, [&](Vec b) { PETSC_OK(VecScale(b, std::pow(10.0, n))); });
    if (c.has_only_zeros) PETSC_OK(MatZeroEntries(B));
    if (!c.has_odd_columns) return;
    with_column(B, 1, [](Vec b) { PETSC_OK(VecSet(b, 0)); });
    with_column(B, 3, [](Vec b) { PETSC_OK(VecSet(b, std::numeric_limits<PetscReal>::quiet_NaN())); });
  }
  /// Row sums of 0: the constant is the null space.
  void remove_mean() {
    MatNullSpace space;
    const auto ones = right_vector(A, 0), sums = left_vector(A, 0);
    PETSC_OK(VecSet(ones, 1));
    PETSC_OK(MatMult(A, ones, sums));
    PETSC_OK(VecScale(sums, -1));
    PETSC_OK(MatDiagonalSet(A, sums, ADD_VALUES));
    PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &space));
    PETSC_OK(MatSetNullSpace(A, space));
    PETSC_OK(MatNullSpaceDestroy(&space));
  }
};

struct Answer {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscReal norm = 0;
  PetscInt in_all = 0;  ///< iterations of the solver so far
  std::vector<std::vector<PetscScalar>> x;
};

void ask(KSP ksp, Answer* answer) {
  PETSC_OK(KSPGetConvergedReason(ksp, &answer->reason));
  PETSC_OK(KSPGetIterationNumber(ksp, &answer->iterations));
  PETSC_OK(KSPGetResidualNorm(ksp, &answer->norm));
  PETSC_OK(KSPGetTotalIterations(ksp, &answer->in_all));
}

/// KSPCG with each column alone: of all what KSPMatSolve() is to say.
Answer one_by_one(const Case& c, const Systems& s) {
  const auto ksp = solver(c, s.A, KSPCG);
  Answer all;
  for (int n = 0; n < c.columns; ++n) {
    Answer of_column;
    with_column(s.B, n, [&](Vec b) {
      with_column(s.X, n, [&](Vec x) {
        PETSC_OK(KSPSolve(ksp, b, x));
        all.x.push_back(values_of(x));
      });
    });
    ask(ksp, &of_column);
    all.in_all = of_column.in_all;
    if (all.reason < 0 || (n > 0 && of_column.reason > 0 && of_column.iterations <= all.iterations)) continue;
    all.reason = of_column.reason;
    all.iterations = of_column.iterations;
    all.norm = of_column.norm;
  }
  return all;
}

/// Of those that were made.
void expect_same_columns(const Answer& made, const Answer& wanted) {
  for (std::size_t n = 0; n < made.x.size(); ++n) {
    double error = 0, size = 0;
    bool both_bad = true;
    for (std::size_t i = 0; i < wanted.x[n].size(); ++i) {
      const PetscScalar a = made.x[n][i], b = wanted.x[n][i];
      both_bad &= PetscIsInfOrNanScalar(a) == PetscIsInfOrNanScalar(b);
      if (PetscIsInfOrNanScalar(b)) continue;
      error = std::max(error, double(PetscAbsScalar(a - b)));
      size = std::max(size, double(PetscAbsScalar(b)));
    }
    EXPECT_TRUE(all_ranks(both_bad)) << "column " << n;
    EXPECT_LE(max_over_ranks(error), 1e-6 * (1 + max_over_ranks(size))) << "column " << n;
  }
}

void expect_same(const Case& c, const Answer& made, const Answer& wanted) {
  if (c.name != std::string("batches")) {  // what is said then is of the last batch
    EXPECT_EQ(made.reason, wanted.reason);
    EXPECT_LE(std::abs(made.iterations - wanted.iterations), 1 + 0.02 * double(wanted.iterations));
    if (made.iterations == wanted.iterations && !PetscIsInfOrNanReal(wanted.norm)) {
      EXPECT_NEAR(made.norm, wanted.norm, 0.1 * wanted.norm);
    }
  }
  expect_same_columns(made, wanted);
}

void expect_solved(const Case& c, bool device) {
  const Systems s(c, device), reference(c, device);
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  const Answer wanted = one_by_one(c, reference);
  const bool multiplies = device || c.bs > 1 || !tested_is_of_scalars();  // scalars of AIJ are multiplied by AIJ
  const bool at_once = c.at_once && multiplies && tested_is_compound() && (!device || (c.fused && size() == 1));
  for (int solve = 0; solve < 2; ++solve) {
    SCOPED_TRACE("solve " + std::to_string(solve));
    if (c.has_guess && solve) break;  // it would be the answer
    Answer made;
    PETSC_OK(KSPMatSolve(ksp, s.B, s.X));
    ask(ksp, &made);
    made.x = columns_of(s.X);
    expect_same(c, made, wanted);
    const int solves = solve + 1;
    EXPECT_LE(std::abs(made.in_all - solves * wanted.in_all), solves * (c.columns + 0.02 * double(wanted.in_all)));
    const std::string view = view_of("mat_solve_test", ksp);
    EXPECT_EQ(view.find("right-hand sides at once") != std::string::npos, at_once) << view;
    const char* const where = device ? "fused on the device" : "fused on the host";
    EXPECT_TRUE(!at_once || view.find(where) != std::string::npos) << view;
  }
}

/// The same columns among fewer and among more, by one solver.
void expect_any_number_solved(bool device) {
  const Case c{"numbers", "-solver_pc_type jacobi", 8};
  const Systems s(c, device);
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  const Answer wanted = one_by_one(c, s);
  for (const int columns : {5, 8, 2, 1, 3}) {
    SCOPED_TRACE(columns);
    const Matrix B = dense(s.A, columns, device, 900), X = dense(s.A, columns, device, 700);
    Answer made;
    PETSC_OK(KSPMatSolve(ksp, B, X));
    made.x = columns_of(X);
    expect_same_columns(made, wanted);
  }
}

struct OnHost : testing::TestWithParam<Case> {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
/// With dense matrices there.
struct DenseOnDevice : DeviceTest {
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (PETSC_VERSION_LT(3, 26, 0)) GTEST_SKIP() << "skipped: dense matrices on a device want PETSc 3.26";
  }
};
struct OnDevice : DenseOnDevice, testing::WithParamInterface<Case> {};
constexpr auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(All, OnHost, testing::ValuesIn(cases), name_of);
INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(cases), name_of);

#define SKIP_OF_CASE(c)                            \
  if (PetscDefined(USE_COMPLEX) && c.removes_mean) \
  GTEST_SKIP() << "skipped: with row sums of 0 the complex matrix would not be Hermitian"

TEST_P(OnHost, IsPetscsColumnByColumn) {
  SKIP_OF_CASE(GetParam());
  expect_solved(GetParam(), false);
}

TEST_P(OnDevice, IsPetscsColumnByColumn) {
  SKIP_OF_CASE(GetParam());
  expect_solved(GetParam(), true);
}

TEST(Numbers, OfColumnsMayChange) { expect_any_number_solved(false); }

using NumbersOnDevice = DenseOnDevice;
TEST_F(NumbersOnDevice, OfColumnsMayChange) { expect_any_number_solved(true); }

/// On the first process alone.
TEST(Preconditioner, ThatFailsOnOneProcessIsToldOnAll) {
  const Case c{"failed", "-solver_pc_type pbjacobi", 3};
  const Systems s(c, false);
  const PetscInt rows[] = {0, 1, 2};
  Answer made;
  PETSC_OK(MatSetOption(s.A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PETSC_OK(MatZeroRows(s.A, rank() == 0 ? 3 : 0, rows, 0.0, nullptr, nullptr));
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  PETSC_OK(KSPMatSolve(ksp, s.B, s.X));
  ask(ksp, &made);
  EXPECT_EQ(made.reason, KSP_DIVERGED_PC_FAILED);
}

TEST(Error, IsRaisedWhereColumnsDoNotConvergeAndThatIsAskedFor) {
  const Case c{"few", "-solver_pc_type jacobi -solver_ksp_max_it 2"};
  const Systems s(c, false);
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  PETSC_OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));

  const auto found = catch_error([&] { return KSPMatSolve(ksp, s.B, s.X); });

  EXPECT_EQ(found.code, PETSC_ERR_NOT_CONVERGED);  // PETSc's CG keeps a column of X besides, which is lost then
}

/// KSPMatSolve() leaves no vectors in the solver.
TEST(Residual, IsThatOfTheLastKspSolve) {
  const Case c{"residual", "-solver_pc_type jacobi -solver_ksp_rtol 1e-2"};
  const Systems s(c, false);
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  const auto b = left_vector(s.A, 5), x = right_vector(s.A, 6), wanted = left_vector(s.A, 7);
  Vector found;
  PetscReal difference, size;
  PETSC_OK(KSPSolve(ksp, b, x));
  PETSC_OK(KSPMatSolve(ksp, s.B, s.X));

  PETSC_OK(KSPBuildResidual(ksp, nullptr, nullptr, found.out()));

  PETSC_OK(MatMult(s.A, x, wanted));
  PETSC_OK(VecAYPX(wanted, -1, b));
  PETSC_OK(VecNorm(wanted, NORM_2, &size));
  PETSC_OK(VecAXPY(found, -1, wanted));
  PETSC_OK(VecNorm(found, NORM_2, &difference));
  EXPECT_LE(difference, 1e-12 * size);
}

/// Norms of all columns are told as those of one solve after the other.
PetscErrorCode note(KSP, PetscInt iteration, PetscReal, void* iterations) {
  static_cast<std::vector<PetscInt>*>(iterations)->push_back(iteration);
  return PETSC_SUCCESS;
}

TEST(Monitors, OfTheUsersSeeColumnAfterColumn) {
  const Case c{"monitored", "-solver_pc_type jacobi"};
  const Systems s(c, false);
  const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
  std::vector<PetscInt> seen;
  PETSC_OK(KSPMonitorSet(ksp, note, &seen, nullptr));
  PETSC_OK(KSPMatSolve(ksp, s.B, s.X));
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), c.columns);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), c.columns);
}

TEST(History, IsOfTheLastColumn) {
  const Case c{"history", "-solver_pc_type jacobi"};
  const Systems s(c, false);
  for (const char* type : {KSPCG, KSPCGCOMPOUND}) {
    const auto ksp = solver(c, s.A, type);
    const PetscReal* norms;
    PetscInt count;
    PETSC_OK(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
    PETSC_OK(KSPMatSolve(ksp, s.B, s.X));
    PETSC_OK(KSPGetResidualHistory(ksp, &norms, &count));
    EXPECT_GT(count, 5);
    EXPECT_LE(norms[count - 1], 1e-9 * norms[0]);
    EXPECT_GT(norms[count - 2], 1e-9 * norms[0]);
  }
}

#if PETSC_VERSION_GE(3, 26, 0)
TEST(Transposed, SystemsAreSolved) {
  const Case c{"transposed", "-solver_pc_type jacobi"};
  for (const char* options : {"", " -solver_ksp_use_explicittranspose"}) {
    PETSC_OK(PetscOptionsInsertString(nullptr, options));
    const Systems s(c, false);
    const auto ksp = solver(c, s.A, KSPCGCOMPOUND);
    PETSC_OK(KSPMatSolveTranspose(ksp, s.B, s.X));
    for (int n = 0; n < c.columns; ++n)
      with_column(s.B, n, [&](Vec b) {
        with_column(s.X, n, [&](Vec x) {
          PetscReal left, size;
          Vector r;
          PETSC_OK(VecDuplicate(b, r.out()));
          PETSC_OK(MatMultTranspose(s.A, x, r));
          PETSC_OK(VecAXPY(r, -1, b));
          PETSC_OK(VecNorm(r, NORM_2, &left));
          PETSC_OK(VecNorm(b, NORM_2, &size));
          EXPECT_LE(left, 1e-7 * size) << "column " << n << options;
        });
      });
  }
}
#endif

/// PETSc's own solver of several columns, in releases that have it, by products and preconditioners of several vectors.
TEST(Richardson, SolvesAsColumnByColumn) {
  const Case c{"richardson", "-solver_pc_type pbjacobi -solver_ksp_max_it 6 -solver_ksp_richardson_scale 0.7"};
  const Systems s(c, false), reference(c, false);
  const auto ksp = solver(c, s.A, KSPRICHARDSON);
  Answer made;
  PETSC_OK(KSPMatSolve(ksp, s.B, s.X));
  for (int n = 0; n < c.columns; ++n) with_column(s.X, n, [&](Vec x) { made.x.push_back(values_of(x)); });
  Answer wanted;
  for (int n = 0; n < c.columns; ++n)
    with_column(reference.B, n, [&](Vec b) {
      with_column(reference.X, n, [&](Vec x) {
        PETSC_OK(KSPSolve(ksp, b, x));
        wanted.x.push_back(values_of(x));
      });
    });
  expect_same(c, made, wanted);
}

/// Each column with the bits that it has alone, and its flops.
void expect_preconditioned(const char* type, bool device, int columns) {
  const Case c{"preconditioner", "", columns};
  const Systems s(c, device);
  PC pc;
  PETSC_OK(PCCreate(PETSC_COMM_WORLD, &pc));
  PETSC_OK(PCSetType(pc, type));
  PETSC_OK(PCSetOperators(pc, s.A, s.A));
  PETSC_OK(PCSetUp(pc));
  PETSC_OK(PCMatApply(pc, s.B, s.X));  // the first time jacobi inverts the diagonal, which counts flops on a device
  const PetscLogDouble flops = flops_during([&] { PETSC_OK(PCMatApply(pc, s.B, s.X)); });
  for (int n = 0; n < columns; ++n) {
    std::vector<PetscScalar> alone;
    PetscLogDouble flops_of_one = 0;
    with_column(s.B, n, [&](Vec b) {
      Vector y;
      PETSC_OK(VecDuplicate(b, y.out()));
      flops_of_one = flops_during([&] { PETSC_OK(PCApply(pc, b, y)); });
      alone = values_of(y);
    });
    with_column(s.X, n, [&](Vec x) { EXPECT_TRUE(all_ranks(values_of(x) == alone)) << type << ", column " << n; });
    EXPECT_EQ(flops, columns * flops_of_one) << type;
  }
  PETSC_OK(PCDestroy(&pc));
}

TEST(Preconditioners, TakeSeveralVectors) {
  for (const char* type : {PCPBJACOBI, "pbjacobicompound", PCJACOBI})
    for (const int columns : {1, 3, 8, 17}) expect_preconditioned(type, false, columns);
}

using PreconditionersOnDevice = DenseOnDevice;
TEST_F(PreconditionersOnDevice, TakeSeveralVectors) {
  for (const int columns : {1, 3, 8, 17}) expect_preconditioned(PCPBJACOBI, true, columns);
}

}  // namespace
