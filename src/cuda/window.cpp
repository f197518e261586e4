#include "cuda/window.hpp"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <utility>

namespace compound::cuda {

void agree(const JoinTask& among, const Reason& mine) {
  const std::vector<Reason> all = gathered(among, mine);
  if (std::ranges::any_of(all, &Reason::lacks_memory)) throw std::bad_alloc();
  for (int p = 0; p < among.processes; ++p)
    if (const std::string why = all[p].text; !why.empty())
      throw error(ErrorKind::unsupported, "process " + std::to_string(p) + ": " + why);
}

void Window::Chunk::close() {
  for (int p = 0; p < most_peers; ++p)
    if (std::exchange(opened[p], false)) cudaIpcCloseMemHandle(of[p]);
}

namespace {

struct Offer {
  cudaIpcMemHandle_t handle;
  void* address;
  pid_t of;  ///< a process in the system's sense: its own memory needs no handle, and has none
};

}  // namespace

void Window::add_chunk(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{16} << 20, page = std::size_t{2} << 20;  // handles are of whole pages
  bytes = (std::max(bytes, least) + page - 1) / page * page;
  Chunk chunk{{}, Places(bytes)};
  all_or_none(among_, [&] { chunk.own = Buffer<std::byte>(backend_, bytes); });
  backend_.clear(chunk.own.data(), bytes);
  backend_.synchronize();
  std::string why;
  const auto note = [&](cudaError_t code, const std::string& tried) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // it is told of here
    if (why.empty()) why = tried + ": " + cudaGetErrorString(code);
  };
  Offer mine{{}, chunk.own.data(), getpid()};
  note(cudaIpcGetMemHandle(&mine.handle, mine.address), "sharing device memory with other processes");
  const std::vector<Offer> offers = gathered(among_, mine);
  for (int p = 0; p < among_.processes && why.empty(); ++p) {
    chunk.of[p] = offers[p].address;
    if (offers[p].of == mine.of) continue;
    const cudaError_t code = cudaIpcOpenMemHandle(&chunk.of[p], offers[p].handle, cudaIpcMemLazyEnablePeerAccess);
    chunk.opened[p] = code == cudaSuccess;
    note(code, "opening the device memory of process " + std::to_string(p));
  }
  try {
    agree(among_, Reason(why));
  } catch (...) {
    chunk.close();
    gathered(among_, 0);  // no memory goes that others have open
    throw;
  }
  chunks_.push_back(std::move(chunk));
}

}  // namespace compound::cuda
