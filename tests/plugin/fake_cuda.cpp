// CUDA for the vectors of PETSc 3.26.1 on a machine without a GPU: memory of the device is memory of the host, and the
// kernels of PETSc's vectors run here, by their names. The loader puts this before the CUDA runtime and cuBLAS
// (LD_PRELOAD). The plugin finds no device, so its products run on the host with vectors of a device, as they do where
// the memory of a device is full; or they run on the pretended device (pretended_device.cpp).
// It is strict: copies must name the memory of both sides, kernels take memory of the device alone, and that memory
// begins as NaN. A kernel that has no row (fake_cuda_kernels.cpp) ends the program with its name. Matrices of the
// plugin make vectors of the device (MatCreateVecs()).
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <petscmat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "fake_cuda.hpp"

using namespace fake_cuda;

namespace {

/// Blocks of the device's memory, and their bytes. Never destroyed: PETSc frees at the end of a program.
std::map<const char*, std::size_t>& blocks() {
  static auto* const all = new std::map<const char*, std::size_t>;
  return *all;
}

}  // namespace

void fake_cuda::stop(const std::string& why) {
  std::fprintf(stderr, "fake_cuda: %s\n", why.c_str());
  std::abort();
}

bool fake_cuda::is_of_device(const void* p) {
  const auto* const at = static_cast<const char*>(p);
  auto after = blocks().upper_bound(at);
  if (after == blocks().begin()) return false;
  --after;
  return at < after->first + std::max<std::size_t>(after->second, 1);
}

namespace {

void* new_memory(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  void* const made = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (!made) stop("there is no memory");
  return made;
}

cudaError_t new_block(void** made, std::size_t bytes) {
  *made = new_memory(bytes);
  std::memset(*made, 0xff, bytes);
  blocks()[static_cast<const char*>(*made)] = bytes;
  return cudaSuccess;
}

cudaError_t free_block(void* block) {
  if (block && !blocks().erase(static_cast<const char*>(block))) stop("memory is freed that is not the device's");
  std::free(block);
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool is_named = kind != cudaMemcpyDefault && bytes > 0;
  if (is_named && (is_of_device(to) != to_device || is_of_device(from) != from_device))
    stop("a copy names other memory than it has");
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}

/// What handles, streams, events and pools point to.
char something[64];
template <class Handle>
Handle handle() {
  return reinterpret_cast<Handle>(something);
}

/// Of kernels, by the functions of the host that stand for them.
std::map<const void*, std::string>& names() {
  static auto* const all = new std::map<const void*, std::string>;
  return *all;
}

cudaError_t launch(const void* function, void** arguments) {
  run_kernel(names()[function], arguments);
  return cudaSuccess;
}

/// What <<<>>> leaves for the launch that follows.
struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
} configuration;

}  // namespace

extern "C" {

/// Memory of the pretended device (pretended_device.cpp) is the device's, too.
void fake_cuda_take(const void* memory, std::size_t bytes);
void fake_cuda_leave(const void* memory);
void fake_cuda_take(const void* memory, std::size_t bytes) { blocks()[static_cast<const char*>(memory)] = bytes; }
void fake_cuda_leave(const void* memory) { blocks().erase(static_cast<const char*>(memory)); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "none");
  properties->major = 9;
  properties->multiProcessorCount = 1;
  properties->maxThreadsPerBlock = 1024;
  properties->warpSize = 32;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? 9
           : attribute == cudaDevAttrComputeCapabilityMinor ? 0
           : attribute == cudaDevAttrMaxThreadsPerBlock     ? 1024
                                                            : 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) {
  *pool = handle<cudaMemPool_t>();
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** made, std::size_t bytes) { return new_block(made, bytes); }
cudaError_t cudaMallocAsync(void** made, std::size_t bytes, cudaStream_t) { return new_block(made, bytes); }
cudaError_t cudaFree(void* block) { return free_block(block); }
cudaError_t cudaFreeAsync(void* block, cudaStream_t) { return free_block(block); }
cudaError_t cudaMallocHost(void** made, std::size_t bytes) {
  *made = new_memory(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* made) {
  std::free(made);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                              std::size_t bytes, std::size_t rows, cudaMemcpyKind kind, cudaStream_t) {
  for (std::size_t n = 0; n < rows; ++n)
    copy(static_cast<char*>(to) + n * to_apart, static_cast<const char*>(from) + n * from_apart, bytes, kind);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return copy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  std::memset(checked(to, bytes > 0, "cudaMemset"), value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}
cudaError_t cudaHostAlloc(void** made, std::size_t bytes, unsigned) { return cudaMallocHost(made, bytes); }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  *attributes = {};
  attributes->type = is_of_device(p) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = handle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) {
  *flags = cudaStreamNonBlocking;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = handle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

// What Thrust asks before it launches.

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* most, const void*, int, std::size_t, unsigned) {
  *most = 1;
  return cudaSuccess;
}

// What the compiler calls for kernels and for <<<>>>.

void** __cudaRegisterFatBinary(void*) { return reinterpret_cast<void**>(something); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  names()[function] = readable ? readable : name;
  std::free(readable);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void** arguments, std::size_t, cudaStream_t) {
  return launch(kernel, arguments);
}
cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void** arguments, std::size_t, cudaStream_t) {
  return launch(function, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void* function, void** arguments) {
  return launch(function, arguments);
}

}  // extern "C"

// ----------------------------------------------------------------------------------------------- cuBLAS and its like

