// cgcompound and bcgscompound beside PETSc's CG and BiCGSTAB on the same matrix and vectors: reasons, iterations, norms
// and answers are the same, whether iterations run on a device by themselves or are PETSc's own; the view says which.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <vector>

#include "device.hpp"
#include "kinds.hpp"
#include "log_events.hpp"
#include "operations.hpp"
#include "random_runs.hpp"
#include "systems.hpp"
#include "view_text.hpp"

namespace {

using namespace petsc_test;

/// A system and how it is solved.
struct Case {
  const char* name;
  const char* options;  ///< of the solver, with the prefix -solver_
  bool fused = true;    ///< on a device, one process
  int bs = 3;
  PetscReal shift = 0;  ///< of the diagonal
  enum class Rhs { random, zero, with_nan, of_guess, whole_numbers } rhs = Rhs::random;
  bool has_guess = false;
  std::function<void(KSP, Mat)> prepare = {};
  bool cg_alone = false;
  bool petscs_forms_differ = false;  ///< in their reasons: KSPCG with a single reduction, and without
  bool fused_on_host = true;
  enum class Null {
    nothing,
    constant,
    vectors,
    constant_and_vectors,
    function,
    with_transposed,  ///< the constant, and taken out of the right-hand side by its own name
    near              ///< that preconditioners may ask for, and that no solver removes
  } null_space = Null::nothing;
  enum class Rows { spread, one, of_last_rank } rows = Rows::spread;
  std::string matrix_options = {}, kind = {};      ///< either: the matrix is coupled() of them, or with other rows
  bool one_kernel = true;                          ///< on a device: small, and of a layout that can
  bool is_skew = false;                            ///< A^T = -A, of whole numbers
  std::array<KSPConvergedReason, 2> reasons = {};  ///< of CG and of BiCGSTAB, where they are known

  bool removes_null_space() const { return null_space != Null::nothing && null_space != Null::near; }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Method {
  const char *name, *petscs, *ours;
  const char* reductions;  ///< an iteration, where others have a part in it
  const char* options = "";
  const char* petscs_options = nullptr;  ///< of another form of PETSc's method, which is the same, too
};
void PrintTo(const Method& m, std::ostream* out) { *out << m.ours; }
constexpr Method cg{"cg", KSPCG, KSPCGCOMPOUND, "two reductions"},
    bcgs{"bcgs", KSPBCGS, KSPBCGSCOMPOUND, "three reductions"}, one_reduction{"cg_with_one_reduction",
                                                                              KSPCG,
                                                                              KSPCGCOMPOUND,
                                                                              "one reduction",
                                                                              " -solver_ksp_cgcompound_reductions 1",
                                                                              " -solver_ksp_cg_single_reduction"};

PetscErrorCode note_norm(KSP, PetscInt, PetscReal norm, void* context) {
  static_cast<std::vector<PetscReal>*>(context)->push_back(norm);
  return PETSC_SUCCESS;
}

PetscErrorCode stop_at_three(KSP, PetscInt i, PetscReal, KSPConvergedReason* reason, void*) {
  *reason = i == 3 ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}

/// Looks at the answer so far, which must be that of the iteration.
PetscErrorCode look_at_residual(KSP ksp, PetscInt i, PetscReal norm, void*) {
  Vec built;
  PetscReal size;
  if (const PetscErrorCode code = KSPBuildResidual(ksp, nullptr, nullptr, &built)) return code;
  PETSC_OK(VecNorm(built, NORM_2, &size));
  EXPECT_NEAR(size, norm, 1e-8 * (1 + norm)) << "iteration " << i;
  PETSC_OK(VecDestroy(&built));
  return PETSC_SUCCESS;
}

/// Row sums of 0, and the constant null space that comes of that.
void make_singular(Mat A) {
  const auto ones = right_vector(A, 0), sums = left_vector(A, 0);
  PETSC_OK(VecSet(ones, 1));
  PETSC_OK(MatMult(A, ones, sums));
  PETSC_OK(VecScale(sums, -1));
  PETSC_OK(MatDiagonalSet(A, sums, ADD_VALUES));
}

PetscErrorCode remove_mean(MatNullSpace, Vec v, void*) {
  PetscScalar sum;
  PetscInt n;
  PETSC_OK(VecSum(v, &sum));
  PETSC_OK(VecGetSize(v, &n));
  return VecShift(v, -sum / PetscScalar(n));
}

/// Vectors that are the same in all blocks: 1 in one component each; or beside the constant those that are orthogonal
/// to it.
std::vector<Vector> vectors_of_null_space(Mat A, int bs, bool beside_constant) {
  std::vector<Vector> vectors;
  for (int k = beside_constant ? 1 : 0; k < bs; ++k) {
    vectors.push_back(right_vector(A, 0));
    PetscScalar* to;
    PetscInt n;
    PETSC_OK(VecGetLocalSize(vectors.back(), &n));
    PETSC_OK(VecGetArrayWrite(vectors.back(), &to));
    for (PetscInt i = 0; i < n; ++i) {
      const int c = static_cast<int>(i % bs);
      to[i] = !beside_constant ? c == k : c < k ? 1 : c == k ? -k : 0;
    }
    PETSC_OK(VecRestoreArrayWrite(vectors.back(), &to));
    PETSC_OK(VecNormalize(vectors.back(), nullptr));
  }
  return vectors;
}

void set_null_space(Mat A, Case::Null kind, int bs, bool device) {
  const bool free = kind == Case::Null::vectors || kind == Case::Null::function;
  const bool constant = !free;
  std::vector<Vector> owned;
  if (kind == Case::Null::vectors || kind == Case::Null::constant_and_vectors)
    for (const Vector& v : vectors_of_null_space(A, bs, constant)) owned.push_back(on_side(v, device));
  const std::vector<Vec> vectors(owned.begin(), owned.end());
  MatNullSpace space;
  PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, constant ? PETSC_TRUE : PETSC_FALSE, PetscInt(vectors.size()),
                              vectors.data(), &space));
  if (kind == Case::Null::function) PETSC_OK(MatNullSpaceSetFunction(space, remove_mean, nullptr));
  PETSC_OK((kind == Case::Null::near ? MatSetNearNullSpace : MatSetNullSpace)(A, space));
  if (kind == Case::Null::with_transposed) PETSC_OK(MatSetTransposeNullSpace(A, space));
  PETSC_OK(MatNullSpaceDestroy(&space));
}

/// Couplings of neighbours alone, so that x^H A x is a sum of whole numbers where x is of such, and 0 in any order.
void make_skew(Mat A, int bs) {
  PetscInt first, last, all;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetSize(A, &all, nullptr));
  PETSC_OK(MatZeroEntries(A));
  for (PetscInt i = first; i < last; ++i) {
    if (i >= bs) PETSC_OK(MatSetValue(A, i, i - bs, -1.0 - PetscReal((i - bs) % 3), INSERT_VALUES));
    if (i + bs < all) PETSC_OK(MatSetValue(A, i, i + bs, 1.0 + PetscReal(i % 3), INSERT_VALUES));
  }
  assemble(A);
}

void fill_with_whole_numbers(Vec v) {
  PetscInt first, last;
  PETSC_OK(VecGetOwnershipRange(v, &first, &last));
  for (PetscInt i = first; i < last; ++i) PETSC_OK(VecSetValue(v, i, 1.0 + PetscReal(i % 4), INSERT_VALUES));
  PETSC_OK(VecAssemblyBegin(v));
  PETSC_OK(VecAssemblyEnd(v));
}

