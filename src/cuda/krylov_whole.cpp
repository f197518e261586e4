#include "cuda/krylov_whole.hpp"

#include <algorithm>

#include "cuda/kernel_source.hpp"
#include "cuda/plan_code.hpp"
#include "cuda/runtime.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

namespace {

constexpr int threads = threads_of_whole_loop;

const void* kernel_for(const KrylovProblem& problem, const ProductTask& t) {
  const CudaCode& code = *static_cast<const CudaCode*>(t.code);
  return kernel_of(
      whole_loop_source(problem, t.plan, t.problem, t.reordered, code.is_aligned(t.x) && code.is_aligned(t.y)));
}

/// As many as are on the device at once, and have work.
slot_t blocks_for(const void* kernel, const KrylovProblem& problem, const ProductTask& t) {
  int of_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_multiprocessor, kernel, threads, 0), "asking for room");
  const slot_t workers = std::max(workers_of(t.plan, t.problem, t.op, t.layout), problem.scalars);
  return std::clamp<slot_t>((workers + threads - 1) / threads, 1,
                            slot_t{of_multiprocessor} * current_device().multiprocessors);
}

}  // namespace

bool WholeLoop::suits(const KrylovProblem& problem, const ProductTask& t, std::size_t matrix_bytes) {
  if (problem.runner == KrylovRunner::graphs || t.plan.schedule.traversal == Traversal::slots) return false;
  if (!visits_all_rows(family_of(t.plan.layout), t.plan.layout.row_list, t.layout)) return false;
  // CG by one kernel was faster for all matrices timed, up to this size; BiCGSTAB, whose stages meet seven times an
  // iteration, as often slower as faster (docs/solvers.md).
  constexpr double most_in_caches[] = {8, 0};
  const double caches = double(matrix_bytes) / double(current_device().second_cache_bytes);
  return problem.runner == KrylovRunner::kernel || caches <= most_in_caches[static_cast<int>(problem.method)];
}

WholeLoop::WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const ProductTask& product)
    : kernel_(kernel_for(problem, product)),
      blocks_(blocks_for(kernel_, problem, product)),
      signals_(backend, static_cast<std::size_t>(signals_of(blocks_))) {
  check(cudaMemsetAsync(signals_.data(), 0, signals_.bytes(), queue), "clearing signals");
  args_.product = args_of(product);
  args_.signals = signals_.data();
}

void WholeLoop::launch(cudaStream_t queue, const krylov_args& loop) {
  args_.loop = loop;
  void* arguments[] = {&args_};
  check(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks_)), dim3(threads), arguments, 0, queue),
        "launching a loop");
}

}  // namespace compound::cuda
