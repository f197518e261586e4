// KSPMatSolve() of cgcompound: several right-hand sides at once. Each iteration is one product with the directions of
// all systems, and one sum over processes where CG has one. Norms, tests and monitors are those of a solve of each
// column alone. A system that has stopped is left out.
#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <limits>
#include <span>

#include "ksp/columns_on_host.hpp"
#include "ksp/solver.hpp"
#include "ksp/watched.hpp"
#include "mat/attach.hpp"
#include "petsc/agree.hpp"
#include "spmv/attached.hpp"
#include "spmv/operator.hpp"
#include "spmv/placement.hpp"
#include "storage/krylov_matrix.hpp"

namespace compound::plugin {

namespace {

/// Iterations that are queued before the host looks at the norms: with several systems each takes so long that few
/// hide that.
constexpr int iterations_at_once = 2;

/// Of settings that not all releases have.
template <class PetscKSP>
const char* why_by_columns_in_release(PetscKSP ksp) {
  if constexpr (requires { ksp->dscale; })
    if (ksp->dscale) return "the matrix is scaled by its diagonal, and right-hand sides by KSPSolve()";
  if constexpr (requires { ksp->min_it; })
    if (ksp->min_it > 0) return "there is a minimum of iterations";
  return nullptr;
}

/// What PETSc does beside the iterations of one column, or with them, that a solve of several cannot; null: nothing.
const char* why_by_columns(KSP ksp) {
  if (const char* const settings = why_not_solver(ksp)) return settings;
  if (const char* const settings = why_by_columns_in_release(ksp)) return settings;
  if (is_watched(ksp)) return "a monitor or a convergence test may look at vectors";
  if (ksp->calc_sings) return "eigenvalues are computed";
  if (ksp->guess) return "a KSPGuess makes the initial guesses";
  if (ksp->guess_knoll) return "the preconditioner makes the initial guesses";
  if (ksp->presolve || ksp->postsolve || ksp->pc->ops->presolve) return "functions run before or after each solve";
  MatNullSpace of_transpose = nullptr;
  if (MatGetTransposeNullSpace(ksp->pc->mat, &of_transpose) || of_transpose)
    return "the matrix has a transposed null space, which PETSc removes from the right-hand sides";
  return nullptr;
}

/// Of KSPMatSolveTranspose(), where the release has it.
template <class PetscKSP>
bool is_of_transposed(PetscKSP ksp) {
  if constexpr (requires { ksp->transpose.solve_requested; })
    return ksp->transpose.solve_requested;
  else
    return ksp->transpose_solve;
}

PetscErrorCode solve_one_by_one(KSP ksp, Mat B, Mat X) {
  PetscFunctionBegin;
  SolvedColumns solved;
  const auto solve_column = is_of_transposed(ksp) ? KSPSolveTranspose : KSPSolve;  // each asks anew
  for (PetscInt n = 0; n < B->cmap->N; ++n) {
    PetscCall(with_column_vectors(B, X, n, [&](Vec b, Vec x) { return solve_column(ksp, b, x); }));
    solved.note(ksp);
  }
  solved.tell(ksp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of columns [first, first + columns.size()): from where each starts, with the norm of iteration 0.
PetscErrorCode start_systems(KSP ksp, FusedSolver& f, std::span<Column> columns, Backend& on) {
  PetscFunctionBegin;
  KrylovSystems& loop = *f.systems;
  for (std::size_t k = 0; k < columns.size(); ++k)
    PetscCall(with_column(ksp, columns[k], [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(residual_of_guess(ksp, ksp->pc->mat, ksp->work[0]));
      const std::array uses{VectorUse{ksp->guess_zero ? nullptr : ksp->vec_sol}, VectorUse{ksp->work[0]}};
      PetscCall(begin_device_work(on));
      PetscCall(with_vectors(on, uses, f.buffers,
                             [&](const auto& data) { loop.set(static_cast<int>(k), data[0], data[1]); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As many at once as f.systems has.
PetscErrorCode solve_on_device(KSP ksp, FusedSolver& f, std::span<Column> columns, Backend& on) {
  PetscFunctionBegin;
  KrylovSystems& loop = *f.systems;
  std::vector<KrylovLimits> limits(static_cast<std::size_t>(loop.systems()));  // of those that have no column: none
  const KrylovSystems::Report report = [&](int system, int, const krylov_news& news) {
    if (static_cast<std::size_t>(system) < columns.size())
      columns[system].norms.push_back(static_cast<PetscReal>(news.norm));
  };
  PetscCall(start_systems(ksp, f, columns, on));
  PetscCall(guarded(comm_of_solver(ksp), [&] { loop.start(report); }));
  for (std::size_t k = 0; k < columns.size(); ++k)
    PetscCall(with_column(ksp, columns[k], [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(test(ksp, columns[k]));
      if (!ksp->reason) limits[k] = limits_of(ksp, 0);
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(guarded(comm_of_solver(ksp), [&] { loop.go_on(limits, report); }));
  PetscCall(PetscLogGpuTimeEnd());
  for (std::size_t k = 0; k < columns.size(); ++k)
    PetscCall(with_column(ksp, columns[k], [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      const KrylovRun run = loop.where(static_cast<int>(k));
      PetscCall(tell_norms(ksp, columns[k]));
      PetscCall(name_reason(ksp, f.method, run));
      PetscCall(log_flops(loop.problem(), ksp->pc->mat, run.iteration));
      PetscCall(
          with_vector(f, ksp->vec_sol, Access::write, on, [&](void* to) { loop.take_x(static_cast<int>(k), to); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_systems(KSP ksp, FusedSolver& f, const PackedMatrix& A, PetscInt count) {
  PetscFunctionBegin;
  KrylovProblem problem;
  const int systems = static_cast<int>(count);
  PetscCall(problem_of(ksp, f, nullptr, &problem));
  PetscCall(begin_device_work(A.backend()));
  PetscCall(try_to_make(ksp, f, [&] {
    if (!f.systems || f.systems->problem() != problem || f.systems->systems() != systems) {
      f.systems.reset();  // before another takes memory
      f.systems = A.backend().extensions().krylov->krylov_systems(problem, systems);
    }
    f.systems->prepare(krylov_matrix_of_systems(A), iterations_at_once);
  }));
  if (!f.why_not.empty()) f.systems.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sets `yes` where A multiplies several vectors of the host at once, on all processes.
PetscErrorCode multiplies_on_host(Mat A, Vec x, bool* yes) {
  PetscFunctionBegin;
  if (!is_compound(A)) PetscFunctionReturn(PETSC_SUCCESS);
  Operator a;
  bool device;
  PetscCall(is_on_device(x, &device));
  PetscCall(a.prepare(A, Op::none, x, 0));
  PetscCall(on_all(A, !device && a.takes_vectors() && !a.on_device(), yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How columns are solved, and how many at once.
struct Way {
  StepwiseOn where = StepwiseOn::nothing;
  PetscInt at_once = 1;
};

/// The first column stands for all.
PetscErrorCode choose_way(KSP ksp, Solver& s, const std::vector<Column>& columns, Way* way) {
  PetscFunctionBegin;
  FusedSolver& f = s.fused;
  const auto count = static_cast<PetscInt>(columns.size());
  const PetscInt groups = (count + most_krylov_systems - 1) / most_krylov_systems;
  PetscCall(with_column(ksp, columns.front(), [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    DeviceParts matrix;
    bool on_host = false;
    way->at_once = (count + groups - 1) / groups;
    PetscCall(why_not_fused(ksp, &matrix, &f.why_not));
    if (matrix.exchange) f.why_not = "devices of several processes solve for one at a time";
    if (f.why_not.empty()) PetscCall(make_systems(ksp, f, *matrix.diagonal, way->at_once));
    if (f.why_not.empty()) way->where = StepwiseOn::device;
    if (f.why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(multiplies_on_host(ksp->pc->mat, ksp->vec_sol, &on_host));
    if (on_host)
      way->where = StepwiseOn::host;
    else
      f.why_not += "; on the host products do not take several vectors";
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_at_once(KSP ksp, Solver& s, std::vector<Column>& columns, const Way& way) {
  PetscFunctionBegin;
  SolvedColumns solved;
  FusedSolver& f = s.fused;
  if (way.where == StepwiseOn::device)
    PetscCall(with_column(ksp, columns.front(), [&] { return take_input(ksp, f, *f.systems, *device_backend()); }));
  for (std::size_t first = 0; first < columns.size(); first += static_cast<std::size_t>(way.at_once)) {
    const std::size_t end = std::min(columns.size(), first + static_cast<std::size_t>(way.at_once));
    const std::span<Column> some(columns.data() + first, end - first);
    if (way.where == StepwiseOn::device)
      PetscCall(solve_on_device(ksp, f, some, *device_backend()));
    else
      PetscCall(solve_on_host(ksp, f.hermitian, some));
    for (const Column& column : some) {
      solved.note(column);
      ksp->totalits += column.its;
    }
  }
  solved.tell(ksp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As KSPSolve() checks. KSPMatSolve() of 3.26 does so, too, that of 3.18 does not. A solver within a preconditioner
/// may end at its last iteration.
PetscErrorCode check_converged(KSP ksp) {
  PetscFunctionBegin;
  const bool is_inner = object(ksp)->tablevel > 0;
  PetscCheck(!ksp->errorifnotconverged || ksp->reason >= 0 || (is_inner && ksp->reason == KSP_DIVERGED_ITS),
             PetscObjectComm(object(ksp)), PETSC_ERR_NOT_CONVERGED,
             "KSPMatSolve() has not converged for each column, reason %s", KSPConvergedReasons[ksp->reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode solve_columns(KSP ksp, Mat B, Mat X) {
  PetscFunctionBegin;
  Solver* s = nullptr;
  Way way;
  std::vector<Column> columns;
  PetscCall(solver_of(ksp, &s));
  ksp->reason = KSP_CONVERGED_ITERATING;
  if (B->cmap->N == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(together(comm_of_solver(ksp), [&] {
    for (PetscInt n = 0; n < B->cmap->N; ++n) columns.push_back({B, X, n});
  }));
  const char* why = nullptr;
  PetscCall(why_failed(ksp, &why));
  if (!why) why = why_by_columns(ksp);
  if (!why && !s->asked.empty()) why = s->asked.c_str();
  if (!why) why = s->radius ? s->radius : s->objective;
  if (!why && columns.size() == 1) why = "there is one";
  if (!why) PetscCall(choose_way(ksp, *s, columns, &way));
  s->at_once = way.where == StepwiseOn::nothing ? 1 : way.at_once;
  if (s->at_once == 1) {
    PetscCall(PetscInfo(ksp, "Right-hand sides are solved one by one: %s\n", why ? why : s->fused.why_not.c_str()));
    PetscCall(solve_one_by_one(ksp, B, X));
  } else {
    s->fused.ran = way.where == StepwiseOn::device ? FusedSolver::Ran::device_systems : FusedSolver::Ran::host_systems;
    PetscCall(solve_at_once(ksp, *s, columns, way));
  }
  PetscCall(check_converged(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