/// The preconditioner is of A with the signs of some rows changed.
void precondition_indefinitely(KSP ksp, Mat A) {
  Matrix P;
  VecType type;
  PETSC_OK(MatGetVecType(A, &type));
  PETSC_OK(MatDuplicate(A, MAT_COPY_VALUES, P.out()));
  PETSC_OK(MatSetVecType(P, type));
  const auto signs = left_vector(P, 0);
  PetscScalar* to;
  PetscInt n;
  PETSC_OK(VecGetLocalSize(signs, &n));
  PETSC_OK(VecGetArrayWrite(signs, &to));
  for (PetscInt i = 0; i < n; ++i) to[i] = i % 3 == 1 ? -1 : 1;
  PETSC_OK(VecRestoreArrayWrite(signs, &to));
  PETSC_OK(MatDiagonalScale(P, signs, nullptr));
  PETSC_OK(KSPSetOperators(ksp, A, P));
}

/// The square of the matrix's smallest numbers is 0.
void make_tiny(KSP, Mat A) {
  PetscReal size;
  PETSC_OK(MatNorm(A, NORM_FROBENIUS, &size));
  if (size > 1) PETSC_OK(MatScale(A, 1e-165));
}

/// From the fourth time of a solve on with a NaN on the first process.
void precondition_three_times(KSP ksp, Mat) {
  PC pc;
  PETSC_OK(KSPGetPC(ksp, &pc));
  PETSC_OK(PCSetType(pc, PCSHELL));
  PETSC_OK(PCShellSetContext(pc, new int(0)));
  PETSC_OK(PCShellSetDestroy(pc, [](PC of) -> PetscErrorCode {
    void* times;
    PetscFunctionBeginUser;
    PetscCall(PCShellGetContext(of, static_cast<void*>(&times)));
    delete static_cast<int*>(times);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PETSC_OK(PCShellSetPreSolve(pc, [](PC of, KSP, Vec, Vec) -> PetscErrorCode {
    void* times;
    PetscFunctionBeginUser;
    PetscCall(PCShellGetContext(of, static_cast<void*>(&times)));
    *static_cast<int*>(times) = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PETSC_OK(PCShellSetApply(pc, [](PC of, Vec x, Vec y) -> PetscErrorCode {
    void* times;
    PetscFunctionBeginUser;
    PetscCall(PCShellGetContext(of, static_cast<void*>(&times)));
    PetscCall(VecCopy(x, y));
    PetscCall(VecScale(y, 0.125));
    if (++*static_cast<int*>(times) > 3) {
      if (rank() == 0) PetscCall(VecSetValue(y, 0, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
      PetscCall(VecAssemblyBegin(y));
      PetscCall(VecAssemblyEnd(y));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
}

Shape shape_of(const Case& c) {
  Shape shape = spread(c.bs, 30, 30);
  if (c.rows == Case::Rows::spread) return shape;
  const bool one = c.rows == Case::Rows::one;
  std::fill(shape.rows.begin(), shape.rows.end(), 0);
  (one ? shape.rows.front() : shape.rows.back()) = one ? 1 : 30;
  shape.cols = shape.rows;
  return shape;
}

Matrix matrix_of(const Case& c, bool device) {
  const bool free = c.null_space == Case::Null::vectors || c.null_space == Case::Null::constant_and_vectors;
  auto A = free ? free_components(tested_type(), shape_of(c))
           : c.rows != Case::Rows::spread || !c.matrix_options.empty() || !c.kind.empty() || c.is_skew
               ? coupled(tested_type(), c.matrix_options, shape_of(c), c.kind)
               : spd(tested_type(), c.bs);
  if (device) PETSC_OK(MatSetVecType(A, VECCUDA));
  if (c.is_skew) make_skew(A, c.bs);
  PETSC_OK(MatShift(A, c.shift));
  if (c.null_space == Case::Null::nothing) return A;
  if (!free && c.removes_null_space()) make_singular(A);
  set_null_space(A, c.null_space, c.bs, device);
  return A;
}

const Case common_cases[] = {
    {"none", "-solver_pc_type none"},
    {"jacobi", "-solver_pc_type jacobi"},
    {"pbjacobi", "-solver_pc_type pbjacobi"},
    {"pbjacobicompound", "-solver_pc_type pbjacobicompound"},
    {"pbjacobi_of_scalars", "-solver_pc_type pbjacobi", true, 1},
    {"pbjacobi_of_sevens", "-solver_pc_type pbjacobi", true, 7},
    {"jacobi_abs", "-solver_pc_type jacobi -solver_pc_jacobi_abs"},
    {.name = "unpreconditioned",
     .options = "-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned",
     .cg_alone = true},
    {.name = "natural", .options = "-solver_pc_type pbjacobi -solver_ksp_norm_type natural", .cg_alone = true},
    {"no_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 11"},
    {"few_iterations", "-solver_pc_type jacobi -solver_ksp_max_it 5"},
    {"one_iteration", "-solver_pc_type none -solver_ksp_max_it 1"},
    {"no_iteration", "-solver_pc_type none -solver_ksp_max_it 0"},
    {"converged_maxits", "-solver_pc_type jacobi -solver_ksp_max_it 9 -solver_ksp_converged_maxits"},
    {"divergence_tolerance", "-solver_pc_type none -solver_ksp_divtol 0.5"},
    {"loose", "-solver_pc_type none -solver_ksp_rtol 1e-1"},
    {"guess", "-solver_pc_type pbjacobi", true, 3, 0, Case::Rhs::random, true},
    {"guess_that_is_exact", "-solver_pc_type none", true, 3, 0, Case::Rhs::of_guess, true},
    {"no_right_hand_side", "-solver_pc_type jacobi", true, 3, 0, Case::Rhs::zero},
    {"no_right_hand_side_nor_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none", true, 3, 0, Case::Rhs::zero},
    {"not_a_number", "-solver_pc_type jacobi", true, 3, 0, Case::Rhs::with_nan},
    {"not_a_number_nor_norm", "-solver_pc_type jacobi -solver_ksp_norm_type none", true, 3, 0, Case::Rhs::with_nan},
    // BiCGSTAB nearly breaks down in iteration 4: even PETSc's own on aij and baij agree to 1e-8 alone from there on.
    {"indefinite", "-solver_pc_type none -solver_ksp_max_it 3", true, 3, -6.0},
    {"indefinite_with_jacobi", "-solver_pc_type jacobi -solver_ksp_max_it 3", true, 3, -6.0},
    {"negative", "-solver_pc_type none -solver_ksp_max_it 50", true, 3, -20.0},
    {.name = "indefinite_and_tiny",
     .options = "-solver_pc_type none -solver_ksp_max_it 3",
     .shift = -6.0,
     .prepare = make_tiny,
     .cg_alone = true},
    {.name = "preconditioner_that_fails",
     .options = "-solver_pc_type shell -solver_ksp_norm_type unpreconditioned",
     .fused = false,
     .prepare = precondition_three_times,
     .cg_alone = true},
    {.name = "bilinear", .options = "-solver_pc_type jacobi -solver_ksp_cg_type symmetric", .cg_alone = true},
    {.name = "test_of_the_users",
     .options = "-solver_pc_type pbjacobi",
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetConvergenceTest(ksp, stop_at_three, nullptr, nullptr)); }},
    {.name = "monitor_of_residuals",
     .options = "-solver_pc_type none",
     .has_guess = true,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPMonitorSet(ksp, look_at_residual, nullptr, nullptr)); }},
    {"sor", "-solver_pc_type sor", false},
    {"bjacobi", "-solver_pc_type bjacobi", false},
    {.name = "check_norm_later",
     .options = "-solver_pc_type jacobi -solver_ksp_check_norm_iteration 4",
     .fused = false,
     .fused_on_host = false},
    {.name = "single_reduction",
     .options = "-solver_pc_type jacobi -solver_ksp_cg_single_reduction",
     .fused = false,
     .cg_alone = true,
     .fused_on_host = false},
    {.name = "eigenvalues",
     .options = "-solver_pc_type jacobi",
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); },
     .cg_alone = true},
    {.name = "eigenvalues_with_sor",
     .options = "-solver_pc_type sor",
     .fused = false,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeSingularValues(ksp, PETSC_TRUE)); },
     .cg_alone = true},
    {.name = "eigenvalues_of_single_reduction",
     .options = "-solver_pc_type jacobi -solver_ksp_cg_single_reduction",
     .fused = false,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE)); },
     .cg_alone = true,
     .fused_on_host = false},
    {.name = "eigenvalues_that_are_watched",
     .options = "-solver_pc_type pbjacobi",
     .prepare =
         [](KSP ksp, Mat) {
           PETSC_OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
           PETSC_OK(KSPSetConvergenceTest(ksp, stop_at_three, nullptr, nullptr));
         },
     .cg_alone = true},
    {.name = "null_space_with_pbjacobi",
     .options = "-solver_pc_type pbjacobi",
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::constant},
    {.name = "null_space",
     .options = "-solver_pc_type jacobi",
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::constant},
    {.name = "null_space_with_none_and_guess",
     .options = "-solver_pc_type none",
     .rhs = Case::Rhs::of_guess,
     .has_guess = true,
     .null_space = Case::Null::constant},
    {.name = "null_space_and_right_hand_side_in_it",
     .options = "-solver_pc_type none -solver_ksp_max_it 10",
     .null_space = Case::Null::constant},
    {.name = "null_space_unpreconditioned",
     .options = "-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned",
     .rhs = Case::Rhs::of_guess,
     .cg_alone = true,
     .null_space = Case::Null::constant},
    {.name = "null_space_natural",
     .options = "-solver_pc_type jacobi -solver_ksp_norm_type natural",
     .rhs = Case::Rhs::of_guess,
     .cg_alone = true,
     .null_space = Case::Null::constant},
    {.name = "null_space_of_vectors",
     .options = "-solver_pc_type jacobi",
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::vectors},
    {.name = "null_space_of_six_vectors",
     .options = "-solver_pc_type pbjacobi",
     .bs = 6,
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::vectors},
    {.name = "null_space_of_the_constant_and_vectors",
     .options = "-solver_pc_type jacobi",
     .bs = 5,
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::constant_and_vectors},
    {.name = "null_space_of_seven_vectors",
     .options = "-solver_pc_type jacobi",
     .fused = false,
     .bs = 7,
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::vectors},
    {.name = "null_space_by_a_function",
     .options = "-solver_pc_type jacobi",
     .fused = false,
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::function},
    {.name = "null_space_and_transposed_one",
     .options = "-solver_pc_type jacobi",
     .null_space = Case::Null::with_transposed},
    {.name = "near_null_space", .options = "-solver_pc_type jacobi", .null_space = Case::Null::near},
    {.name = "skew",
     .options = "-solver_pc_type none",
     .rhs = Case::Rhs::whole_numbers,
     .is_skew = true,
     .reasons = {KSP_DIVERGED_INDEFINITE_MAT, KSP_DIVERGED_BREAKDOWN}},
    {.name = "indefinite_preconditioner",
     .options = "-solver_pc_type jacobi -solver_ksp_max_it 20",
     .prepare = precondition_indefinitely,
     .cg_alone = true,
     .reasons = {PetscDefined(USE_COMPLEX) ? KSP_DIVERGED_ITS : KSP_DIVERGED_INDEFINITE_PC}},
#if PETSC_VERSION_GE(3, 20, 0)
    {.name = "negative_curvature",
     .options = "-solver_pc_type none",
     .shift = -6.0,
     .prepare = [](KSP ksp, Mat) { PETSC_OK(KSPSetConvergedNegativeCurvature(ksp, PETSC_TRUE)); },
     .cg_alone = true,
     .petscs_forms_differ = true,
     .reasons = {KSP_CONVERGED_NEG_CURVE}},
#endif
    {.name = "one_unknown", .options = "-solver_pc_type jacobi", .bs = 1, .rows = Case::Rows::one},
    {.name = "one_block", .options = "-solver_pc_type pbjacobi", .rows = Case::Rows::one},
    {.name = "ranks_without_rows", .options = "-solver_pc_type jacobi", .rows = Case::Rows::of_last_rank},
    {.name = "ranks_without_rows_and_a_null_space",
     .options = "-solver_pc_type none",
     .rhs = Case::Rhs::of_guess,
     .null_space = Case::Null::vectors,
     .rows = Case::Rows::of_last_rank},
    {.name = "hermitian", .options = "-solver_pc_type jacobi", .bs = 4, .matrix_options = "-mat_compound_entry dense"},
};

/// Every layout, and every kind of entry.
std::vector<Case> all_cases() {
  std::vector<Case> all(std::begin(common_cases), std::end(common_cases));
  struct LayoutRow {
    const char *name, *options;
    bool one_kernel = true;
  };
  constexpr LayoutRow layouts[] = {
      {"csr", "-mat_compound_layout csr"},           {"ellr", "-mat_compound_layout ellr"},
      {"bellpack", "-mat_compound_layout bellpack"}, {"sell_sorted", "-mat_compound_layout sell:8:64"},
      {"dia", "-mat_compound_layout dia"},           {"hdia", "-mat_compound_layout hdia"},
      {"ccoo", "-mat_compound_layout ccoo", false},  {"parts", "-mat_compound_plan csr longest=2 + ccoo:32", false}};
  for (const LayoutRow& l : layouts)
    all.push_back(
        {.name = l.name, .options = "-solver_pc_type jacobi", .matrix_options = l.options, .one_kernel = l.one_kernel});
  for (const Kind& k : kinds())
    all.push_back({.name = k.name.c_str(),
                   .options = "-solver_pc_type pbjacobi -solver_ksp_max_it 30",
                   .bs = some_size(k),
                   .kind = k.name});
  return all;
}

struct Outcome {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = -1;
  PetscReal last = 0;  ///< norm that the KSP keeps
  std::vector<PetscReal> norms;
  std::vector<PetscScalar> x;
  std::vector<PetscReal> eigenvalues, extremes;  ///< where they are asked for
  std::string view;
};

struct System {
  Matrix A;
  Vector b, x;

  System(const Case& c, bool device) : A(matrix_of(c, device)) {
    const auto guess = right_vector(A, 42);
    auto rhs = left_vector(A, 41);
    if (c.rhs == Case::Rhs::zero) PETSC_OK(VecSet(rhs, 0));
    if (c.rhs == Case::Rhs::whole_numbers) fill_with_whole_numbers(rhs);
    if (c.rhs == Case::Rhs::of_guess) PETSC_OK(MatMult(A, guess, rhs));
    if (c.rhs == Case::Rhs::with_nan) {
      if (rank() == 0) PETSC_OK(VecSetValue(rhs, 0, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES));
      PETSC_OK(VecAssemblyBegin(rhs));
      PETSC_OK(VecAssemblyEnd(rhs));
    }
    b = on_side(rhs, device);
    x = on_side(guess, device);
  }
};

Solver solver(const Case& c, const System& s, const char* type, const char* more_options = "") {
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

/// Down to rounding, which may or may not be a residual of exactly zero: that is KSP_CONVERGED_ATOL.
bool is_exact(const Outcome& o) {
  return (o.reason == KSP_CONVERGED_RTOL || o.reason == KSP_CONVERGED_ATOL) && !o.norms.empty() &&
         o.norms.back() <= 1e-14 * o.norms.front();
}

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

/// What -log_view says of this process's part of the solve.
PetscLogDouble flops_of_solve(KSP ksp, const System& s) {
  const auto before = event("KSPSolve");
  PETSC_OK(KSPSolve(ksp, s.b, s.x));
  return event("KSPSolve").flops - before.flops;
}

/// Flops of a solve of ours that may be other than PETSc's, on this process: of scalars an inner product that a step
/// makes before it is known to be the last, and two of an objective with which later releases' CG begins; a
/// preconditioning before the same test; M's columns, each a preconditioning; 1 of each inner product, of which PETSc
/// counts 2 n - 1. VecDotNorm2() of PETSc's vectors on a device counts none of its 4 n.
PetscLogDouble flops_to_spare(KSP ksp, const System& s, int columns, bool dotnorms_are_free) {
  PetscInt n, iterations;
  PETSC_OK(VecGetLocalSize(s.x, &n));
  PETSC_OK(KSPGetIterationNumber(ksp, &iterations));
  const PetscLogDouble of_preconditioner = std::max(2 * columns - 1, 0), of_iteration = dotnorms_are_free ? 4.0 * n : 0;
  return flops_of_operation * ((6 + (columns + 1) * of_preconditioner) * n + (of_iteration + 6) * (iterations + 1));
}

bool says(const Outcome& o, const std::string& text) { return o.view.find(text) != std::string::npos; }

bool all_have_rows(const System& s) {
  PetscInt rows;
  PETSC_OK(VecGetLocalSize(s.x, &rows));
  return all_ranks(rows > 0);
}

/// Whether devices of several processes run iterations themselves, as they do where each process has its own.
bool by_peers() {
  static const bool yes = [] {
    const Case c{"", "-solver_pc_type jacobi"};
    const System s(c, true);
    return says(outcome(solver(c, s, KSPCGCOMPOUND), s), "devices exchange values and sums themselves");
  }();
  return yes;
}

using Choice = std::tuple<Method, Case>;
std::vector<Choice> choices() {
  std::vector<Choice> all;
  for (const Method& method : {cg, bcgs})
    for (const Case& c : all_cases())
      if (method.petscs == cg.petscs || !c.cg_alone) all.emplace_back(method, c);
  for (const Case& c : common_cases) all.emplace_back(one_reduction, c);
  return all;
}

struct OnHost : testing::TestWithParam<Choice> {
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
struct OnDevice : DeviceTest, testing::WithParamInterface<Choice> {};

constexpr auto name_of = [](const auto& info) {
  return std::get<0>(info.param).name + std::string("_") + std::get<1>(info.param).name;
};
INSTANTIATE_TEST_SUITE_P(All, OnHost, testing::ValuesIn(choices()), name_of);
INSTANTIATE_TEST_SUITE_P(All, OnDevice, testing::ValuesIn(choices()), name_of);

bool has_reason(const Case& c, const Method& method, const Outcome& o) {
  const KSPConvergedReason known = c.reasons[method.petscs == cg.petscs ? 0 : 1];
  return known == KSP_CONVERGED_ITERATING || o.reason == known;
}

TEST_P(OnHost, IsPetscsOwn) {
  const auto& [method, c] = GetParam();
  const System of_petsc(c, false), of_ours(c, false);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const Outcome found = outcome(solver(c, of_ours, method.ours, method.options), of_ours);

  EXPECT_TRUE(same(found, wanted));
  EXPECT_EQ(PetscInt(found.norms.size()) - found.iterations, PetscInt(wanted.norms.size()) - wanted.iterations);
  const std::string on_host = std::string("  fused on the host: ") + method.reductions + " an iteration";
  EXPECT_TRUE(says(found, c.fused_on_host ? on_host.c_str() : "  not fused: ")) << found.view;
  EXPECT_TRUE(has_reason(c, method, wanted)) << wanted.reason;
  // PETSc's takes inner products of both types (VecMDot) with a single reduction.
  const bool petscs_is_wrong = PetscDefined(USE_COMPLEX) && std::strstr(c.options, "ksp_cg_type symmetric");
  if (!method.petscs_options || petscs_is_wrong || c.petscs_forms_differ) return;
  const System once_more(c, false);
  EXPECT_TRUE(same(found, outcome(solver(c, once_more, method.petscs, method.petscs_options), once_more)));
}

TEST_P(OnDevice, IsPetscsOwn) {
  const auto& [method, c] = GetParam();
  const System of_petsc(c, true), of_ours(c, true);
  const Outcome wanted = outcome(solver(c, of_petsc, method.petscs), of_petsc);
  const auto ksp = solver(c, of_ours, method.ours, method.options);
  const Outcome found = outcome(ksp, of_ours);

  EXPECT_TRUE(same(found, wanted));
  EXPECT_TRUE(has_reason(c, method, wanted)) << wanted.reason;
  const bool is_cg = method.petscs == cg.petscs;
  const bool fused = c.fused && (size() == 1 || by_peers());
  EXPECT_EQ(says(found, "  null space removed in the loop: "), fused && c.removes_null_space()) << found.view;
  const char* const by_graphs = "kernels an iteration, graphs of ";
  const auto in_one_kernel = [&](bool two_syncs) {
    const int projections = c.removes_null_space() ? (is_cg ? 1 : 3) : 0;
    const int grid_syncs = (is_cg ? (two_syncs ? 2 : 3) : 6) + projections;
    return "  fused on the device: one cooperative kernel for all iterations, with " + std::to_string(grid_syncs) +
           " grid synchronizations an iteration" + (size() > 1 ? "; devices exchange" : "\n");
  };
  const std::string stepwise = std::string("  fused on the device: ") + method.reductions + " an iteration; not more: ";
  const bool in_one = c.one_kernel && fused && all_have_rows(of_ours);
  EXPECT_TRUE(says(found, fused              ? (in_one ? in_one_kernel(true) : by_graphs)
                          : !c.fused_on_host ? "  not fused: "
                                             : stepwise.c_str()))
      << found.view;
  if (c.has_guess) return;
  for (const char* loop : {"graphs", "persistent", "persistent2"}) {
    if (!fused) break;
    Case other = c;
    const std::string options = std::string(c.options) + " -solver_ksp_compound_loop " + loop;
    other.options = options.c_str();
    const Outcome the_other_way = outcome(solver(other, of_ours, method.ours), of_ours);
    EXPECT_TRUE(same(the_other_way, wanted)) << loop;
    const bool graphs = std::strcmp(loop, "graphs") == 0 || !in_one;
    EXPECT_TRUE(says(the_other_way, graphs ? by_graphs : in_one_kernel(std::strcmp(loop, "persistent2") == 0)))
        << the_other_way.view;
  }
  const Outcome again = outcome(ksp, of_ours);
  EXPECT_EQ(again.norms.size(), found.norms.size());
  if (found.reason == KSP_DIVERGED_NANORINF) return;
  EXPECT_EQ(again.x, found.x) << "other bits the second time";
}

struct SaysOnDevice : DeviceTest {};

struct BothOnHost : testing::TestWithParam<Method> {
  static void SetUpTestSuite() { PETSC_OK(PetscLogDefaultBegin()); }
  void TearDown() override { (void)PetscOptionsClear(nullptr); }
};
INSTANTIATE_TEST_SUITE_P(All, BothOnHost, testing::Values(cg, bcgs),
                         [](const auto& param_info) { return std::string(param_info.param.ours); });

/// Norms come one by one to a monitor, in order.
struct BothOnDevice : DeviceTest, testing::WithParamInterface<Method> {};
INSTANTIATE_TEST_SUITE_P(All, BothOnDevice, testing::Values(cg, bcgs),
                         [](const auto& param_info) { return std::string(param_info.param.ours); });

TEST_P(BothOnDevice, TellMonitorsOfEveryNorm) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, true);
  const auto ksp = solver(c, s, GetParam().ours);
  std::vector<PetscReal> heard;
  PETSC_OK(KSPMonitorSet(ksp, note_norm, &heard, nullptr));
  const Outcome o = outcome(ksp, s);
  EXPECT_EQ(heard, o.norms);
  EXPECT_EQ(PetscInt(heard.size()), o.iterations + 1);
  EXPECT_EQ(heard.back(), o.last);
}

PetscErrorCode note_solution(KSP ksp, PetscInt, PetscReal, void* to) {
  PetscFunctionBegin;
  Vec x;
  PetscReal norm;
  PetscCall(KSPBuildSolution(ksp, nullptr, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  static_cast<std::vector<PetscReal>*>(to)->push_back(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_P(BothOnHost, ShowMonitorsTheSolutionOfTheIteration) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_max_it 9"};
  const System s(c, false);
  std::vector<PetscReal> wanted, found;
  const auto solve = [&](const char* type, std::vector<PetscReal>& norms) {
    const auto ksp = solver(c, s, type);
    PETSC_OK(KSPMonitorSet(ksp, note_solution, &norms, nullptr));
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
  };

  solve(GetParam().petscs, wanted);
  solve(GetParam().ours, found);

  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_GT(found.back(), 0);
  for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], wanted[n], 1e-8 * wanted.back()) << n;
}

struct FlopCase {
  const char* options;
  int columns;  ///< of the preconditioner's blocks
  bool cg_alone = false;
};
constexpr FlopCase flop_cases[] = {
    {"-solver_pc_type none", 0},
    {"-solver_pc_type jacobi", 1},
    {"-solver_pc_type pbjacobi", 3},
    {"-solver_pc_type jacobi -solver_ksp_norm_type unpreconditioned", 1, true},
    {"-solver_pc_type jacobi -solver_ksp_norm_type natural", 1, true},
    {"-solver_pc_type pbjacobi -solver_ksp_norm_type natural", 3, true},
    {"-solver_pc_type jacobi -solver_ksp_norm_type none -solver_ksp_max_it 23", 1},
    {"-solver_pc_type none -solver_ksp_max_it 1", 0},
    {"-solver_pc_type sor", 0},
};

void expect_petscs_flops(const Method& method, const FlopCase& f, bool device) {
  if (f.cg_alone && method.petscs != cg.petscs) return;
  const Case c{"", f.options};
  const System s(c, device);
  const auto petscs = solver(c, s, method.petscs), ours = solver(c, s, method.ours);
  PETSC_OK(KSPSolve(petscs, s.b, s.x));
  PETSC_OK(KSPSolve(ours, s.b, s.x));

  const PetscLogDouble wanted = flops_of_solve(petscs, s), found = flops_of_solve(ours, s);

  EXPECT_TRUE(
      all_ranks(std::abs(found - wanted) <= flops_to_spare(ours, s, f.columns, device && method.petscs == bcgs.petscs)))
      << f.options << ": " << found << " flops, not " << wanted;
}

TEST_P(BothOnHost, CountPetscsFlops) {
  for (const FlopCase& f : flop_cases) expect_petscs_flops(GetParam(), f, false);
}
TEST_P(BothOnDevice, CountPetscsFlops) {
  PETSC_OK(PetscLogDefaultBegin());
  for (const FlopCase& f : flop_cases) expect_petscs_flops(GetParam(), f, true);
}

/// What -ksp_monitor has printed during a solve, a line for each norm.
std::vector<std::string> monitored(const Method& method, const char* loop, bool device, Outcome* o) {
  const std::string file = file_of_run("krylov_monitor", ".txt");
  const std::string options =
      "-solver_pc_type jacobi -solver_ksp_compound_loop " + std::string(loop) + " -solver_ksp_monitor ascii:" + file;
  const Case c{"", options.c_str()};
  const System s(c, device);
  {
    const auto ksp = solver(c, s, method.ours);
    *o = outcome(ksp, s);
    PETSC_OK(KSPMonitorCancel(ksp));  // closes the file
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  std::ifstream in(file);
  std::vector<std::string> norms;
  for (std::string line; std::getline(in, line);)
    if (line.find("KSP Residual norm") != std::string::npos) norms.push_back(line);
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(file.c_str());
  return norms;
}

void expect_norms(const std::vector<std::string>& lines, const Outcome& o) {
  ASSERT_EQ(lines.size(), o.norms.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    char line[100];
    std::snprintf(line, sizeof(line), "%3d KSP Residual norm %14.12e", int(i), double(o.norms[i]));
    EXPECT_EQ(lines[i].rfind(line, 0), 0u) << lines[i];
  }
}

/// A monitor that prints norms does not need x.
TEST_P(BothOnDevice, GoOnUnderMonitorsOfNorms) {
  Outcome o;
  expect_norms(monitored(GetParam(), "persistent", true, &o), o);
  expect_norms(monitored(GetParam(), "graphs", true, &o), o);
  EXPECT_EQ(says(o, "graphs of 8"), size() == 1 || by_peers()) << o.view;
  // Without a preconditioner the norm is that of the residual, which this one builds.
  const Case c{"", "-solver_pc_type none -solver_ksp_compound_loop graphs"};
  const System s(c, true);
  const auto watched = solver(c, s, GetParam().ours);
  PETSC_OK(KSPMonitorSet(watched, look_at_residual, nullptr, nullptr));
  EXPECT_EQ(says(outcome(watched, s), "graphs of 1"), size() == 1 || by_peers());
}

/// On the host a pass of its own brings x up to date where it is watched.
TEST_P(BothOnHost, GoOnUnderMonitorsOfNorms) {
  Outcome o;
  const auto before = event("VecAXPY");
  expect_norms(monitored(GetParam(), "auto", false, &o), o);
  EXPECT_LE(event("VecAXPY").count - before.count, 1);
}

constexpr const char *in_one_kernel = "  fused on the device: one cooperative kernel",
                     *by_graphs = " kernels an iteration, graphs of ",
                     *by_steps = "  fused on the device: t";  // two reductions, or three

/// One KSP of ours from solve to solve, and a new one of PETSc's beside each solve.
class ManySolves {
 public:
  ManySolves(const Method& method, bool device)
      : method_(method), device_(device), system(case_, device), ksp(solver(case_, system, method.ours)) {}

 private:
  Case case_{"", "-solver_pc_type pbjacobi"};
  Method method_;
  bool device_;

 public:
  System system;
  Solver ksp;

  /// Of both, from now on.
  void set(const char* options) {
    case_.options = options;
    PETSC_OK(PetscOptionsInsertString(nullptr, options));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(PetscOptionsClear(nullptr));
  }
  /// How the view says that it was solved on a device, by one process and by several, unless devices exchange
  /// themselves.
  void expect_petscs(const char* what, const char* by_one = in_one_kernel,
                     const char* by_several = "  fused on the device") {
    System reference{case_, device_};
    MatNullSpace space;
    PETSC_OK(MatDuplicate(system.A, MAT_COPY_VALUES, reference.A.out()));
    if (device_) PETSC_OK(MatSetVecType(reference.A, VECCUDA));
    PETSC_OK(MatGetNullSpace(system.A, &space));
    PETSC_OK(MatSetNullSpace(reference.A, space));
    PETSC_OK(VecCopy(system.b, reference.b));

    const Outcome found = outcome(ksp, system);

    EXPECT_TRUE(same(found, outcome(solver(case_, reference, method_.petscs), reference))) << what;
    // An AIJ with a part in blocks that are not full, which no loop takes, goes by steps on devices, too.
    const bool in_other_blocks = says(found, "  compound blocks: of ");
    const auto by_processes = [&] {
      return by_one != by_steps && !in_other_blocks && by_peers() ? by_one : by_several;
    };
    EXPECT_TRUE(says(found, !device_     ? "  fused on the host"
                            : size() > 1 ? by_processes()
                                         : by_one))
        << what << '\n'
        << found.view;
  }
};

/// Symmetric ones between blocks that had none.
void add_couplings(Mat A, int bs) {
  std::vector<PetscScalar> block(static_cast<std::size_t>(bs * bs));
  for (int k = 0; k < bs; ++k) block[k * bs + k] = -0.05;
  PetscInt first, last, all;
  PETSC_OK(MatGetOwnershipRange(A, &first, &last));
  PETSC_OK(MatGetSize(A, &all, nullptr));
  allow_new_nonzeros(A);
  for (PetscInt i = first / bs; i < last / bs; ++i)
    for (const PetscInt j : {i - 13, i + 13})
      if (j >= 0 && j < all / bs) PETSC_OK(MatSetValuesBlocked(A, 1, &i, 1, &j, block.data(), INSERT_VALUES));
  assemble(A);
}

void follow_changes(const Method& method, bool device) {
  constexpr int bs = 3;
  const bool is_cg = method.petscs == cg.petscs;
  ManySolves s(method, device);
  s.expect_petscs("at first");
  PETSC_OK(MatScale(s.system.A, 3.0));
  s.expect_petscs("scaled");
  PETSC_OK(MatShift(s.system.A, 1.5));
  s.expect_petscs("shifted");
  if (tested_is_compound())
    PETSC_OK(MatCompoundSetPlan(s.system.A, device ? "csr rows dynamic threads=64 blocks=4" : "csr"));
  s.expect_petscs("another plan");
  s.system.b = on_side(left_vector(s.system.A, 77), device);
  s.system.x = on_side(right_vector(s.system.A, 78), device);
  s.expect_petscs("other vectors");

  s.set(is_cg ? "-solver_pc_type pbjacobi -solver_ksp_norm_type natural"
              : "-solver_pc_type pbjacobi -solver_ksp_norm_type none -solver_ksp_max_it 9");
  s.expect_petscs("another norm");
  s.set("-solver_pc_type pbjacobi -solver_ksp_norm_type preconditioned -solver_ksp_max_it 500");
  s.expect_petscs("the first norm again");
  for (const char* const type : {"jacobi", "none"}) {
    const std::string options = std::string("-solver_pc_type ") + type;
    s.set(options.c_str());
    s.expect_petscs(type);
  }
  s.set("-solver_pc_type composite -solver_pc_composite_pcs jacobi");
  s.expect_petscs("a preconditioner that is not fused", by_steps);
  s.set("-solver_pc_type jacobi -solver_ksp_compound_loop graphs");
  s.expect_petscs("graphs", by_graphs);
  s.set("-solver_pc_type jacobi -solver_ksp_compound_loop persistent");
  s.expect_petscs("one kernel");

  s.set("-solver_pc_type jacobi -solver_ksp_max_it 15");  // rounding tells in BiCGSTAB's later ones
  add_couplings(s.system.A, bs);
  s.expect_petscs("another pattern");
  make_singular(s.system.A);
  PETSC_OK(MatMult(s.system.A, s.system.x, s.system.b));
  set_null_space(s.system.A, Case::Null::constant, bs, device);
  s.expect_petscs("a null space");
  PETSC_OK(MatSetNullSpace(s.system.A, nullptr));
  s.expect_petscs("no null space");

  PETSC_OK(KSPReset(s.ksp));
  PETSC_OK(KSPSetOperators(s.ksp, s.system.A, s.system.A));
  s.expect_petscs("after a reset");
  if (!device) return;
  s.system.b = on_side(s.system.b, false);
  s.expect_petscs("b on the host", in_one_kernel, "  not fused: some of the solve's vectors are on the host");
}
TEST_P(BothOnHost, FollowWhatChangesBetweenSolves) {
  if (!tested_is_compound()) GTEST_SKIP() << "PETSc's pbjacobi keeps the inverses of a BAIJ from before MatScale()";
  follow_changes(GetParam(), false);
}
TEST_P(BothOnDevice, FollowWhatChangesBetweenSolves) { follow_changes(GetParam(), true); }

/// The KSP's reference is the last one.
void keep_matrix(const Method& method, bool device) {
  const Case c{"", "-solver_pc_type pbjacobi"};
  const System reference(c, device);
  System s(c, device);
  const Outcome wanted = outcome(solver(c, reference, method.petscs), reference);
  const auto ksp = solver(c, s, method.ours);
  s.A.reset();

  EXPECT_TRUE(same(outcome(ksp, s), wanted));
  EXPECT_TRUE(same(outcome(ksp, s), wanted)) << "the second time";
}
TEST_P(BothOnHost, SolveWithAMatrixThatNobodyElseHas) { keep_matrix(GetParam(), false); }
TEST_P(BothOnDevice, SolveWithAMatrixThatNobodyElseHas) { keep_matrix(GetParam(), true); }

/// No product of a library can be part of an iteration.
TEST_P(BothOnDevice, FuseTheirOwnProductsWhereAPlanNamesALibrarys) {
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  const Case c{.name = "",
               .options = "-solver_pc_type jacobi",
               .bs = 4,
               .matrix_options = "-mat_compound_plan cusparse:bsr-column"};
  const System of_petsc(c, true), of_ours(c, true);
  const Outcome wanted = outcome(solver(c, of_petsc, GetParam().petscs), of_petsc);
  for (const char* loop : {"graphs", "persistent"}) {
    const auto ksp = solver(c, of_ours, GetParam().ours);
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_compound_loop", loop));
    PETSC_OK(KSPSetFromOptions(ksp));
    PETSC_OK(PetscOptionsClear(nullptr));
    const Outcome found = outcome(ksp, of_ours);
    EXPECT_TRUE(same(found, wanted)) << loop;
    EXPECT_TRUE(says(found, std::strcmp(loop, "graphs") == 0 ? by_graphs : in_one_kernel)) << found.view;
  }
  EXPECT_NE(plan_of(of_ours.A).find(" cusparse:"), std::string::npos) << plan_of(of_ours.A);
}

TEST_P(BothOnDevice, ShareAMatrixOrTakeTwo) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System one(c, true), two({.name = "", .options = "", .shift = 2.0}, true);
  const auto first = solver(c, one, GetParam().ours), second = solver(c, one, GetParam().ours);
  const Outcome wanted = outcome(first, one);
  EXPECT_EQ(outcome(second, one).x, wanted.x);
  PETSC_OK(KSPSetOperators(first, two.A, two.A));
  EXPECT_TRUE(same(outcome(first, two), outcome(solver(c, two, GetParam().petscs), two)));
  PETSC_OK(KSPSetOperators(first, one.A, one.A));
  EXPECT_EQ(outcome(first, one).x, wanted.x);
}

/// Like those of the set-up: the vectors of a solve may have none.
TEST(WorkVectors, HaveTheBlocksOfTheMatrix) {
  const Case c{"fieldsplit", "-solver_pc_type fieldsplit -solver_pc_fieldsplit_type additive"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND, "-solver_ksp_cgcompound_reductions 1");
  PetscInt n;
  Vector b, x;
  KSPConvergedReason reason;
  PETSC_OK(MatGetLocalSize(s.A, &n, nullptr));
  PETSC_OK(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, b.out()));
  PETSC_OK(VecDuplicate(b, x.out()));
  PETSC_OK(VecSet(b, 1));
  PETSC_OK(KSPSetUp(ksp));

  PETSC_OK(KSPSolve(ksp, b, x));

  PETSC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
}

/// Solves with changing values, the first of which may keep what they like.
void expect_no_leak(bool device, const char* type) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_rtol 1e-5"};
  const System s(c, device);
  const auto ksp = solver(c, s, type);
  PetscLogDouble before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    PETSC_OK(MatScale(s.A, i % 2 ? 1.25 : 0.8));
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
    if (i == 200) PETSC_OK(PetscMemoryGetCurrentUsage(&before));
  }
  PETSC_OK(PetscMemoryGetCurrentUsage(&after));
  EXPECT_LT(after - before, device ? 4e6 : 3e5) << "bytes more after 800 solves";
}

