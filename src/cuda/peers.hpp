// Processes with a CUDA device each: of one host, which reach each other's memory by CUDA IPC, or of any, by NCCL.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "backend/peers.hpp"
#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"
#include "cuda/window.hpp"
#include "device/peers.hpp"

namespace compound::cuda {

/// On `backend`, whose queue is `queue`. Throws `unsupported`, as PeerWork::join().
std::shared_ptr<Peers> join(Backend& backend, cudaStream_t& queue, const JoinTask& task);

/// What loops need of processes that join() has brought together. Either there is a window, or sums are gathered.
class CudaPeers : public Peers {
 public:
  explicit CudaPeers(const JoinTask& task) : among_(task) {}
  int rank() const final { return among_.rank; }
  int processes() const final { return among_.processes; }
  std::optional<int> lost() const override { return {}; }
  const std::string& shared_device() const override { return shared_; }

  const JoinTask& among() const { return among_; }
  virtual Window* window() { return nullptr; }
  virtual patience waits() const { return {}; }
  /// In the device's memory: where sums meet.
  virtual const meeting_args* meeting() const { return nullptr; }
  /// Queues: all processes get what each has, in the order of ranks.
  virtual void gather(const void* /*own*/, void* /*all*/, std::size_t /*bytes*/, cudaStream_t /*queue*/) {}
  /// Throws `device` once a process is lost, or an exchange has failed.
  virtual void check_all_answer() const = 0;

 protected:
  std::string shared_;

 private:
  const JoinTask among_;
};

/// Of threads, for scalars that one neighbour gets.
inline int blocks_of_exchange(slot_t scalars) {
  constexpr slot_t of_block = slot_t{4} * threads_of_krylov, most = 32;
  return static_cast<int>(std::clamp<slot_t>(blocks_for(scalars, of_block), 1, most));
}

inline CudaPeers& cuda_peers(Peers& peers) { return static_cast<CudaPeers&>(peers); }

}  // namespace compound::cuda
