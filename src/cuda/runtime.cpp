#include "cuda/runtime.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "cuda/built_in.hpp"
#include "cuda/cubin_cache.hpp"
#include "cuda/kernel_source.hpp"

namespace compound::cuda {

void check(cudaError_t code, const char* tried) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // errors that are not of the context are over once they are read
  if (code == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw error(ErrorKind::device, std::string("CUDA failed at ") + tried + ": " + cudaGetErrorString(code) + " (" +
                                     cudaGetErrorName(code) + ")");
}

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string why_no_device() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (code == cudaErrorInsufficientDriver)
    return "this machine has no NVIDIA driver, or one too old for CUDA " + version_text(CUDART_VERSION);
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0))
    return "no CUDA device is visible (CUDA_VISIBLE_DEVICES, nvidia-smi)";
  if (code != cudaSuccess) return std::string("CUDA says: ") + cudaGetErrorString(code);
  return {};
}

namespace {

int attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, device), "asking for a device's attributes");
  return value;
}

int current_device_number() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  return device;
}

/// At both edges of the clock's signal. Some drivers do not tell.
double bandwidth(int device) {
  int kilohertz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) != cudaSuccess)
    return 0;
  return 2 * 1e3 * kilohertz * bits / 8;
}

Device describe(int device) {
  return {
      10 * attribute(cudaDevAttrComputeCapabilityMajor, device) + attribute(cudaDevAttrComputeCapabilityMinor, device),
      attribute(cudaDevAttrMultiProcessorCount, device),
      // Which shares its memory with what blocks share.
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)),
      static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, device)),
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)), bandwidth(device)};
}

/// By capability and source, since libraries are loaded for all devices.
using SourceFor = std::pair<int, std::string>;

std::map<SourceFor, const void*>& loaded_kernels() {
  static std::map<SourceFor, const void*> loaded;
  return loaded;
}

/// Compiled ahead and not loaded yet.
std::map<SourceFor, std::string>& cubins_ahead() {
  static std::map<SourceFor, std::string> ahead;
  return ahead;
}

std::string code_of(const SourceFor& wanted) {
  const auto& [capability, source] = wanted;
  if (const auto ahead = cubins_ahead().extract(wanted)) return ahead.mapped();
  const std::optional<std::string> built_in = built_in_cubin(source, capability);
  return built_in ? *built_in : cubin_of(source, capability);
}

const void* load(const SourceFor& wanted) {
  const std::string code = code_of(wanted);
  cudaLibrary_t library;
  cudaKernel_t kernel;
  count_allocation();
  check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading a kernel");
  check(cudaLibraryGetKernel(&kernel, library, kernel_name), "finding a kernel");
  return reinterpret_cast<const void*>(kernel);
}

/// Allocations until the one that a test wants to fail; 0: none does. A new value in the environment counts anew.
long& allocations_until_failure() {
  static long left = 0;
  static std::string known;
  const char* const text = std::getenv("COMPOUND_CUDA_FAIL_ALLOCATION");
  const std::string now = text ? text : "";
  if (now != known) left = std::atol(now.c_str());
  known = now;
  return left;
}

}  // namespace

const Device& current_device() {
  static std::map<int, Device> known;
  const int device = current_device_number();
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.emplace(device, describe(device)).first->second;
}

std::string device_name() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, current_device_number()), "asking for a device's name");
  return properties.name;
}

std::string device_slot() {
  char text[32] = "";
  check(cudaDeviceGetPCIBusId(text, sizeof(text), current_device_number()), "asking for a device's bus");
  return text;
}

std::string driver_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the driver's version");
  return "driver " + version_text(version);
}

const void* kernel_of(const std::string& source) {
  const SourceFor wanted(current_device().capability, source);
  if (const auto at = loaded_kernels().find(wanted); at != loaded_kernels().end()) return at->second;
  return loaded_kernels()[wanted] = load(wanted);
}

void compile_ahead(const std::vector<std::string>& sources) {
  const int capability = current_device().capability;
  std::vector<std::string> missing;
  for (const std::string& source : std::set<std::string>(sources.begin(), sources.end()))
    if (const SourceFor wanted(capability, source);
        !loaded_kernels().contains(wanted) && !cubins_ahead().contains(wanted) && !is_built_in(source, capability))
      missing.push_back(source);
  const std::vector<std::optional<std::string>> cubins = cubins_of(missing, capability);
  for (std::size_t n = 0; n < missing.size(); ++n)
    if (cubins[n]) cubins_ahead()[{capability, missing[n]}] = *cubins[n];
}

void find_kernels(const std::vector<WantedKernel>& wanted) {
  std::vector<std::string> sources;
  for (const WantedKernel& w : wanted) sources.push_back(w.source);
  compile_ahead(sources);
  for (const WantedKernel& w : wanted) *w.to = kernel_of(w.source);
}

void count_allocation() {
  long& left = allocations_until_failure();
  if (left > 0 && --left == 0) throw std::bad_alloc();
}

void* allocate(std::size_t bytes) {
  count_allocation();
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "allocating device memory");
  return memory;
}

void fail_allocation(long n) { allocations_until_failure() = n; }

void release(void* memory) noexcept {
  if (memory) cudaFree(memory);  // at the end of a process the driver may be gone: nothing to be done then
}

Pinned::Pinned(std::size_t bytes) : bytes_(bytes) {
  count_allocation();
  check(cudaHostAlloc(&memory_, bytes, cudaHostAllocMapped), "pinning memory");
}

Staging& Staging::instance() {
  static std::map<int, std::unique_ptr<Staging>> of_device;
  std::unique_ptr<Staging>& mine = of_device[current_device_number()];
  if (!mine) mine.reset(new Staging);
  return *mine;
}

Staging::Staging() {
  for (cudaEvent_t& event : free_) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
}

std::size_t Staging::bytes() const {
  return std::accumulate(std::begin(memory_), std::end(memory_), std::size_t{0},
                         [](std::size_t sum, const Pinned& chunk) { return sum + chunk.bytes(); });
}

void* Staging::next_chunk(std::size_t bytes) {
  check(cudaEventSynchronize(free_[next_]), "waiting for an upload");
  Pinned& chunk = memory_[next_];
  if (bytes <= chunk.bytes()) return chunk.data();
  { const Pinned small = std::move(chunk); }  // before another takes memory
  chunk = Pinned(std::bit_ceil(bytes));       // few sizes, so that growing ends soon
  return chunk.data();
}

void Staging::sent(cudaStream_t stream) {
  check(cudaEventRecord(free_[next_], stream), "recording an upload");
  next_ = (next_ + 1) % chunks;
}

CopyTeam Staging::team_for(std::size_t bytes) {
  constexpr std::size_t most_threads = 4;                   // the bus is several times as fast as one
  return CopyTeam(bytes > chunk_bytes ? most_threads : 1);  // starting a thread takes as long as copying some 100 kB
}

void Staging::upload(CopyTeam& team, void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  for (std::size_t at = 0; at < bytes; at += chunk_bytes) {
    const std::size_t size = std::min(chunk_bytes, bytes - at);
    void* const chunk = next_chunk(size);
    team.copy(chunk, static_cast<const char*>(from) + at, size);
    check(cudaMemcpyAsync(static_cast<char*>(to) + at, chunk, size, cudaMemcpyHostToDevice, stream), "uploading");
    sent(stream);
  }
}

}  // namespace compound::cuda
