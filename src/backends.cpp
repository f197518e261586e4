#include "backend/backend.hpp"

#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "host/backend.hpp"
#if defined(COMPOUND_HAVE_CUDA)
#include "cuda/backend.hpp"
#endif

namespace compound {

namespace {

constexpr BackendRow rows[] = {
    {"host", host_backend, [] { return std::string(); }},
#if defined(COMPOUND_HAVE_CUDA)
    {"cuda", cuda_backend, why_no_cuda},
#else
    {"cuda", nullptr,
     [] {
       return std::string(
           "this build has no CUDA backend (CMake found no CUDA toolkit of 12.8 or newer; "
           "-DCOMPOUND_CUDA=ON says why)");
     }},
#endif
};

}  // namespace

std::span<const BackendRow> backends() { return rows; }

DeviceTraits device_traits(std::string_view name) {
  for (const BackendRow& row : rows)
    if (Backend* const found = row.name == name && row.get ? row.get() : nullptr) return traits_of(*found);
  return {};
}

Backend& backend(std::string_view name) {
  std::vector<std::string_view> names;
  for (const BackendRow& row : rows) {
    if (row.name == name) {
      if (Backend* const found = row.get ? row.get() : nullptr) return *found;
      throw error(ErrorKind::unsupported, "backend '" + std::string(name) + "' is missing: " + row.why_missing());
    }
    names.push_back(row.name);
  }
  throw error(ErrorKind::argument, unknown_name("backend", name, names));
}

}  // namespace compound
