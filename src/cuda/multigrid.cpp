#include "cuda/multigrid.hpp"

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace compound::cuda {

void QueuedMultigridKernels::run(GraphStep step, const aggregate_args& args) const {
  launch_workers(kernel_of(graph_source(step)), slot_t{args.nodes} * 32, args, queue_);
}

void QueuedMultigridKernels::run(StrengthStep step, ScalarType scalar, int size, const strength_args& args) const {
  launch_workers(kernel_of(strength_source(step, scalar, size)), slot_t{args.nodes} * 32, args, queue_);
}

void QueuedMultigridKernels::run(const ColumnTable& table, int inner, const product_pattern_args& args) const {
  launch(kernel_of(product_pattern_source(table, inner)), blocks_for(args.rows, table.groups), table.threads(), args,
         queue_);
}

void QueuedMultigridKernels::run(TransposeStep step, const transpose_args& args) const {
  const void* const kernel = kernel_of(transpose_source(step));
  if (step == TransposeStep::sort)
    launch(kernel, args.cols, threads_of_transposed_row, args, queue_);
  else
    launch_workers(kernel, args.rows, args, queue_);
}

void QueuedMultigridKernels::run(ScalarType scalar, const basis_args& args) const {
  launch(kernel_of(basis_source(scalar)), args.aggregates, threads_of_basis, args, queue_);
}

void smooth(ScalarType scalar, const smooth_args& args, cudaStream_t queue) {
  launch_workers(kernel_of(smooth_source(scalar)), slot_t{args.rows} * 32, args, queue);
}

}  // namespace compound::cuda
