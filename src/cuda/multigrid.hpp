// Kernels of multigrid's set-up on a device (backend/multigrid.hpp).
#pragma once

#include <cuda_runtime.h>

#include "backend/multigrid.hpp"

namespace compound::cuda {

class QueuedMultigridKernels final : public MultigridKernels {
 public:
  explicit QueuedMultigridKernels(cudaStream_t queue) : queue_(queue) {}
  void run(GraphStep step, const aggregate_args& args) const override;
  void run(StrengthStep step, ScalarType scalar, int size, const strength_args& args) const override;
  void run(const ColumnTable& table, int inner, const product_pattern_args& args) const override;
  void run(TransposeStep step, const transpose_args& args) const override;
  void run(ScalarType scalar, const basis_args& args) const override;

 private:
  cudaStream_t queue_;
};

void smooth(ScalarType scalar, const smooth_args& args, cudaStream_t queue);

}  // namespace compound::cuda
