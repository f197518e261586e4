// NCCL, NVIDIA's library of exchanges between devices, also of several hosts: opened when a matrix first asks for it.
// Nothing links it, and its header is not needed.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/peers.hpp"

namespace compound::cuda {

/// What NCCL calls ncclComm_t, ncclUniqueId, ncclResult_t and ncclDataType_t. The same since NCCL 2.7, the first with
/// ncclSend().
struct NcclComm;
struct NcclId {
  char bytes[128] = {};
};
enum class NcclResult : int { success = 0, in_progress = 7 };
enum class NcclType : int { bytes = 0 };

struct NcclLibrary {
  NcclResult (*version)(int*) = nullptr;
  NcclResult (*make_id)(NcclId*) = nullptr;
  NcclResult (*join)(NcclComm**, int processes, NcclId, int rank) = nullptr;
  NcclResult (*leave)(NcclComm*) = nullptr;
  NcclResult (*error_of)(NcclComm*, NcclResult*) = nullptr;
  const char* (*error_string)(NcclResult) = nullptr;
  NcclResult (*begin_group)() = nullptr;
  NcclResult (*end_group)() = nullptr;
  NcclResult (*send)(const void*, std::size_t, NcclType, int to, NcclComm*, cudaStream_t) = nullptr;
  NcclResult (*receive)(void*, std::size_t, NcclType, int from, NcclComm*, cudaStream_t) = nullptr;
  NcclResult (*gather)(const void*, void*, std::size_t, NcclType, NcclComm*, cudaStream_t) = nullptr;

  bool take_from(void* handle);
};

/// Null where none opens; looked for again then.
const NcclLibrary* nccl_if_any();
std::string why_no_nccl_opens();

/// "2.26.6"; empty without NCCL.
std::string nccl_version();

/// Collective. As PeerWork::join(), for processes of any hosts.
std::shared_ptr<Peers> join_by_nccl(Backend& backend, cudaStream_t& queue, const JoinTask& task);

}  // namespace compound::cuda
