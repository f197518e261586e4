#include "cuda/krylov_whole.hpp"

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "cuda/plan_code.hpp"
#include "cuda/runtime.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

namespace {

const void* kernel_for(const KrylovProblem& problem, const ProductTask& t, bool two_meetings) {
  const CudaCode& code = *static_cast<const CudaCode*>(t.code);
  const bool aligned = code.is_aligned(t.x) && code.is_aligned(t.y);
  return kernel_of(whole_loop_source(problem, t.plan, t.problem, t.reordered, aligned, two_meetings));
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
  return std::clamp<slot_t>(blocks_for(workers, threads), 1, current_device().multiprocessors);
}

}  // namespace

bool WholeLoop::suits(const KrylovProblem& problem, const ProductTask& t, std::size_t matrix_bytes) {
  if (problem.runner == KrylovRunner::graphs || t.plan.schedule.traversal == Traversal::slots) return false;
  if (!visits_all_rows(family_of(t.plan.layout), t.plan.layout.row_list, t.layout)) return false;
  // CG by one kernel was faster for all matrices timed, up to this size; BiCGSTAB, whose stages meet seven times an
  // iteration, as often slower as faster (docs/solvers.md).
  constexpr double most_in_caches[] = {8, 0};
  const double caches = double(matrix_bytes) / double(current_device().second_cache_bytes);
  return problem.runner != KrylovRunner::by_size || caches <= most_in_caches[static_cast<int>(problem.method)];
}

WholeLoop::WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const ProductTask& product)
    : two_meetings_(problem.runner == KrylovRunner::two_meetings && problem.method == KrylovMethod::cg),
      kernel_(kernel_for(problem, product, two_meetings_)),
      threads_(threads_for(workers_for(problem, product))),
      blocks_(blocks_at_once(workers_for(problem, product), threads_)),
      signals_(backend, static_cast<std::size_t>(signals_of(blocks_))),
      other_(backend, two_meetings_ ? static_cast<std::size_t>(problem.scalars) * bytes_of(problem.scalar) : 0) {
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
