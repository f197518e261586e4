// Processes of one host with CUDA devices that reach each other's memory, by CUDA IPC.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "backend/backend.hpp"
#include "backend/peers.hpp"
#include "cuda/window.hpp"
#include "device/peers.hpp"

namespace compound::cuda {

/// On `backend`, whose queue is `queue`. Throws `unsupported`, as PeerWork::join().
std::shared_ptr<Peers> join(Backend& backend, cudaStream_t& queue, const JoinTask& task);

/// Of processes that join() has brought together.
const JoinTask& among(const Peers& peers);
Window& window_of(Peers& peers);
patience waits_of(const Peers& peers);

/// In the device's memory: where their sums meet.
const meeting_args* meeting_of(const Peers& peers);

/// Throws `device` once a process is lost.
void check_all_answer(const Peers& peers);

}  // namespace compound::cuda