TEST(Solves, LeakNothing) {
#if defined(__SANITIZE_ADDRESS__)
  std::cout << "skipped: the address sanitizer keeps what was freed, and finds leaks itself" << std::endl;
  GTEST_SKIP();
#endif
  for (const char* type : {KSPCGCOMPOUND, KSPBCGSCOMPOUND}) expect_no_leak(false, type);
}
TEST_P(BothOnDevice, LeakNothing) { expect_no_leak(true, GetParam().ours); }

/// A type that was and is no more leaves nothing behind.
TEST(Types, BecomeAnotherAndComeBack) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const Outcome first = outcome(ksp, s);
  PETSC_OK(KSPSetType(ksp, KSPGMRES));
  EXPECT_FALSE(says(outcome(ksp, s), "fused"));
  PETSC_OK(KSPSetType(ksp, KSPCG));
  EXPECT_FALSE(says(outcome(ksp, s), "fused"));
  PETSC_OK(KSPSetType(ksp, KSPCGCOMPOUND));
  EXPECT_TRUE(same(outcome(ksp, s), first));
}

/// By what KSPCG composes under this name, if this release's does.
using SetTarget = PetscErrorCode (*)(KSP, PetscReal);
SetTarget target_of(KSP ksp, const char* name) {
  SetTarget set = nullptr;
  PETSC_OK(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), name, &set));
  return set;
}

