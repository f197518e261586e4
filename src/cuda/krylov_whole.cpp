#include "cuda/krylov_whole.hpp"

#include <algorithm>

#include "cuda/plan_code.hpp"
#include "cuda/runtime.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

namespace {

LoopProduct loop_product(const ProductTask& t) {
  const CudaCode& code = *static_cast<const CudaCode*>(t.code);
  return {t.plan, t.problem, t.reordered, code.is_aligned(t.x) && code.is_aligned(t.y)};
}

const void* kernel_for(const KrylovProblem& problem, const WholeLoop::Matrix& matrix, WholeForm form) {
  const std::optional<LoopProduct> by_ghosts =
      matrix.by_ghosts ? std::optional(loop_product(*matrix.by_ghosts)) : std::nullopt;
  return kernel_of(whole_loop_source(problem, loop_product(matrix.own), by_ghosts ? &*by_ghosts : nullptr, form));
}

slot_t workers_for(const KrylovProblem& problem, const ProductTask& t) {
  return std::max(workers_of(t.plan, t.problem, t.op, t.layout), problem.scalars);
}

/// Of a block: fewer than there can be where all multiprocessors would not have work else.
slot_t threads_for(slot_t workers) {
  constexpr slot_t warp = 32, least = 256, most = threads_of_whole_loop;
  return std::clamp(blocks_for(blocks_for(workers, current_device().multiprocessors), warp) * warp, least, most);
}

/// As many as are on the device at once, and have work: one a multiprocessor.
slot_t blocks_at_once(const KrylovProblem& problem, slot_t workers, slot_t threads) {
  const int processes = problem.peers ? problem.peers->processes() : 1;
  return std::clamp<slot_t>(blocks_for(workers, threads), 1,
                            std::min(current_device().multiprocessors, most_blocks_of_whole / processes));
}

/// Bytes that the first caches of all multiprocessors hold together.
std::size_t bytes_of_first_caches() {
  return current_device().first_cache_bytes * static_cast<std::size_t>(current_device().multiprocessors);
}

/// What small matrices gain by (docs/solvers.md). Workers that share a block row all read the same of x, which goes
/// past the first caches where these keep the matrix.
WholeForm form_for(const KrylovProblem& problem, const WholeLoop::Matrix& matrix) {
  const bool is_held = matrix.bytes <= bytes_of_first_caches();
  const bool gains_by_two = problem.runner == KrylovRunner::automatic && matrix.bytes <= bytes_of_first_caches() / 3;
  const bool fewer = problem.runner == KrylovRunner::persistent2 || gains_by_two;
  return {.two_grid_syncs = fewer && problem.method == KrylovMethod::cg,
          .keeps_words = is_held && matrix.own.plan.schedule.traversal == Traversal::rows};
}

/// Whether each row has its workers.
bool goes_by_rows(const ProductTask& t) {
  return t.plan.schedule.traversal != Traversal::slots && !goes_by_patches(t.plan);
}

}  // namespace

bool WholeLoop::suits(const Matrix& matrix) {
  const ProductTask& t = matrix.own;
  return goes_by_rows(t) && visits_all_rows(family_of(t.plan.layout), t.plan.layout.row_list, t.layout) &&
         (!matrix.by_ghosts || goes_by_rows(*matrix.by_ghosts));
}

bool WholeLoop::gains(const KrylovProblem& problem, std::size_t matrix_bytes) {
  // In second caches, of CG and of BiCGSTAB, which has six grid synchronizations an iteration: up to these sizes one
  // kernel was faster, of one process and of several (docs/solvers.md).
  constexpr std::size_t most[] = {8, 4};
  const std::size_t caches = most[static_cast<int>(problem.method)];
  if (problem.runner == KrylovRunner::graphs) return false;
  return problem.runner != KrylovRunner::automatic || matrix_bytes <= caches * current_device().second_cache_bytes;
}

WholeLoop::WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const Matrix& matrix)
    : form_(form_for(problem, matrix)),
      kernel_(kernel_for(problem, matrix, form_)),
      threads_(threads_for(workers_for(problem, matrix.own))),
      blocks_(blocks_at_once(problem, workers_for(problem, matrix.own), threads_)),
      syncs_(backend, 1),
      places_(backend, problem.peers ? 0 : static_cast<std::size_t>(signals_of_places(blocks_))),
      other_(backend, form_.two_grid_syncs ? static_cast<std::size_t>(problem.scalars) * bytes_of(problem.scalar) : 0) {
  if (form_.keeps_words)
    check(cudaFuncSetAttribute(kernel_, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1),
          "asking for a large first cache");
  for (const Buffer<signal>* const signals : {&syncs_, &places_})
    check(cudaMemsetAsync(signals->data(), 0, signals->bytes(), queue), "clearing signals");
  args_.product = args_of(matrix.own);
  args_.syncs = syncs_.data();
  args_.places = places_.data();
  args_.other = other_.data();
}

void WholeLoop::join(Backend& backend, const KrylovProblem& problem, const Matrix& matrix,
                     const PeerExchange& exchange) {
  peers_.emplace(backend, problem, exchange, matrix.by_ghosts, blocks_, form_.two_grid_syncs);
  args_.peers = peers_->args();
}

void WholeLoop::launch(cudaStream_t queue, const krylov_args& loop) {
  args_.loop = loop;
  void* arguments[] = {&args_};
  check(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks_)),
                                    dim3(static_cast<unsigned>(threads_)), arguments, 0, queue),
        "launching a loop");
}

}  // namespace compound::cuda
