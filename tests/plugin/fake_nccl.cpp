// An NCCL for processes of one host, which may share a device: what they send goes through memory of the host that they
// share, by functions of the host that the device's queue calls in their turn. Of those functions alone that we call.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

enum Result : int { success = 0, cuda_failed = 1, system_failed = 2, wrong_use = 5 };

struct Id {
  char name[128];
};

constexpr int most_processes = 8;
constexpr std::size_t most_bytes = std::size_t{16} << 20;  // of one message; the system gives pages that are written

/// From one process to another: one message at a time.
struct Box {
  std::atomic<unsigned> written, read;
  alignas(128) char bytes[most_bytes];
};
struct Boxes {
  Box of[most_processes][most_processes];  ///< from, to
};

struct Comm {
  Boxes* boxes = nullptr;
  std::string name;
  int processes = 0, rank = 0;
};

/// A send (from) or a receive, in a stream.
struct Message {
  Comm* comm;
  Box* box;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
  void* staged = nullptr;  ///< pinned: other memory is read before its turn comes
};

/// Of one group: sends go first, so that no two processes wait for each other.
struct Group {
  std::vector<Message*> messages;
  cudaStream_t stream = nullptr;
};
Group group;
int depth = 0;

void CUDART_CB write_all(void* data) {
  for (Message* m : *static_cast<std::vector<Message*>*>(data)) {
    if (!m->from) continue;
    while (m->box->written.load(std::memory_order_acquire) != m->box->read.load(std::memory_order_acquire))
      sched_yield();
    std::memcpy(m->box->bytes, m->staged, m->bytes);
    m->box->written.fetch_add(1, std::memory_order_release);
  }
}
void CUDART_CB read_all(void* data) {
  for (Message* m : *static_cast<std::vector<Message*>*>(data)) {
    if (m->from) continue;
    while (m->box->written.load(std::memory_order_acquire) == m->box->read.load(std::memory_order_acquire))
      sched_yield();
    std::memcpy(m->staged, m->box->bytes, m->bytes);
    m->box->read.fetch_add(1, std::memory_order_release);
  }
}

/// What is queued may be recorded, and run again: it lives as long as the program.
Result run(Group done) {
  auto* const all = new std::vector<Message*>(std::move(done.messages));
  bool right = true;
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    right &= cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, done.stream) == cudaSuccess;
  };
  for (Message* m : *all)
    if (m->from) copy(m->staged, m->from, m->bytes);
  right &= cudaLaunchHostFunc(done.stream, write_all, all) == cudaSuccess;
  right &= cudaLaunchHostFunc(done.stream, read_all, all) == cudaSuccess;
  for (Message* m : *all)
    if (!m->from) copy(m->to, m->staged, m->bytes);
  return right ? success : cuda_failed;
}

Result add(Comm* comm, const void* from, void* to, std::size_t bytes, int other, cudaStream_t stream) {
  if (bytes > most_bytes || other < 0 || other >= comm->processes || depth == 0) return wrong_use;
  Box* const box = from ? &comm->boxes->of[comm->rank][other] : &comm->boxes->of[other][comm->rank];
  auto* const message = new Message{comm, box, from, to, bytes};
  if (cudaMallocHost(&message->staged, bytes) != cudaSuccess) return cuda_failed;
  group.messages.push_back(message);
  group.stream = stream;
  return success;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* number) {
  *number = 20000;  // "2.0.0", which no NCCL with ncclSend() has
  return success;
}
int ncclGetUniqueId(Id* id) {
  std::snprintf(id->name, sizeof(id->name), "/compound-fake-nccl-%d-%u", int(getpid()), std::random_device()());
  return success;
}
int ncclCommInitRank(Comm** comm, int processes, Id id, int rank) {
  if (processes > most_processes) return wrong_use;
  const int file = shm_open(id.name, O_CREAT | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, sizeof(Boxes)) != 0) return system_failed;
  void* const memory = mmap(nullptr, sizeof(Boxes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return system_failed;
  *comm = new Comm{static_cast<Boxes*>(memory), id.name, processes, rank};
  return success;
}
int ncclCommDestroy(Comm* comm) {
  munmap(comm->boxes, sizeof(Boxes));
  shm_unlink(comm->name.c_str());
  delete comm;
  return success;
}
int ncclCommGetAsyncError(Comm*, int* code) {
  *code = success;
  return success;
}
const char* ncclGetErrorString(int code) { return code == wrong_use ? "wrong use" : "failed"; }
int ncclGroupStart() {
  ++depth;
  return success;
}
int ncclGroupEnd() {
  if (--depth > 0 || group.messages.empty()) return success;
  return run(std::exchange(group, {}));
}
int ncclSend(const void* from, std::size_t bytes, int, int to, Comm* comm, cudaStream_t stream) {
  return add(comm, from, nullptr, bytes, to, stream);
}
int ncclRecv(void* to, std::size_t bytes, int, int from, Comm* comm, cudaStream_t stream) {
  return add(comm, nullptr, to, bytes, from, stream);
}
int ncclAllGather(const void* own, void* all, std::size_t bytes, int, Comm* comm, cudaStream_t stream) {
  ncclGroupStart();
  for (int p = 0; p < comm->processes; ++p) {
    add(comm, own, nullptr, bytes, p, stream);
    add(comm, nullptr, static_cast<char*>(all) + static_cast<std::size_t>(p) * bytes, bytes, p, stream);
  }
  return ncclGroupEnd();
}

}  // extern "C"