TEST(SingleReduction, IsPetscsLoopUntilItIsUndone) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s{c, false};
  const Solver ksp = solver(c, s, KSPCGCOMPOUND);
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  EXPECT_TRUE(says(outcome(ksp, s), "  not fused: a single reduction"));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
  EXPECT_TRUE(says(outcome(ksp, s), "  fused on the host"));
}

struct Target {
  const char *name, *says;
  PetscReal value;
};
void PrintTo(const Target& t, std::ostream* out) { *out << t.name; }
constexpr Target radius{"KSPCGSetRadius_C", "  not fused: a radius is set (KSPCGSetRadius)", 1e-3},
    objective{"KSPCGSetObjectiveTarget_C", "  not fused: an objective is set (KSPCGSetObjectiveTarget)", -1e-3};

/// What only PETSc's loop looks at.
struct Targets : testing::TestWithParam<Target> {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s{c, false};
  Solver ksp = solver(c, s, KSPCGCOMPOUND);
  SetTarget set = target_of(ksp, GetParam().name);
  void SetUp() override {
    if (!set) GTEST_SKIP() << "skipped: this PETSc's CG has none";
  }
};
INSTANTIATE_TEST_SUITE_P(All, Targets, testing::Values(radius, objective),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(Targets, OutlastASingleReduction) {
  PETSC_OK((*set)(ksp, GetParam().value));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_TRUE));
  PETSC_OK(KSPCGUseSingleReduction(ksp, PETSC_FALSE));
  EXPECT_TRUE(says(outcome(ksp, s), GetParam().says));
}

