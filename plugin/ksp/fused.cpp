#include "ksp/fused.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <limits>

#include "ksp/watched.hpp"
#include "mat/attach.hpp"
#include "options/options.hpp"
#include "pc/diagonal_blocks.hpp"
#include "petsc/agree.hpp"
#include "spmv/operator.hpp"
#include "spmv/placement.hpp"
#include "spmv/refresh.hpp"
#include "storage/krylov_matrix.hpp"

namespace compound::plugin {

namespace {

/// Iterations that are queued before the host looks at the norms: enough to hide that, few enough that what is queued
/// beyond the end costs little.
constexpr int iterations_at_once = 8;

}  // namespace

const char* why_not_solver(KSP ksp) {
  if (ksp->transpose_solve) return "the transposed system is solved";
  if (ksp->chknorm > 0) return "norms are not checked from the first iteration on (-ksp_check_norm_iteration)";
  if (ksp->lagnorm) return "norms are lagged (-ksp_lag_norm)";
  if (ksp->pc_side != PC_LEFT) return "the preconditioner is not on the left";
  return nullptr;
}

PetscErrorCode why_failed(KSP ksp, const char** why) {
  PetscFunctionBegin;
  PCFailedReason of_pc;
  bool sound = false;
  PetscCall(PCGetFailedReason(ksp->pc, &of_pc));
  PetscCall(on_all(ksp->pc->mat, !of_pc && ksp->reason == KSP_CONVERGED_ITERATING, &sound));
  *why = sound ? nullptr : "the preconditioner failed";
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode why_not_preconditioner(PC pc, std::string* why) {
  PetscFunctionBegin;
  PetscInt columns = 0;
  if (!diagonal_blocks_of(pc)) {
    const char* const type = reinterpret_cast<PetscObject>(pc)->type_name;
    *why = "preconditioner " + std::string(type ? type : "(none)") +
           "; none, " PCJACOBI ", " PCPBJACOBI " and " PCPBJACOBICOMPOUND " are fused";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(columns_of_blocks(pc, &columns));
  if (columns > most_krylov_columns)
    *why = "the preconditioner's blocks are larger than " + std::to_string(most_krylov_columns) + "x" +
           std::to_string(most_krylov_columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc takes out of whatever it has preconditioned, or why a loop cannot.
PetscErrorCode null_space_of(Mat A, NullSpace* size, std::string* why) {
  PetscFunctionBegin;
  MatNullSpace space = nullptr;
  PetscBool constant = PETSC_FALSE;
  PetscInt vectors = 0;
  PetscCall(MatGetNullSpace(A, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &vectors, nullptr));
  *size = {constant == PETSC_TRUE, static_cast<int>(std::min<PetscInt>(vectors, most_null_vectors))};
  if (space && space->remove)
    *why = "a function removes the matrix's null space (MatNullSpaceSetFunction)";
  else if (vectors + (constant ? 1 : 0) > most_null_vectors)
    *why = "the matrix's null space has more than " + std::to_string(most_null_vectors) + " vectors";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products follow the vectors, unless the options of a compound matrix say otherwise.
PetscErrorCode why_on_host(Mat A, Vec x, std::string* why) {
  PetscFunctionBegin;
  Settings* settings = nullptr;
  bool on_device;
  PetscCall(is_on_device(x, &on_device));
  if (is_compound(A)) {
    MemorySpace place;
    PetscCall(settings_of(A, &settings));
    PetscCall(read_options_once(A, *settings));
    PetscCall(space_of_product(A, *settings, x, &place));
    if (place == MemorySpace::device) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!on_device)
    *why = "the vectors are on the host";
  else if (settings && is_bound(A))
    *why = "the matrix is bound to the host (MatBindToCPU)";
  else if (settings)
    *why = "products run on the host (-mat_compound_backend " + get(*settings, "backend") + ")";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What only the matrix's type and null space tell, and so all processes.
PetscErrorCode why_not_type(Mat A, std::string* why) {
  PetscFunctionBegin;
  NullSpace null_space;
  if (!is_compound(A))
    *why = "a matrix of type " + std::string(type_of(A)) + "; fused are " MATBAIJCOMPOUND " and " MATAIJCOMPOUND;
  else
    PetscCall(null_space_of(A, &null_space, why));
  if (why->empty() && A->rmap->N == 0) *why = "the matrix has no rows";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode why_not_matrix(Mat A, Vec x, DeviceParts* matrix, std::string* why) {
  PetscFunctionBegin;
  if (is_seq_compound(A)) {
    PetscCall(device_copy(A, &matrix->diagonal));
    if (!matrix->diagonal) *why = no_packed_storage;
  } else {
    PetscCall(agree_on_reason(A, why, [&] { return parts_on_device(A, Op::none, x, matrix, why); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The preconditioner's blocks column by column: it is applied to vectors that are 1 in one component of each block.
PetscErrorCode take_factors(KSP ksp, FusedSolver& f, KrylovInput& to, Backend& on) {
  PetscFunctionBegin;
  const KrylovProblem& p = to.problem();
  const std::size_t bytes = static_cast<std::size_t>(p.scalars) * sizeof(Scalar);
  for (int k = 0; k < p.columns; ++k) {
    PetscCall(with_vector(f, ksp->work[0], Access::write, on, [&](void* unit) { to.set_unit(k, unit); }));
    PetscCall(PCApply(ksp->pc, ksp->work[0], ksp->work[1]));
    PetscCall(with_vector(f, ksp->work[1], Access::read, on, [&](const void* from) {
      on.copy(static_cast<std::byte*>(to.factors()) + static_cast<std::size_t>(k) * bytes, from, bytes);
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_null_space(Mat A, FusedSolver& f, KrylovInput& to, Backend& on) {
  PetscFunctionBegin;
  const KrylovProblem& p = to.problem();
  const std::size_t bytes = static_cast<std::size_t>(p.scalars) * sizeof(Scalar);
  MatNullSpace space = nullptr;
  const Vec* vectors = nullptr;
  PetscCall(MatGetNullSpace(A, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, nullptr, nullptr, &vectors));
  for (int k = 0; k < p.null_space.vectors; ++k)
    PetscCall(with_vector(f, vectors[k], Access::read, on, [&](const void* from) {
      on.copy(static_cast<std::byte*>(to.null_space()) + static_cast<std::size_t>(k) * bytes, from, bytes);
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_solution(KSP ksp, FusedSolver& f, Backend& on) {
  PetscFunctionBegin;
  PetscCall(with_vector(f, ksp->vec_sol, Access::write, on, [&](void* to) { f.loop->take_x(to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A loop's own reasons to stop: PETSc's CG tells of them in the iteration that finds them, its BiCGSTAB in the one
/// before.
struct StopRow {
  KrylovStop stop;
  KSPConvergedReason reason;
};
constexpr StopRow stops[] = {{KrylovStop::no_residual, KSP_CONVERGED_ATOL},
                             {KrylovStop::indefinite_preconditioner, KSP_DIVERGED_INDEFINITE_PC},
                             {KrylovStop::indefinite_matrix, KSP_DIVERGED_INDEFINITE_MAT},
                             {KrylovStop::breakdown, KSP_DIVERGED_BREAKDOWN},
                             {KrylovStop::breakdown_after, KSP_DIVERGED_BREAKDOWN},
                             {KrylovStop::exact, KSP_CONVERGED_RTOL},
                             {KrylovStop::not_a_number, KSP_DIVERGED_NANORINF},
                             {KrylovStop::not_a_number_after, KSP_DIVERGED_NANORINF}};

}  // namespace

PetscErrorCode name_reason(KSP ksp, KrylovMethod method, const KrylovRun& run) {
  PetscFunctionBegin;
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  const bool is_of_norm = run.stop == KrylovStop::breakdown_after || run.stop == KrylovStop::not_a_number_after;
  if (run.iteration >= std::max<PetscInt>(1, ksp->max_it) && !is_of_norm) {
    ksp->reason = KSP_DIVERGED_ITS;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto* const row = std::ranges::find(stops, run.stop, &StopRow::stop);
  if (row == std::end(stops)) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->reason = run.stop == KrylovStop::indefinite_matrix ? indefinite_matrix(ksp) : row->reason;
  ksp->its = run.iteration + (method == KrylovMethod::cg && !is_of_norm ? 1 : 0);
  if (run.stop == KrylovStop::exact) PetscCall(end_exactly(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

KrylovLimits limits_of(KSP ksp, int iteration) {
  KrylovLimits l;
  l.below = ksp->converged == KSPConvergedDefault ? static_cast<double>(ksp->ttol) : -1;
  l.above = ksp->converged == KSPConvergedDefault ? static_cast<double>(ksp->divtol * ksp->rnorm0)
                                                  : std::numeric_limits<double>::infinity();
  const PetscInt most = std::min<PetscInt>(std::max<PetscInt>(1, ksp->max_it), std::numeric_limits<int>::max() / 2);
  l.most = is_watched(ksp) ? iteration + 1 : static_cast<int>(most);
  return l;
}

namespace {

KrylovNorm norm_of(KSP ksp) {
  switch (ksp->normtype) {
    case KSP_NORM_UNPRECONDITIONED:
      return KrylovNorm::unpreconditioned;
    case KSP_NORM_NATURAL:
      return KrylovNorm::natural;
    case KSP_NORM_NONE:
      return KrylovNorm::none;
    default:
      return KrylovNorm::preconditioned;
  }
}

}  // namespace

PetscErrorCode problem_of(KSP ksp, FusedSolver& f, Peers* peers, KrylovProblem* problem) {
  PetscFunctionBegin;
  PetscInt columns, scalars, all_scalars;
  NullSpace null_space;
  PetscCall(columns_of_blocks(ksp->pc, &columns));
  PetscCall(null_space_of(ksp->pc->mat, &null_space, &f.why_not));
  PetscCall(VecGetLocalSize(ksp->vec_sol, &scalars));
  PetscCall(VecGetSize(ksp->vec_sol, &all_scalars));
  *problem = {f.method,        scalar_type_of<Scalar>(),
              slot_t{scalars}, static_cast<int>(columns),
              norm_of(ksp),    f.hermitian,
              f.runner,        null_space,
              peers,           slot_t{all_scalars}};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode try_to_make(KSP ksp, FusedSolver& f, const std::function<void()>& make) {
  PetscFunctionBegin;
  bool enough;
  PetscCall(guarded_memory(comm_of_solver(ksp), &enough, [&] {
    try {
      make();
    } catch (const error& e) {
      f.why_not = e.what();
    }
  }));
  if (!enough) f.why_not = "the device's memory is full";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_input(KSP ksp, FusedSolver& f, KrylovInput& to, Backend& on) {
  PetscFunctionBegin;
  PetscCall(take_factors(ksp, f, to, on));
  PetscCall(take_null_space(ksp->pc->mat, f, to, on));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode make_loop(KSP ksp, FusedSolver& f, const DeviceParts& of) {
  PetscFunctionBegin;
  KrylovProblem problem;
  PetscCall(problem_of(ksp, f, of.peers().get(), &problem));
  const KrylovLoop::Matrix matrix = of.exchange ? krylov_matrix_of_peers(of) : krylov_matrix(*of.diagonal);
  const auto make = [&] {
    if (!f.loop || f.loop->problem() != problem) {
      f.loop.reset();  // before another takes memory
      f.peers = of.peers();
      f.loop = of.backend().extensions().krylov->krylov_loop(problem);
    }
    f.loop->prepare(matrix, is_watched(ksp) ? 1 : iterations_at_once);
  };
  PetscCall(agree_on_reason(ksp->pc->mat, &f.why_not, [&] { return try_to_make(ksp, f, make); }));
  if (!f.why_not.empty()) f.loop.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc's methods do to a scalar, in flops.
struct WorkRow {
  int products;  ///< an iteration, each with the preconditioner
  int vectors;   ///< an iteration's updates and inner products but for a norm that is not one of them
  int saved;     ///< of these in the first iteration
  bool starts;   ///< the loop preconditions the first residual, too
};
constexpr WorkRow work[] = {{1, 10, 2, true}, {2, 20, 0, false}};

}  // namespace

PetscErrorCode log_flops(const KrylovProblem& p, Mat A, int iterations) {
  PetscFunctionBegin;
  PetscLogDouble of_product;
  const WorkRow& row = work[static_cast<int>(p.method)];
  const int of_preconditioner = p.columns > 0 ? 2 * p.columns - 1 : 0;
  const int of_null_space = 4 * p.null_space.vectors + (p.null_space.constant ? 2 : 0);
  const int of_M = of_preconditioner + of_null_space;
  const bool has_norm = p.norm == KrylovNorm::preconditioned || p.norm == KrylovNorm::unpreconditioned;
  const int of_start = (row.starts ? of_M : 0) + (p.norm == KrylovNorm::none ? 0 : 2);
  const double of_iteration = row.vectors + row.products * of_M + (has_norm ? 2 : 0);
  const double of_scalar = of_start + iterations * of_iteration - (iterations > 0 ? row.saved : 0);
  PetscCall(flops_of_product(A, &of_product));
  const PetscLogDouble flops = iterations * row.products * of_product + of_scalar * static_cast<double>(p.scalars);
  PetscCall(PetscDefined(HAVE_DEVICE) ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// From then on a device waits for other devices alone.
PetscErrorCode wait_for_hosts(KSP ksp, const FusedSolver& f) {
  PetscFunctionBegin;
  if (f.peers) PetscCallMPI(MPI_Barrier(comm_of_solver(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Iterations until PETSc has a reason to stop.
PetscErrorCode iterate(KSP ksp, FusedSolver& f, Mat A, Backend& on) {
  PetscFunctionBegin;
  PetscErrorCode code = PETSC_SUCCESS;
  KrylovRun run;
  PetscReal growth = 0;  // of the direction that the next step goes
  const KrylovLoop::Report report = [&](int iteration, const krylov_news& news) {
    if (iteration > 0 && !ksp->reason) f.lanczos.note(iteration - 1, PetscReal(news.inverse_step), growth);
    growth = PetscReal(news.growth);
    if (code == PETSC_SUCCESS && is_watched(ksp)) code = take_solution(ksp, f, on);
    if (code == PETSC_SUCCESS) code = report_norm(ksp, iteration, static_cast<PetscReal>(news.norm));
  };
  const std::array uses{VectorUse{ksp->guess_zero ? nullptr : ksp->vec_sol}, VectorUse{ksp->work[0]}};
  PetscCall(wait_for_hosts(ksp, f));
  PetscCall(
      with_vectors(on, uses, f.buffers, [&](const auto& data) { run = f.loop->start(data[0], data[1], report); }));
  PetscCall(code);
  while (!ksp->reason && (run.stop <= KrylovStop::iterations)) {
    const KrylovLimits limits = limits_of(ksp, run.iteration);
    PetscCall(wait_for_hosts(ksp, f));
    const bool alone = !is_watched(ksp);  // others may time what they do themselves
    if (alone) PetscCall(PetscLogGpuTimeBegin());
    PetscCall(guarded(comm_of_solver(ksp), [&] { run = f.loop->go_on(limits, report); }));
    if (alone) PetscCall(PetscLogGpuTimeEnd());
    PetscCall(code);
    PetscCall(name_reason(ksp, f.method, run));
  }
  PetscCall(name_reason(ksp, f.method, run));
  PetscCall(log_flops(f.loop->problem(), A, run.iteration));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode why_not_fused(KSP ksp, DeviceParts* matrix, std::string* why) {
  PetscFunctionBegin;
  Mat A;
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  why->clear();
  PetscCall(agree_on_reason(A, why, [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(why_on_host(A, ksp->vec_sol, why));
    if (why->empty()) PetscCall(why_not_preconditioner(ksp->pc, why));
    if (why->empty()) PetscCall(why_not_type(A, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (why->empty()) PetscCall(why_not_matrix(A, ksp->vec_sol, matrix, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_fused(KSP ksp, FusedSolver& f, const DeviceParts& matrix) {
  PetscFunctionBegin;
  Mat A;
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  PetscCall(begin_device_work(matrix.backend()));
  PetscCall(make_loop(ksp, f, matrix));
  if (!f.why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_input(ksp, f, *f.loop, matrix.backend()));
  PetscCall(first_residual(ksp, f.method == KrylovMethod::bcgs, A, ksp->work[0]));
  PetscCall(begin_device_work(matrix.backend()));
  PetscCall(iterate(ksp, f, A, matrix.backend()));
  PetscCall(take_solution(ksp, f, matrix.backend()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_residual(FusedSolver& f, Vec to) {
  PetscFunctionBegin;
  PetscCall(with_vector(f, to, Access::write, *device_backend(), [&](void* data) { f.loop->take_residual(data); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
