// The CUDA device that PETSc uses, by the CUDA runtime.
#include <petscdevice.h>

#include "cuda/cubin_cache.hpp"
#include "cuda_call.hpp"
#include "device.hpp"
#include "failure.hpp"

namespace compound::bench {

namespace {

constexpr std::size_t stream_bytes = std::size_t{1} << 30;
constexpr std::size_t flush_bytes = std::size_t{256} << 20;

/// Eight loads of 16 bytes in flight per thread; the sum is used so that the compiler keeps them.
constexpr char read_source[] = R"(
extern "C" __global__ void __launch_bounds__(512) read_stream(const uint4* data, unsigned long long count,
                                                              unsigned* sink) {
  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (; at + 7 * step < count; at += 8 * step) {
    uint4 part[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) part[k] = data[at + k * step];
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += part[k].x + part[k].y + part[k].z + part[k].w;
  }
  for (; at < count; at += step) sum += data[at].x + data[at].y + data[at].z + data[at].w;
  if (sum == 0x9e3779b9u) *sink = sum;
}
)";

class CudaEvent {
 public:
  CudaEvent() { must_cuda(cudaEventCreate(&event_), "making an event"); }
  CudaEvent(const CudaEvent&) = delete;
  ~CudaEvent() { (void)cudaEventDestroy(event_); }
  void record() { must_cuda(cudaEventRecord(event_, nullptr), "recording an event"); }
  double seconds_since(const CudaEvent& begin) const {
    float milliseconds = 0;
    must_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "reading an event");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A queue of its own and what was captured in it.
class Replay {
 public:
  Replay() { must_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Replay(const Replay&) = delete;
  ~Replay() {
    if (runnable_) (void)cudaGraphExecDestroy(runnable_);
    (void)cudaStreamDestroy(stream_);
  }

  bool take(const std::function<void(void*)>& body) {
    must_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "capturing");
    bool taken = true;
    try {
      body(stream_);
    } catch (const std::exception&) {
      taken = false;  // it asked for something that cannot be captured: no replay, and no more than that
    }
    cudaGraph_t graph = nullptr;
    taken = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && taken && graph;
    taken = taken && cudaGraphInstantiate(&runnable_, graph, 0) == cudaSuccess;
    if (graph) (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return taken;
  }

  void run() { must_cuda(cudaGraphLaunch(runnable_, stream_), "replaying products"); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t runnable_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number) { must_cuda(cudaGetDeviceProperties(&properties_, number), "asking for the device"); }

  Record facts() const override {
    int driver = 0, runtime = 0;
    must_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    must_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    return {{"name", properties_.name},
            {"capability", capability()},
            {"memory_bytes", static_cast<double>(properties_.totalGlobalMem)},
            {"cache_bytes", static_cast<double>(properties_.l2CacheSize)},
            {"driver", driver},
            {"runtime", runtime}};
  }

  double free_bytes() const override {
    std::size_t unused = 0, all = 0;
    must_cuda(cudaMemGetInfo(&unused, &all), "asking for free device memory");
    return static_cast<double>(unused);
  }

  void wait() override { must_cuda(cudaDeviceSynchronize(), "waiting for the device"); }

  std::vector<double> cold_seconds(const std::function<void()>& product, int count) override {
    prepare_memory();
    const auto products = static_cast<std::size_t>(count);
    std::vector<CudaEvent> begin(products), end(products);
    for (std::size_t i = 0; i < products; ++i) {
      must_cuda(cudaMemsetAsync(to_.get(), 0, flush_bytes, nullptr), "emptying the cache");
      begin[i].record();
      product();
      end[i].record();
    }
    wait();
    std::vector<double> seconds;
    for (std::size_t i = 0; i < products; ++i) seconds.push_back(end[i].seconds_since(begin[i]));
    return seconds;
  }

  std::function<void()> captured(const std::function<void(void*)>& body) override {
    const auto replay = std::make_shared<Replay>();
    if (!replay->take(body)) return {};
    return [replay] { replay->run(); };
  }

  MemoryPass copy() override {
    prepare_memory();
    return {2.0 * stream_bytes, [from = from_, to = to_] {
              must_cuda(cudaMemcpyAsync(to.get(), from.get(), stream_bytes, cudaMemcpyDeviceToDevice, nullptr),
                        "copying on the device");
            }};
  }

  MemoryPass read() override {
    prepare_memory();
    if (!read_kernel_) load_read_kernel();
    return {1.0 * stream_bytes, [this, data = from_.get(), sink = to_.get()] {
              unsigned long long count = stream_bytes / 16;
              void* from = data;
              void* to = sink;
              void* arguments[] = {&from, &count, &to};
              constexpr unsigned threads = 512;
              const auto blocks = static_cast<unsigned>(properties_.multiProcessorCount * 4);
              must_cuda(cudaLaunchKernel(static_cast<const void*>(read_kernel_), dim3(blocks), dim3(threads), arguments,
                                         0, nullptr),
                        "reading on the device");
            }};
  }

  std::shared_ptr<void> uploaded(const void* from, std::size_t bytes) override {
    return uploaded_to_device(from, bytes);
  }

 private:
  int capability() const { return 10 * properties_.major + properties_.minor; }

  void prepare_memory() {
    if (from_) return;
    from_ = device_memory(stream_bytes);
    to_ = device_memory(stream_bytes);
    must_cuda(cudaMemset(from_.get(), 0, stream_bytes), "clearing device memory");
  }

  void load_read_kernel() {
    const std::string cubin = cuda::cubin_of(read_source, capability());
    must_cuda(cudaLibraryLoadData(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              "loading the reading kernel");
    must_cuda(cudaLibraryGetKernel(&read_kernel_, library_, "read_stream"), "finding the reading kernel");
  }

  cudaDeviceProp properties_{};
  std::shared_ptr<void> from_, to_;
  cudaLibrary_t library_ = nullptr;  // lives as long as the program
  cudaKernel_t read_kernel_ = nullptr;
};

}  // namespace

std::string why_no_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (code == cudaSuccess && count > 0) return "";
  return std::string("no CUDA device can be used here: ") +
         (code == cudaSuccess ? "none is visible" : cudaGetErrorString(code)) +
         "; look at nvidia-smi and CUDA_VISIBLE_DEVICES";
}

Device* find_device() {
  static std::unique_ptr<CudaDevice> found;
  if (found || !why_no_device().empty()) return found.get();
  must(PetscDeviceInitialize(PETSC_DEVICE_CUDA));  // PETSc decides which of several a rank gets
  int number = 0;
  must_cuda(cudaGetDevice(&number), "asking for the current device");
  found = std::make_unique<CudaDevice>(number);
  return found.get();
}

}  // namespace compound::bench