TEST_P(Targets, AreNoMoreWhereTheyAreSetToZero) {
  PETSC_OK((*set)(ksp, GetParam().value));
  PETSC_OK((*set)(ksp, 0));
  EXPECT_TRUE(says(outcome(ksp, s), "  fused on the host"));
}

TEST_P(Targets, OutlastEachOther) {
  PETSC_OK((*set)(ksp, GetParam().value));
  const Target& other = GetParam().name == radius.name ? objective : radius;
  const SetTarget set_other = target_of(ksp, other.name);
  ASSERT_NE(set_other, nullptr);
  PETSC_OK((*set_other)(ksp, other.value));
  PETSC_OK((*set_other)(ksp, 0));
  EXPECT_TRUE(says(outcome(ksp, s), GetParam().says));
}

/// Of the last solve, where this release's KSPCG tells.
std::vector<PetscReal> objective_of(KSP ksp) {
  PetscErrorCode (*get)(KSP, PetscReal*) = nullptr;
  PetscReal value = 0;
  PETSC_OK(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(ksp), "KSPCGGetObjFcn_C", &get));
  if (!get) return {};
  PETSC_OK((*get)(ksp, &value));
  return {value};
}

void expect_petscs_objective(bool device) {
  const Case c{"", "-solver_pc_type jacobi -solver_ksp_max_it 5"};
  const System s(c, device);
  const auto petscs = solver(c, s, KSPCG), ours = solver(c, s, KSPCGCOMPOUND);
  for (const bool asks_before : {false, true}) {
    if (asks_before) PETSC_OK(KSPCGUseSingleReduction(ours, PETSC_TRUE));
    if (asks_before) PETSC_OK(KSPCGUseSingleReduction(ours, PETSC_FALSE));
    PETSC_OK(KSPSolve(petscs, s.b, s.x));
    const auto wanted = objective_of(petscs);
    PETSC_OK(KSPSolve(ours, s.b, s.x));
    const auto found = objective_of(ours);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-10 * std::abs(wanted[i]));
  }
}
TEST(Types, TellPetscsObjective) { expect_petscs_objective(false); }
TEST_F(SaysOnDevice, PetscsObjective) { expect_petscs_objective(true); }

