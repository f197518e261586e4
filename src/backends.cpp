#include "backend.hpp"
#include "backend_host.hpp"
#include "error.hpp"

namespace compound {

namespace {

constexpr BackendRow rows[] = {
    {"host", host_backend, ""},
    {"cuda", nullptr, "this build has no CUDA backend"},
};

}  // namespace

std::span<const BackendRow> backends() { return rows; }

Backend& backend(std::string_view name) {
  std::string names;
  for (const BackendRow& row : rows) {
    if (row.name == name) {
      if (row.get) return *row.get();
      throw error(ErrorKind::unsupported,
                  "backend '" + std::string(name) + "' is missing: " + std::string(row.why_missing));
    }
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw error(ErrorKind::argument, "unknown backend '" + std::string(name) + "'; choose " + names);
}

}  // namespace compound