namespace {

#if PetscDefined(USE_COMPLEX)
using OfCublas = cuDoubleComplex;
#else
using OfCublas = double;
#endif

/// A vector's scalars, one after the other.
template <class T>
auto* vector(int count, T* v, int apart) {
  using Its = std::conditional_t<std::is_const_v<T>, const Scalar, Scalar>;
  if (apart != 1) stop("a vector of cuBLAS has gaps");
  return reinterpret_cast<Its*>(checked(v, count > 0, "cuBLAS"));
}
Scalar value(const OfCublas* p) { return *reinterpret_cast<const Scalar*>(p); }

cublasStatus_t dot(int count, const OfCublas* x, int x_apart, const OfCublas* y, int y_apart, OfCublas* result,
                   Scalar (*of_first)(Scalar)) {
  Scalar total = 0;
  const auto *const a = vector(count, x, x_apart), *const b = vector(count, y, y_apart);
  for (int i = 0; i < count; ++i) total += of_first(a[i]) * b[i];
  *reinterpret_cast<Scalar*>(result) = total;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t norm(int count, const OfCublas* x, int apart, double* result) {
  double total = 0;
  const auto* const a = vector(count, x, apart);
  for (int i = 0; i < count; ++i) total += std::norm(a[i]);
  *result = std::sqrt(total);
  return CUBLAS_STATUS_SUCCESS;
}

cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* made) {
  *made = handle<cublasHandle_t>();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, cublasPointerMode_t* now) {
  *now = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t to) {
  mode = to;
  return CUBLAS_STATUS_SUCCESS;
}

#if PetscDefined(USE_COMPLEX)
#define COMPOUND_CUBLAS(name) cublasZ##name##_v2
cublasStatus_t cublasZdotc_v2(cublasHandle_t, int n, const OfCublas* x, int dx, const OfCublas* y, int dy,
                              OfCublas* result) {
  return dot(n, x, dx, y, dy, result, [](Scalar s) { return conjugate(s); });
}
cublasStatus_t cublasZdotu_v2(cublasHandle_t, int n, const OfCublas* x, int dx, const OfCublas* y, int dy,
                              OfCublas* result) {
  return dot(n, x, dx, y, dy, result, [](Scalar s) { return s; });
}
cublasStatus_t cublasDznrm2_v2(cublasHandle_t, int n, const OfCublas* x, int dx, double* result) {
  return norm(n, x, dx, result);
}
#else
#define COMPOUND_CUBLAS(name) cublasD##name##_v2
cublasStatus_t cublasDdot_v2(cublasHandle_t, int n, const OfCublas* x, int dx, const OfCublas* y, int dy,
                             OfCublas* result) {
  return dot(n, x, dx, y, dy, result, [](Scalar s) { return conjugate(s); });
}
cublasStatus_t cublasDnrm2_v2(cublasHandle_t, int n, const OfCublas* x, int dx, double* result) {
  return norm(n, x, dx, result);
}
cublasStatus_t cublasDasum_v2(cublasHandle_t, int n, const OfCublas* x, int dx, double* result) {
  const auto* const a = vector(n, x, dx);
  *result = 0;
  for (int i = 0; i < n; ++i) *result += std::abs(a[i]);
  return CUBLAS_STATUS_SUCCESS;
}
/// Counts from 1.
cublasStatus_t cublasIdamax_v2(cublasHandle_t, int n, const OfCublas* x, int dx, int* result) {
  const auto* const a = vector(n, x, dx);
  *result = 1 + static_cast<int>(
                    std::max_element(a, a + n, [](Scalar s, Scalar t) { return std::abs(s) < std::abs(t); }) - a);
  return CUBLAS_STATUS_SUCCESS;
}
#endif

cublasStatus_t COMPOUND_CUBLAS(axpy)(cublasHandle_t, int n, const OfCublas* alpha, const OfCublas* x, int dx,
                                     OfCublas* y, int dy) {
  const auto* const a = vector(n, x, dx);
  auto* const b = vector(n, y, dy);
  for (int i = 0; i < n; ++i) b[i] += value(alpha) * a[i];
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t COMPOUND_CUBLAS(copy)(cublasHandle_t, int n, const OfCublas* x, int dx, OfCublas* y, int dy) {
  std::copy_n(vector(n, x, dx), n, vector(n, y, dy));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t COMPOUND_CUBLAS(scal)(cublasHandle_t, int n, const OfCublas* alpha, OfCublas* x, int dx) {
  auto* const a = vector(n, x, dx);
  for (int i = 0; i < n; ++i) a[i] *= value(alpha);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t COMPOUND_CUBLAS(swap)(cublasHandle_t, int n, OfCublas* x, int dx, OfCublas* y, int dy) {
  auto* const a = vector(n, x, dx);
  std::swap_ranges(a, a + n, vector(n, y, dy));
  return CUBLAS_STATUS_SUCCESS;
}

// PETSc makes these with a device's context; vectors do not use them.

int cusolverDnCreate(void** made) {
  *made = something;
  return 0;
}
int cusolverDnDestroy(void*) { return 0; }
int cusolverDnSetStream(void*, void*) { return 0; }

PetscErrorCode MatCreateVecs(Mat A, Vec* right, Vec* left) {
  static auto* const petscs = reinterpret_cast<decltype(&MatCreateVecs)>(dlsym(RTLD_NEXT, "MatCreateVecs"));
  MatType type = nullptr;
  VecType vectors = nullptr;
  PetscFunctionBegin;
  if (A) PetscCall(MatGetType(A, &type));
  if (type && std::strstr(type, "compound")) {
    PetscCall(MatGetVecType(A, &vectors));
    if (!std::strcmp(vectors, VECSTANDARD)) PetscCall(MatSetVecType(A, VECCUDA));
  }
  PetscCall((*petscs)(A, right, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // extern "C"
