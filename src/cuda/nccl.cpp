#include "cuda/nccl.hpp"

#include "cuda/shared_library.hpp"

namespace compound::cuda {

namespace {

std::vector<std::string> names() {
  constexpr const char* known[] = {"libnccl.so.2", "libnccl.so"};
  return library_names("COMPOUND_NCCL", known);
}

}  // namespace

bool NcclLibrary::take_from(void* handle) {
  return take(handle, version, "ncclGetVersion") && take(handle, make_id, "ncclGetUniqueId") &&
         take(handle, join, "ncclCommInitRank") && take(handle, leave, "ncclCommDestroy") &&
         take(handle, error_of, "ncclCommGetAsyncError") && take(handle, error_string, "ncclGetErrorString") &&
         take(handle, begin_group, "ncclGroupStart") && take(handle, end_group, "ncclGroupEnd") &&
         take(handle, send, "ncclSend") && take(handle, receive, "ncclRecv") && take(handle, gather, "ncclAllGather");
}

const NcclLibrary* nccl_if_any() { return library_if_any<NcclLibrary>(names); }

std::string why_no_nccl_opens() {
  return "NCCL 2.7 or newer is needed, and none of these opens: " + listed(names()) +
         "; install it, or name its folder in LD_LIBRARY_PATH (or the library in COMPOUND_NCCL)";
}

std::string nccl_version() {
  const NcclLibrary* const nccl = nccl_if_any();
  int number = 0;
  if (!nccl || nccl->version(&number) != NcclResult::success) return {};
  const int of_major = number < 10000 ? 1000 : 10000;  // 2.8.4 is 2804, and 2.9.6 is 20906
  return std::to_string(number / of_major) + "." + std::to_string(number % of_major / 100) + "." +
         std::to_string(number % 100);
}

}  // namespace compound::cuda
