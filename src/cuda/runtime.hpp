// CUDA's runtime with exceptions, memory that owns itself, and kernels from source text.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/copy_team.hpp"
#include "device/target.hpp"

namespace compound::cuda {

/// Throws std::bad_alloc when the device's memory is full, else `device` with CUDA's words and what was tried.
void check(cudaError_t code, const char* tried);

/// Why no device can be used: no driver, none visible, too old a driver; empty if one can. Looks again at each call,
/// by cudaGetDeviceCount() alone, which initialises nothing.
std::string why_no_device();

/// Of the current device.
struct Device {
  int capability = 0;  ///< 90 for compute capability 9.0
  int multiprocessors = 0;
  std::size_t first_cache_bytes = 0;  ///< of a multiprocessor
  std::size_t second_cache_bytes = 0;
  std::size_t shared_bytes = 0;  ///< that a block of threads may ask for
  double bandwidth = 0;          ///< bytes a second, from memory, as its clock has it; 0: not known
};
const Device& current_device();
/// As the current device calls itself: "NVIDIA H200".
std::string device_name();
/// "0000:1b:00.0".
std::string device_slot();
/// "driver 13.0": the CUDA that it is for.
std::string driver_version();

/// A kernel of one source text, which is kept while the process lives: from the machine code that is built in, else
/// from the cache of cubins, else compiled when first asked for on this device.
const void* kernel_of(const std::string& source);

/// Compiles what kernel_of() would have to for these, on all cores; what goes wrong is told by kernel_of().
void compile_ahead(const std::vector<std::string>& sources);

/// kernel_of() each of these, after compile_ahead() of all.
struct WantedKernel {
  std::string source;
  const void** to;
};
void find_kernels(const std::vector<WantedKernel>& wanted);

/// Queues a kernel with one argument, a plain structure, and so many bytes of shared memory that it asks for itself.
template <class Argument>
void launch(const void* kernel, slot_t blocks, int threads, const Argument& argument, cudaStream_t stream,
            std::size_t shared_bytes = 0) {
  if (blocks == 0) return;
  void* arguments[] = {const_cast<Argument*>(&argument)};
  check(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), arguments,
                         shared_bytes, stream),
        "launching a kernel");
}

/// Blocks that have `each` of the workers.
inline slot_t blocks_for(slot_t workers, slot_t each) { return (workers + each - 1) / each; }

/// A kernel without a schedule, with one worker for each of `workers`.
inline constexpr int threads_without_schedule = 128;
template <class Argument>
void launch_workers(const void* kernel, slot_t workers, const Argument& argument, cudaStream_t stream) {
  launch(kernel, blocks_for(workers, threads_without_schedule), threads_without_schedule, argument, stream);
}

/// Before device or pinned memory, a stream, a graph or a module is made: throws where a test wants that to fail.
void count_allocation();
/// Makes the n-th of them from now on fail; 0: none. COMPOUND_CUDA_FAIL_ALLOCATION=n in the environment does the same.
void fail_allocation(long n);

/// Device memory.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;
struct Release {
  void operator()(void* memory) const noexcept { release(memory); }
};
using OwnedMemory = std::unique_ptr<void, Release>;

/// Host memory that kernels write to, and that the device reads at full speed.
class Pinned {
 public:
  Pinned() = default;
  explicit Pinned(std::size_t bytes);
  Pinned(Pinned&& from) noexcept { swap(from); }
  Pinned& operator=(Pinned&& from) noexcept {
    swap(from);
    return *this;
  }
  ~Pinned() {
    if (memory_) cudaFreeHost(memory_);  // as release()
  }
  void* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Pinned& with) noexcept {
    std::swap(memory_, with.memory_);
    std::swap(bytes_, with.bytes_);
  }
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Pinned memory for uploads, kept while the process lives: as much as uploads have wanted so far, since pinning takes
/// longer than small matrices do.
class Staging {
 public:
  static constexpr std::size_t chunk_bytes = std::size_t{8} << 20;
  static constexpr int chunks = 2;

  /// Of the current device.
  static Staging& instance();

  /// Threads for an upload of so many bytes in all, by one call or by several.
  static CopyTeam team_for(std::size_t bytes);

  /// Copies from the host's memory to the device's on `stream`, chunk by chunk; all is read when it returns.
  void upload(CopyTeam& team, void* to, const void* from, std::size_t bytes, cudaStream_t stream);
  void upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    CopyTeam team = team_for(bytes);
    upload(team, to, from, bytes, stream);
  }

  /// Pinned so far.
  std::size_t bytes() const;

 private:
  Staging();
  /// The next chunk of pinned memory, once its last copy is over; queue copies from it, then call sent().
  void* next_chunk(std::size_t bytes);
  void sent(cudaStream_t stream);

  Pinned memory_[chunks];
  cudaEvent_t free_[chunks] = {};
  int next_ = 0;
};

}  // namespace compound::cuda
