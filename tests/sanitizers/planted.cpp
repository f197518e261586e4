// A kernel with a fault that one of compute-sanitizer's tools must find (sanitizers.py):   PROGRAM TOOL
#include <cstdio>
#include <map>
#include <string>

#include "cuda/kernel_source.hpp"
#include "cuda/runtime.hpp"

namespace {

const std::map<std::string, std::string> faults = {
    {"none", "array[threadIdx.x] = threadIdx.x;"},
    {"memcheck", "array[64 + threadIdx.x] = 1;"},  // behind its end
    {"racecheck",
     "__shared__ int shared[64];"
     "shared[threadIdx.x] = threadIdx.x;"
     "array[threadIdx.x] = shared[63 - threadIdx.x];"},  // of the other warp, which need not have written it
    {"initcheck", "array[threadIdx.x] += 1;"},           // nothing has written it
    {"synccheck",
     "if (threadIdx.x < 16) {"
     "  __syncthreads();"          // half a warp
     "  __syncwarp(0xffff0000u);"  // in the name of the other half
     "  array[threadIdx.x] = 1;"
     "}"},
};

}  // namespace

int main(int count, char** arguments) {
  const auto fault = faults.find(count == 2 ? arguments[1] : "");
  if (fault == faults.end()) {
    std::fprintf(stderr, "usage: %s none|memcheck|racecheck|initcheck|synccheck\n", arguments[0]);
    return 2;
  }
  try {
    using namespace compound::cuda;
    void* array = allocate(64 * sizeof(int));
    const void* kernel = kernel_of("extern \"C\" __global__ void " + std::string(kernel_name) + "(int* array) { " +
                                   fault->second + " }");
    launch(kernel, 1, 64, array, nullptr);
    check(cudaDeviceSynchronize(), "waiting for the kernel");
    release(array);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
