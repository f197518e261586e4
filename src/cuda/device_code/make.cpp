// Makes a share of the machine code that is built in: compound_device_code OUTPUT real|complex CAPABILITY SHARE SHARES
//
// Codes that were made before are taken from the cache of cubins (COMPOUND_CUDA_CACHE).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "cuda/code_archive.hpp"
#include "cuda/cubin_cache.hpp"
#include "cuda/cubin_key.hpp"
#include "cuda/default_kernels.hpp"

namespace compound::cuda {

std::span<const std::string_view> device_code() { return {}; }

namespace {

void make(const std::string& output, Field field, int capability, std::size_t share, std::size_t shares) {
  const std::vector<std::string> sources = default_sources({field, Precision::double_});
  const std::size_t each = (sources.size() + shares - 1) / shares, first = std::min(share * each, sources.size());
  std::vector<NamedCode> codes;
  for (std::size_t i = first; i < std::min(first + each, sources.size()); ++i)
    codes.push_back({cubin_key(sources[i], capability), cubin_of(sources[i], capability)});
  std::ofstream file(output, std::ios::binary | std::ios::trunc);
  if (!(file << archive_of(codes) << std::flush)) throw std::runtime_error("'" + output + "' cannot be written");
}

}  // namespace

}  // namespace compound::cuda

int main(int count, char** arguments) {
  using namespace compound;
  if (count != 6) {
    std::fprintf(stderr, "usage: %s OUTPUT real|complex CAPABILITY SHARE SHARES\n", arguments[0]);
    return 2;
  }
  try {
    const Field field = std::string(arguments[2]) == "complex" ? Field::complex : Field::real;
    cuda::make(arguments[1], field, std::atoi(arguments[3]), std::strtoul(arguments[4], nullptr, 10),
               std::strtoul(arguments[5], nullptr, 10));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::remove(arguments[1]);
    return 1;
  }
}
