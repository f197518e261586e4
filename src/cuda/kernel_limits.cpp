// Which plans have a kernel, and how many workers it has.
#include <algorithm>
#include <bit>

#include "cuda/kernel_source.hpp"
#include "entry/registry.hpp"
#include "layout/family.hpp"

namespace compound::cuda {

std::optional<std::string> why_no_kernel(const Plan& plan, const Problem& problem) {
  const Schedule& s = plan.schedule;
  if (!s.of_device() || s.blocks < 1) return "a device's schedule needs threads= and blocks=";
  if (!entry_text(plan.entry))
    return "entry " + std::string(plan.entry) + " has no text for devices: name its file (-mat_compound_entry_file)";
  if (s.traversal == Traversal::components && plan.entry != "dense")
    return "components are of dense blocks; entry " + std::string(plan.entry) + " goes by rows";
  const LayoutFamily& family = family_of(plan.layout);
  if (s.traversal == Traversal::slots && (s.lanes != 1 || s.unroll != 1))
    return "layouts that go by slots say how many a worker has: lanes=1 unroll=1";
  if (s.traversal != Traversal::slots && s.carries != Carries::ordered)
    return "carries=atomic is for layouts that go by slots, " + layout_name(plan.layout) + " has no carries";
  if (family.threads && s.threads != family.threads(plan.layout))
    return "threads=" + std::to_string(s.threads) + " with layout " + layout_name(plan.layout) +
           ", whose chunks are made for blocks of " + std::to_string(family.threads(plan.layout)) +
           " threads: leave threads= out, or choose another layout";
  const bool has_patches = goes_by_patches(plan);
  if (has_patches && (s.unroll != 1 || s.balance != Balance::grid || s.traversal != Traversal::rows))
    return "half= goes by patches: by rows, unroll=1 and grid; leave the others out";
  if (has_patches && s.threads != threads_of_patch(plan))
    return "threads=" + std::to_string(s.threads) + ", and the segments of a patch of " + layout_name(plan.layout) +
           " with lanes=" + std::to_string(s.lanes) + " make threads=" + std::to_string(threads_of_patch(plan)) +
           "; leave threads= out";
  if (has_patches && s.lanes > 1 &&
      (plan.entry != "dense" || s.lanes > static_cast<int>(std::bit_ceil(static_cast<unsigned>(problem.block.cols)))))
    return "lanes=" + std::to_string(s.lanes) + " with half= are for the columns of dense blocks, which entry " +
           std::string(plan.entry) + " of " + std::to_string(problem.block.rows) + "x" +
           std::to_string(problem.block.cols) + " has not as many of; leave lanes= out";
  if (s.threads > most_threads_of_block)
    return "threads=" + std::to_string(s.threads) + " are more than the " + std::to_string(most_threads_of_block) +
           " of a block of threads";
  if (s.threads * s.blocks > most_threads)
    return "threads=" + std::to_string(s.threads) + " x blocks=" + std::to_string(s.blocks) + " are more than the " +
           std::to_string(most_threads) + " threads of a multiprocessor";
  constexpr int most = 32;
  if (s.traversal != Traversal::components && std::max(problem.block.rows, problem.block.cols) > most)
    return "blocks of " + std::to_string(problem.block.rows) + "x" + std::to_string(problem.block.cols) +
           " are too large for one worker a row (32x32 at most); use components";
  return {};
}

slot_t workers_of(const Plan& plan, const Problem& problem, Op op, const layout_args& layout) {
  const Schedule& s = plan.schedule;
  if (s.traversal == Traversal::slots)
    return (slot_t{layout.positions} + layout.height - 1) / layout.height * s.threads;
  const int rows_a_warp = 32 / s.lanes;
  const slot_t warps = (slot_t{layout.positions} + rows_a_warp - 1) / rows_a_warp;
  const bool by_scalar_row = s.traversal == Traversal::components && family_of(plan.layout).interleaved;
  const EntryShape shape = entry_shape(plan, problem);
  return 32 * warps * (by_scalar_row ? (op == Op::none ? shape.rows : shape.cols) : 1);
}

}  // namespace compound::cuda