/// What multigrid asks of it: extreme eigenvalues, for the smoother's polynomial.
TEST(Types, EstimateEigenvaluesForMultigrid) {
  const Case c{"", "-solver_pc_type gamg -solver_pc_gamg_esteig_ksp_type cg -solver_mg_levels_esteig_ksp_type cg"};
  const Case of_ours{"",
                     "-solver_pc_type gamg -solver_pc_gamg_esteig_ksp_type cgcompound "
                     "-solver_mg_levels_esteig_ksp_type cgcompound"};
  System s(c, false);
  PETSC_OK(MatConvert(s.A, MATAIJ, MAT_INPLACE_MATRIX, s.A.in_place()));
  const auto wanted = solver(c, s, KSPCG), found = solver(of_ours, s, KSPCG);
  EXPECT_TRUE(same(outcome(found, s), outcome(wanted, s)));
}

/// Of an iteration: a longer solve has more than a shorter one. PETSc counts none of a process alone.
PetscLogDouble reductions(const Method& method, const char* options) {
  PetscLogDouble counted[2];
  constexpr PetscInt most[] = {5, 15};
  const Case c{"", options};
  for (int i : {0, 1}) {
    const System s(c, false);
    const auto ksp = solver(c, s, method.ours, method.options);
    PETSC_OK(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, most[i]));
    PETSC_OK(KSPSetUp(ksp));
    const PetscLogDouble before = petsc_allreduce_ct;
    PETSC_OK(KSPSolve(ksp, s.b, s.x));
    counted[i] = petsc_allreduce_ct - before;
  }
  return (counted[1] - counted[0]) / PetscLogDouble(most[1] - most[0]);
}

