// Krylov loops as one kernel whose blocks wait for each other.
#pragma once

#include "device/krylov_whole.hpp"

#include <cuda_runtime_api.h>

#include "backend/backend.hpp"
#include "backend/krylov_loop.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/krylov_peers.hpp"

namespace compound::cuda {

/// Iterations of one loop, for as long as the matrix is the one that it was prepared for.
class WholeLoop {
 public:
  /// Iterations that one kernel may have: the host hears of their norms when it ends.
  static constexpr int most_iterations = 512;

  /// The products of an iteration.
  struct Matrix {
    ProductTask own;                       ///< its vectors are only looked at for how they are aligned
    std::optional<ProductTask> by_ghosts;  ///< of several processes, where this one reads of others
    std::size_t bytes = 0;                 ///< that they read of the matrix; of several processes the most
  };

  /// Whether a kernel can have these products among its stages.
  static bool suits(const Matrix& matrix);
  /// Whether it is the faster way for so large a matrix, or asked for.
  static bool gains(const KrylovProblem& problem, std::size_t matrix_bytes);

  /// Compiles and allocates. Of several processes join() follows.
  WholeLoop(Backend& backend, cudaStream_t queue, const KrylovProblem& problem, const Matrix& matrix);
  /// Collective, of several processes.
  void join(Backend& backend, const KrylovProblem& problem, const Matrix& matrix, const PeerExchange& exchange);

  /// Of an iteration of so many stages: one after each stage, but where the next is made with it.
  int grid_syncs(int stages) const { return stages - (form_.two_grid_syncs ? 1 : 0); }

  /// Queues what the limits in the loop's state allow.
  void launch(cudaStream_t queue, const krylov_args& loop);

 private:
  WholeForm form_;
  const void* kernel_;
  slot_t threads_, blocks_;
  Buffer<signal> syncs_, places_;
  Buffer<std::byte> other_;  ///< a vector, with two grid synchronizations
  std::optional<WholePeers> peers_;
  whole_args args_;
};

}  // namespace compound::cuda
