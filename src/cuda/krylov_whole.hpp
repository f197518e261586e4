// Krylov loops as one kernel whose blocks wait for each other.
#pragma once

#include "device/krylov_whole.hpp"

#include <cuda_runtime_api.h>

#include "backend/backend.hpp"
#include "backend/krylov_loop.hpp"
#include "cuda/kernel_source.hpp"

namespace compound::cuda {

/// Iterations of one loop, for as long as the matrix is the one that it was prepared for.
class WholeLoop {
 public:
  /// Iterations that one kernel may have: the host hears of their norms when it ends.
  static constexpr int most_iterations = 512;

  /// Whether a kernel can have this product among its stages, and is the faster way for so large a matrix.
  static bool suits(const KrylovProblem& problem, const ProductTask& product, std::size_t matrix_bytes);

  /// Compiles and allocates. The vectors of `product` are only looked at for how they are aligned.
  /// `matrix_bytes`: that a product reads of the matrix.
  WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const ProductTask& product,
            std::size_t matrix_bytes);

  /// Of an iteration of so many stages: one after each stage, but where the next is made with it.
  int grid_syncs(int stages) const { return stages - (form_.two_grid_syncs ? 1 : 0); }

  /// Queues what the limits in the loop's state allow.
  void launch(cudaStream_t queue, const krylov_args& loop);

 private:
  WholeForm form_;
  const void* kernel_;
  slot_t threads_, blocks_;
  Buffer<signal> signals_;
  Buffer<std::byte> other_;  ///< a vector, with two grid synchronizations
  whole_args args_;
};

}  // namespace compound::cuda
