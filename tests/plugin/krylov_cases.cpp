#include "krylov_cases.hpp"

#include <limits>

#include "kinds.hpp"
#include "systems.hpp"

namespace krylov_test {

namespace {

PetscErrorCode stop_at_three(KSP, PetscInt i, PetscReal, KSPConvergedReason* reason, void*) {
  *reason = i == 3 ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode look_at_residual(KSP ksp, PetscInt i, PetscReal norm, void*) {
  Vec built;
  PetscReal size;
  if (const PetscErrorCode code = KSPBuildResidual(ksp, nullptr, nullptr, &built)) return code;
  PETSC_OK(VecNorm(built, NORM_2, &size));
  EXPECT_NEAR(size, norm, 1e-8 * (1 + norm)) << "iteration " << i;
  PETSC_OK(VecDestroy(&built));
  return PETSC_SUCCESS;
}

void make_singular(Mat A) {
  const auto ones = right_vector(A, 0), sums = left_vector(A, 0);
  PETSC_OK(VecSet(ones, 1));
  PETSC_OK(MatMult(A, ones, sums));
  PETSC_OK(VecScale(sums, -1));
  PETSC_OK(MatDiagonalSet(A, sums, ADD_VALUES));
}

namespace {

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

}  // namespace

void set_null_space(Mat A, Case::Null kind, int bs) {
  const bool free = kind == Case::Null::vectors || kind == Case::Null::function;
  const bool constant = !free;
  std::vector<Vector> owned;
  if (kind == Case::Null::vectors || kind == Case::Null::constant_and_vectors)
    owned = vectors_of_null_space(A, bs, constant);
  const std::vector<Vec> vectors(owned.begin(), owned.end());
  MatNullSpace space;
  PETSC_OK(MatNullSpaceCreate(PETSC_COMM_WORLD, constant ? PETSC_TRUE : PETSC_FALSE, PetscInt(vectors.size()),
                              vectors.data(), &space));
  if (kind == Case::Null::function) PETSC_OK(MatNullSpaceSetFunction(space, remove_mean, nullptr));
  PETSC_OK((kind == Case::Null::near ? MatSetNearNullSpace : MatSetNullSpace)(A, space));
  if (kind == Case::Null::with_transposed) PETSC_OK(MatSetTransposeNullSpace(A, space));
  PETSC_OK(MatNullSpaceDestroy(&space));
}

namespace {

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
  set_null_space(A, c.null_space, c.bs);
  return A;
}

const Case cases[] = {
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

}  // namespace

std::span<const Case> common_cases() { return cases; }

std::vector<Case> all_cases() {
  std::vector<Case> all(std::begin(cases), std::end(cases));
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

System::System(const Case& c, bool device) : A(matrix_of(c, device)) {
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

}  // namespace krylov_test
