// What a Krylov loop in one kernel needs where several processes run it.
#pragma once

#include <optional>

#include "backend/krylov_loop.hpp"
#include "cuda/peers.hpp"
#include "device/krylov_whole.hpp"

namespace compound::cuda {

/// Places in the windows of all processes, and whom this one gives what of its vectors.
class WholePeers {
 public:
  /// Collective, of problems with peers; throws the same on all processes. `exchange`: the matrix's; `by_ghosts`: the
  /// product with its ghosts, where there are any; `blocks`: of threads, that this process's kernel has.
  WholePeers(Backend& backend, const KrylovProblem& problem, const PeerExchange& exchange,
             const std::optional<ProductTask>& by_ghosts, slot_t blocks, bool two_grid_syncs);
  WholePeers(const WholePeers&) = delete;
  ~WholePeers() { peers_.window()->give_back(place_); }

  const whole_peers& args() const { return args_; }

 private:
  CudaPeers& peers_;
  Window::Place place_;
  Buffer<count32> given_;
  Buffer<ghost_target> targets_;
  Buffer<std::byte> beside_, old_;
  whole_peers args_;
};

}  // namespace compound::cuda
