#include "ksp/columns_on_host.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <span>
#include <utility>

#include "ksp/host_passes.hpp"
#include "ksp/stepwise.hpp"
#include "petsc/agree.hpp"
#include "spgemm/dense_product.hpp"

namespace compound::plugin {

namespace {

/// A column that is under way, and its numbers.
struct Running {
  Column* column;
  PetscScalar rho = 0, before = 1;  ///< z^H r, of this iteration and the one before
  PetscScalar alpha = 0, beta = 0;
  PetscScalar curvature = 0, last_curvature = 0;  ///< p^H A p
  PetscScalar pending = 0;                        ///< of x, which lags behind
};

/// The textbook's, in two passes and two sums over processes an iteration, as TwoReductions (stepwise_cg.cpp) for one
/// column. Running columns have the first places of R, Z and P; W = A P is where Z was.
class HostColumns {
 public:
  HostColumns(KSP ksp, bool hermitian, std::span<Column> columns)
      : ksp_(ksp), hermitian_(hermitian), columns_(columns), X_(columns.front().X) {}
  HostColumns(const HostColumns&) = delete;
  ~HostColumns() { static_cast<void>(destroy_matrices()); }  // where an error has ended it

  PetscErrorCode solve() {
    PetscFunctionBegin;
    PetscCall(begin());
    for (PetscInt i = 0; !running_.empty(); ++i) {
      PetscCall(begin_iteration(i));
      if (running_.empty()) break;
      PetscCall(turn());
      PetscCall(multiply());
      PetscCall(curve(i));
      PetscCall(step());
      for (Running& c : running_) PetscCall(note_norm(c));
      PetscCall(drop_stopped());
      for (Running& c : running_)
        if (i + 1 >= ksp_->max_it) c.column->reason = KSP_DIVERGED_ITS;
      PetscCall(drop_stopped());
    }
    PetscCall(destroy_matrices());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  enum Which { r, z, p };

  PetscScalar* vector(Which which, std::size_t place) {
    return memory_[which].data() + place * static_cast<std::size_t>(rows_);
  }

  PetscErrorCode begin() {
    PetscFunctionBegin;
    A_ = ksp_->pc->mat;
    rows_ = A_->rmap->n;
    bool diagonal;
    PetscCall(has_diagonal(ksp_, &diagonal));
    if (diagonal) {
      d_ = ksp_->work[0];
      PetscCall(with_column(ksp_, columns_.front(), [&] { return take_diagonal(ksp_, d_); }));
    }
    PetscCall(MatGetNullSpace(A_, &null_space_));
    PetscCall(together(comm_of_solver(ksp_), [&] {
      for (Column& column : columns_) running_.push_back({&column});
      for (auto& memory : memory_) memory.assign(running_.size() * static_cast<std::size_t>(rows_), 0);
      sums_of_process_.resize(running_.size());
      sums_.resize(running_.size());
    }));
    PetscCall(make_room_for_norms());
    PetscCall(make_matrices());
    for (std::size_t k = 0; k < running_.size(); ++k)
      PetscCall(with_column_vector(matrices_[r], static_cast<PetscInt>(k), [&](Vec residual) {
        return with_column(ksp_, *running_[k].column, [&] { return residual_of_guess(ksp_, A_, residual); });
      }));
    PetscCall(step());
    for (Running& c : running_) PetscCall(note_norm(c));
    PetscCall(drop_stopped());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// On all processes before any of them waits for the others in a sum.
  PetscErrorCode make_room_for_norms() {
    constexpr std::size_t at_once = 1024;
    PetscFunctionBegin;
    const std::size_t there = running_.front().column->norms.size();
    if (there % at_once > 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(together(comm_of_solver(ksp_), [&] {
      for (Running& c : running_) c.column->norms.reserve(there + at_once);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Reasons to stop that PETSc's CG finds before the product.
  PetscErrorCode begin_iteration(PetscInt i) {
    PetscFunctionBegin;
    PetscCall(make_room_for_norms());
    for (Running& c : running_) {
      const bool turned = !PetscDefined(USE_COMPLEX) && i > 0 && PetscRealPart(c.rho) * PetscRealPart(c.before) < 0;
      c.column->its = i + 1;
      if (c.rho == PetscScalar(0))
        c.column->reason = KSP_CONVERGED_ATOL;
      else if (turned)
        c.column->reason = KSP_DIVERGED_INDEFINITE_PC;
      c.beta = i > 0 ? c.rho / c.before : PetscScalar(0);
    }
    PetscCall(drop_stopped());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x += alpha p of the iteration before, p = z + beta p.
  PetscErrorCode turn() {
    PetscFunctionBegin;
    PetscCall(with_solutions([&](const auto& solution) {
      for (std::size_t k = 0; k < running_.size(); ++k) {
        Running& c = running_[k];
        run(VectorPass::cg_turn, {vector(z, k), solution(c), vector(p, k)}, {c.pending, c.beta});
        c.pending = 0;
      }
    }));
    PetscCall(log_flops(VectorPass::cg_turn, {1, 1}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply() {
    PetscFunctionBegin;
    PetscCall(multiply_dense(A_, Op::none, matrices_[p], matrices_[z]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode curve(PetscInt i) {
    PetscFunctionBegin;
    PetscCall(add_up([&](std::size_t k) {
      return run(VectorPass::cg_sums, {vector(p, k), vector(z, k), vector(z, k)});
    }));
    PetscCall(PetscLogFlops(2.0 * static_cast<double>(running_.size()) * rows_));
    for (std::size_t k = 0; k < running_.size(); ++k) {
      Running& c = running_[k];
      c.last_curvature = c.curvature;
      c.curvature = petsc_scalar(sums_[k][0]);
      c.before = c.rho;
      const bool turned = i > 0 && have_opposite_signs(PetscRealPart(c.curvature), PetscRealPart(c.last_curvature));
      if (PetscIsInfOrNanScalar(c.curvature))
        c.column->reason = KSP_DIVERGED_NANORINF;
      else if (c.curvature == PetscScalar(0) || turned)
        c.column->reason = indefinite_matrix(ksp_);
      else
        c.pending = c.alpha = c.rho / c.curvature;
    }
    PetscCall(drop_stopped());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// r -= alpha w, z = M r; rho and the norm.
  PetscErrorCode step() {
    PetscFunctionBegin;
    const PetscScalar* d = nullptr;
    if (d_) PetscCall(VecGetArrayRead(d_, &d));
    if (!d_) PetscCall(precondition());
    PetscCall(add_up([&](std::size_t k) {
      const PetscScalar alpha = d_ ? running_[k].alpha : PetscScalar(0);  // else r has moved
      return run(VectorPass::cg_step, {const_cast<PetscScalar*>(d), vector(z, k), vector(r, k)}, {alpha},
                 d_ != nullptr);
    }));
    if (d_) PetscCall(VecRestoreArrayRead(d_, &d));
    PetscCall(log_flops(VectorPass::cg_step, {1}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode precondition() {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < running_.size(); ++k)
      if (running_[k].alpha != PetscScalar(0))
        run(VectorPass::bcgs_half, {vector(z, k), vector(r, k)}, {running_[k].alpha});
    PetscCall(PCMatApply(ksp_->pc, matrices_[r], matrices_[z]));
    for (PetscInt k = 0; null_space_ && k < static_cast<PetscInt>(running_.size()); ++k)
      PetscCall(with_column_vector(matrices_[z], k, [&](Vec v) { return MatNullSpaceRemove(null_space_, v); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// By the sums of a step.
  PetscErrorCode note_norm(Running& c) {
    PetscFunctionBegin;
    const PassSums& sums = sums_[static_cast<std::size_t>(&c - running_.data())];
    c.rho = petsc_scalar(sums[0]);
    c.column->norms.push_back(norm_of(ksp_, sums));
    PetscCall(with_column(ksp_, *c.column, [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(test(ksp_, *c.column));
      if (!ksp_->reason) KSPCheckDot(ksp_, c.rho);
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Columns that have stopped get their x; the others have the first places then, and products as many columns.
  PetscErrorCode drop_stopped() {
    PetscFunctionBegin;
    const auto is_over = [](const Running& c) { return c.column->reason != KSP_CONVERGED_ITERATING; };
    if (std::ranges::none_of(running_, is_over)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(with_solutions([&](const auto& solution) {
      for (std::size_t k = 0; k < running_.size(); ++k)
        if (const Running& c = running_[k]; is_over(c) && c.pending != PetscScalar(0))
          // x += pending p, by a pass that subtracts
          run(VectorPass::bcgs_half, {vector(p, k), solution(c)}, {-c.pending});
    }));
    for (std::size_t k = 0; k < running_.size();) {
      const std::size_t last = running_.size() - 1;
      if (!is_over(running_[k])) {
        ++k;
        continue;
      }
      if (k != last)
        for (const Which v : {r, z, p}) std::copy_n(vector(v, last), rows_, vector(v, k));
      running_[k] = running_[last];
      sums_[k] = sums_[last];
      running_.pop_back();
    }
    if (!running_.empty()) PetscCall(make_matrices());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Of the running columns.
  PetscErrorCode make_matrices() {
    PetscFunctionBegin;
    PetscCall(destroy_matrices());
    for (const Which which : {r, z, p}) {
      PetscCall(MatCreateDense(comm_of_solver(ksp_), rows_, PETSC_DECIDE, A_->rmap->N,
                               static_cast<PetscInt>(running_.size()), memory_[which].data(), &matrices_[which]));
      PetscCall(MatAssemblyBegin(matrices_[which], MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(matrices_[which], MAT_FINAL_ASSEMBLY));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Each once, whatever becomes of the others: what PETSc could not destroy must not be destroyed again.
  PetscErrorCode destroy_matrices() {
    PetscFunctionBegin;
    PetscErrorCode first = PETSC_SUCCESS;
    for (Mat& m : matrices_) {
      Mat destroyed = std::exchange(m, nullptr);
      const PetscErrorCode code = MatDestroy(&destroyed);
      if (!first) first = code;
    }
    PetscCall(first);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// f(solution), where solution(a running column) is its x. X may have more scalars than a PetscInt counts.
  template <class F>
  PetscErrorCode with_solutions(const F& f) {
    PetscFunctionBegin;
    PetscScalar* x;
    PetscInt apart;
    PetscCall(MatDenseGetLDA(X_, &apart));
    PetscCall(MatDenseGetArray(X_, &x));
    f([&](const Running& c) { return x + std::ptrdiff_t{c.column->number} * apart; });
    PetscCall(MatDenseRestoreArray(X_, &x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PassSums run(VectorPass pass, std::initializer_list<PetscScalar*> vectors,
               std::initializer_list<PetscScalar> numbers = {}, bool diagonal = false) const {
    HostPass h{pass, hermitian_, diagonal, slot_t{rows_}, {}, {}};
    std::ranges::copy(vectors, h.vectors.begin());
    std::ranges::transform(numbers, h.numbers.begin(), [](PetscScalar n) { return std::bit_cast<Scalar>(n); });
    return run_on_host(h);
  }

  /// sums_: of f(place) for each running column, over all processes.
  template <class F>
  PetscErrorCode add_up(const F& f) {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < running_.size(); ++k) sums_of_process_[k] = f(k);
    PetscCallMPI(MPI_Allreduce(sums_of_process_.data(), sums_.data(),
                               static_cast<int>(running_.size()) * most_pass_sums, MPIU_SCALAR, MPIU_SUM,
                               comm_of_solver(ksp_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode log_flops(VectorPass pass, const PassNumbers& numbers) const {
    PetscFunctionBegin;
    PetscCall(PetscLogFlops(static_cast<double>(flops_of(ksp_, pass, d_ != nullptr, numbers)) *
                            static_cast<double>(running_.size()) * static_cast<double>(rows_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  KSP ksp_;
  bool hermitian_;
  std::span<Column> columns_;
  Mat A_ = nullptr, X_;
  Vec d_ = nullptr;  ///< Jacobi's, in a work vector that columns do not use
  MatNullSpace null_space_ = nullptr;
  PetscInt rows_ = 0;
  std::vector<Running> running_;
  std::vector<PassSums> sums_of_process_, sums_;  ///< of running columns, with room for all
  std::vector<PetscScalar> memory_[3];            ///< [places][rows]
  Mat matrices_[3] = {};                          ///< over it
};

}  // namespace

PetscErrorCode solve_on_host(KSP ksp, bool hermitian, std::span<Column> columns) {
  PetscFunctionBegin;
  {
    HostColumns host(ksp, hermitian, columns);
    PetscCall(host.solve());
  }
  for (Column& column : columns) {
    const KSPConvergedReason reason = column.reason;
    const PetscInt its = column.its;
    PetscCall(with_column(ksp, column, [&] { return tell_norms(ksp, column); }));
    if (!column.reason) column.reason = reason;
    column.its = its;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace compound::plugin
