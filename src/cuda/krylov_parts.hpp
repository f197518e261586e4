// What Krylov loops and passes share on a CUDA device.
#pragma once

#include <algorithm>
#include <cmath>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "device/cg.hpp"

namespace compound::cuda {

/// Blocks of threads_of_krylov: as many as the device holds at once, each of which takes several shares then.
inline slot_t most_krylov_blocks() { return slot_t{8} * current_device().multiprocessors; }
inline slot_t krylov_blocks(slot_t threads) {
  return std::min(blocks_for(threads, threads_of_krylov), most_krylov_blocks());
}

/// One, too, for no scalars: it decides.
inline slot_t blocks_of(const KrylovProblem& p) {
  const slot_t share = p.columns < 2 ? 32 : 32 / p.columns * p.columns;
  return std::max<slot_t>(krylov_blocks((p.scalars + share - 1) / share * 32), 1);
}

inline std::size_t bytes_of_partials(const KrylovProblem& p, slot_t blocks) {
  return most_krylov_sums * partials_of(blocks) * bytes_of(p.scalar);
}

/// Of any scalar: the largest.
inline constexpr std::size_t cg_state_bytes = sizeof(cg_state<complex_number<double>>);

/// What a loop is given besides A, and in which it is the same for all.
class KrylovMemory {
 public:
  KrylovMemory(Backend& backend, const KrylovProblem& of)
      : problem(of), unit_(kernel_of(krylov_source(of, "krylov_set_unit", "krylov_unit"))) {
    const std::size_t bytes = static_cast<std::size_t>(of.scalars) * bytes_of(of.scalar);
    if (of.columns > 0) factors = Buffer<std::byte>(backend, static_cast<std::size_t>(of.columns) * bytes);
    if (const int vectors = of.null_space.vectors; vectors > 0)
      null_space = Buffer<std::byte>(backend, static_cast<std::size_t>(vectors) * bytes);
  }
  void set_unit(int k, void* to, cudaStream_t queue) const {
    launch(unit_, blocks_for(problem.scalars, threads_of_krylov), threads_of_krylov,
           krylov_unit{to, problem.scalars, problem.columns, k}, queue);
  }
  void hand_to(krylov_args& args) const {
    args.factors = factors.data();
    args.null_space = null_space.data();
    args.of_constant = 1 / std::sqrt(static_cast<double>(problem.peers ? problem.all_scalars : problem.scalars));
    args.scalars = problem.scalars;
  }

  const KrylovProblem problem;
  Buffer<std::byte> factors, null_space;

 private:
  const void* unit_;
};

}  // namespace compound::cuda
