#include "cuda/krylov_whole.hpp"

#include <algorithm>

#include "cuda/plan_code.hpp"
#include "cuda/runtime.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

namespace {

const void* kernel_for(const KrylovProblem& problem, const ProductTask& t, WholeForm form) {
  const CudaCode& code = *static_cast<const CudaCode*>(t.code);
  const bool aligned = code.is_aligned(t.x) && code.is_aligned(t.y);
  return kernel_of(whole_loop_source(problem, t.plan, t.problem, t.reordered, aligned, form));
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
slot_t blocks_at_once(slot_t workers, slot_t threads) {
  return std::clamp<slot_t>(blocks_for(workers, threads), 1,
                            std::min(current_device().multiprocessors, most_blocks_of_whole));
}

/// Bytes that the first caches of all multiprocessors hold together.
std::size_t bytes_of_first_caches() {
  return current_device().first_cache_bytes * static_cast<std::size_t>(current_device().multiprocessors);
}

/// What small matrices gain by (docs/solvers.md). Workers that share a block row all read the same of x, which goes
/// past the first caches where these keep the matrix.
WholeForm form_for(const KrylovProblem& problem, const ProductTask& t, std::size_t matrix_bytes) {
  const bool is_held = matrix_bytes <= bytes_of_first_caches();
  const bool gains_by_two = problem.runner == KrylovRunner::automatic && matrix_bytes <= bytes_of_first_caches() / 3;
  const bool fewer = problem.runner == KrylovRunner::persistent2 || gains_by_two;
  return {.two_grid_syncs = fewer && problem.method == KrylovMethod::cg,
          .keeps_words = is_held && t.plan.schedule.traversal == Traversal::rows};
}

}  // namespace

bool WholeLoop::suits(const KrylovProblem& problem, const ProductTask& t, std::size_t matrix_bytes) {
  if (problem.runner == KrylovRunner::graphs || t.plan.schedule.traversal == Traversal::slots) return false;
  if (!visits_all_rows(family_of(t.plan.layout), t.plan.layout.row_list, t.layout)) return false;
  // Of CG, and of BiCGSTAB, which has six grid synchronizations an iteration: up to these sizes one kernel was
  // faster (docs/solvers.md).
  const std::size_t second_cache = current_device().second_cache_bytes, most[] = {8 * second_cache, second_cache};
  return problem.runner != KrylovRunner::automatic || matrix_bytes <= most[static_cast<int>(problem.method)];
}

WholeLoop::WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const ProductTask& product,
                     std::size_t matrix_bytes)
    : form_(form_for(problem, product, matrix_bytes)),
      kernel_(kernel_for(problem, product, form_)),
      threads_(threads_for(workers_for(problem, product))),
      blocks_(blocks_at_once(workers_for(problem, product), threads_)),
      signals_(backend, static_cast<std::size_t>(signals_of(blocks_))),
      other_(backend, form_.two_grid_syncs ? static_cast<std::size_t>(problem.scalars) * bytes_of(problem.scalar) : 0) {
  if (form_.keeps_words)
    check(cudaFuncSetAttribute(kernel_, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1),
          "asking for a large first cache");
  check(cudaMemsetAsync(signals_.data(), 0, signals_.bytes(), queue), "clearing signals");
  args_.product = args_of(product);
  args_.signals = signals_.data();
  args_.other = other_.data();
}

void WholeLoop::launch(cudaStream_t queue, const krylov_args& loop) {
  args_.loop = loop;
  void* arguments[] = {&args_};
  check(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks_)),
                                    dim3(static_cast<unsigned>(threads_)), arguments, 0, queue),
        "launching a loop");
}

}  // namespace compound::cuda