TEST(Types, AddUpOverProcessesAsOftenAsTheySay) {
  if (PetscDefined(USE_DEBUG)) GTEST_SKIP() << "skipped: PETSc's debug builds have reductions of their own";
  for (const char* options :
       {"-solver_pc_type jacobi -solver_ksp_rtol 1e-30", "-solver_pc_type sor -solver_ksp_rtol 1e-30",
        "-solver_pc_type pbjacobi -solver_ksp_norm_type none"}) {
    EXPECT_EQ(reductions(one_reduction, options), size() > 1 ? 1 : 0) << options;
    EXPECT_EQ(reductions(cg, options), size() > 1 ? 2 : 0) << options;
    EXPECT_EQ(reductions(bcgs, options), size() > 1 ? 3 : 0) << options;
  }
}

/// One KSP, which is asked for one form after the other.
TEST(Types, ChangeTheirReductionsBetweenSolves) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const Outcome first = outcome(ksp, s);
  for (const char* count : {"1", "2"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_cgcompound_reductions", count));
    PETSC_OK(KSPSetFromOptions(ksp));
    EXPECT_TRUE(same(outcome(ksp, s), first)) << count;
  }
  PETSC_OK(PetscOptionsClear(nullptr));
  EXPECT_EQ(outcome(ksp, s).x, first.x);
}

TEST(Types, RefuseOtherNumbersOfReductions) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const auto error_of = [&](const char* reductions) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_cgcompound_reductions", reductions));
    const auto error = catch_error([&] { return KSPSetFromOptions(ksp); });
    PETSC_OK(PetscOptionsClear(nullptr));
    return error;
  };
  const auto three = error_of("3"), word = error_of("two");
  EXPECT_EQ(three.code, PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(three.message.find("-ksp_cgcompound_reductions is 3; choose 1 or 2"), std::string::npos) << three.message;
  EXPECT_EQ(word.code, PETSC_ERR_ARG_WRONG);
  EXPECT_NE(word.message.find("-ksp_cgcompound_reductions is not a whole number; choose 1 or 2"), std::string::npos)
      << word.message;
}

/// By PETSc's error, which lists the known ones.
TEST(Types, RefuseOtherLoops) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System s(c, false);
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  for (const char* loop : {"by_size", "kernel", "two_meetings"}) {
    PETSC_OK(PetscOptionsSetValue(nullptr, "-solver_ksp_compound_loop", loop));
    const auto error = catch_error([&] { return KSPSetFromOptions(ksp); });
    PETSC_OK(PetscOptionsClear(nullptr));
    EXPECT_NE(error.code, 0) << loop;
    EXPECT_NE(error.message.find("auto graphs persistent persistent2"), std::string::npos) << error.message;
  }
}

/// A matrix of PETSc's own.
TEST(Types, SolveWithAnyMatrix) {
  const Case c{"", "-solver_pc_type jacobi"};
  System s(c, false);
  PETSC_OK(MatConvert(s.A, MATAIJ, MAT_INPLACE_MATRIX, s.A.in_place()));
  const Outcome found = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_EQ(found.reason, KSP_CONVERGED_RTOL);
  EXPECT_TRUE(says(found, "fused on the host")) << found.view;
  const Outcome other = outcome(solver(c, s, KSPBCGSCOMPOUND), s);
  EXPECT_EQ(other.reason, KSP_CONVERGED_RTOL);
  EXPECT_TRUE(says(other, "fused on the host: three reductions")) << other.view;
}

TEST_F(SaysOnDevice, WhichPreconditionersAreFused) {
  const Case c{"", "-solver_pc_type sor"};
  const System s(c, true);
  EXPECT_TRUE(says(outcome(solver(c, s, KSPBCGSCOMPOUND), s),
                   "not more: preconditioner sor; none, jacobi, pbjacobi and pbjacobicompound are fused"));
}

TEST_F(SaysOnDevice, WhyProductsRunOnTheHost) {
  const Case c{"", "-solver_pc_type jacobi"};
  const System on_host(c, false);
  const Outcome o = outcome(solver(c, on_host, KSPCGCOMPOUND), on_host);
  EXPECT_TRUE(
      says(o, "  fused on the host: two reductions an iteration; not on the device: the vectors are on the host\n"))
      << o.view;
  const System s(c, true);
  PETSC_OK(MatCompoundSetBackend(s.A, "host"));
  const Outcome by_name = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_TRUE(says(by_name, "not more: products run on the host (-mat_compound_backend host)")) << by_name.view;
}

TEST_F(SaysOnDevice, WhyIterationsArePetscsOwn) {
  const Case c{"", "-solver_pc_type sor"};
  System s(c, true);
  s.b = on_side(s.b, false);
  const Outcome o = outcome(solver(c, s, KSPCGCOMPOUND), s);
  EXPECT_TRUE(says(o, "  not fused: some of the solve's vectors are on the host, others on the device\n")) << o.view;
}

/// What the view says where the first allocation of a solve fails.
Outcome without_memory(const char* options) {
  const Case c{"", options};
  const System s(c, true);
  const auto y = on_side(s.b, true);
  PETSC_OK(MatMult(s.A, s.x, y));  // packs the matrix
  const auto ksp = solver(c, s, KSPCGCOMPOUND);
  const auto fails = failing_allocation(1);
  return outcome(ksp, s);
}

TEST_F(SaysOnDevice, ThatMemoryIsFull) {
  const Outcome none = without_memory("-solver_pc_type composite -solver_pc_composite_pcs jacobi");
  EXPECT_TRUE(says(none, "  not fused: the device's memory is full\n")) << none.view;
  if (size() > 1) return;
  const Outcome less = without_memory("-solver_pc_type jacobi");
  EXPECT_TRUE(says(less, "  fused on the device: two reductions an iteration; not more: the device's memory is full\n"))
      << less.view;
}

TEST_F(SaysOnDevice, WhichNullSpacesAreRemovedInTheLoop) {
  if (size() > 1) GTEST_SKIP() << "skipped: no solve is fused on several processes";
  struct Row {
    int bs;
    Case::Null null_space;
    const char* says;
  };
  constexpr Row rows[] = {
      {3, Case::Null::constant, "null space removed in the loop: the constant\n"},
      {3, Case::Null::vectors, "null space removed in the loop: 3 vectors\n"},
      {2, Case::Null::constant_and_vectors, "null space removed in the loop: the constant and 1 vector\n"},
      {7, Case::Null::vectors, "not more: the matrix's null space has more than 6 vectors"},
      {7, Case::Null::constant_and_vectors, "not more: the matrix's null space has more than 6 vectors"},
      {3, Case::Null::function, "not more: a function removes the matrix's null space (MatNullSpaceSetFunction)"}};
  for (const Row& row : rows) {
    const Case c{.name = "",
                 .options = "-solver_pc_type jacobi",
                 .bs = row.bs,
                 .rhs = Case::Rhs::of_guess,
                 .null_space = row.null_space};
    const System s(c, true);
    const Outcome o = outcome(solver(c, s, KSPCGCOMPOUND), s);
    EXPECT_TRUE(says(o, row.says)) << o.view;
  }
}

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

/// Three solves of one solver, between which the matrix, the right-hand side or the solver changes.
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
    history += "\n  change " + std::to_string(change) + ":" + options;
    Outcome outcomes[2];
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
      outcomes[k] = outcome(ksp, s);
    }
    if (auto result = same(outcomes[1], outcomes[0]); !result) return result;
  }
  return testing::AssertionSuccess();
}

TEST(RandomSettings, ArePetscsOwn) {
  run_sequences(whole_tier() ? 500 : 60 / static_cast<std::uint64_t>(size()), solve_at_random);
}

}  // namespace
