#include "machine.hpp"

#include <mpi.h>
#include <petscsys.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <map>

#if __has_include(<petscconfiginfo.h>)
#include <petscconfiginfo.h>
#endif

namespace compound::bench {

namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The value after the colon of the first line of /proc/cpuinfo or /etc/os-release that begins with `key`.
std::string value_of(const char* file, const std::string& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const std::size_t from = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t to = line.find_last_not_of(" \t\"");
    return from == std::string::npos ? "" : line.substr(from, to - from + 1);
  }
  return "";
}

std::vector<std::string> caches() {
  std::vector<std::string> all;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = first_line(folder + "level");
    if (level.empty()) break;
    all.push_back("L" + level + " " + first_line(folder + "type") + " " + first_line(folder + "size"));
  }
  return all;
}

}  // namespace

Machine this_machine() {
  Machine m;
  m.processor = value_of("/proc/cpuinfo", "model name", ':');
  m.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  m.caches = caches();
  m.huge_pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  utsname names{};
  if (uname(&names) == 0) {
    m.system = std::string(names.sysname) + " " + names.release + " " + names.machine;
    m.host = names.nodename;
  }
  const std::string distribution = value_of("/etc/os-release", "PRETTY_NAME", '=');
  if (!distribution.empty()) m.system = distribution + ", " + m.system;
  return m;
}

Versions these_versions() {
  Versions v;
  v.plugin = COMPOUND_VERSION;
  PetscInt major, minor, subminor, release;
  if (PetscGetVersionNumber(&major, &minor, &subminor, &release) == 0)
    v.petsc = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor);
  v.petsc_scalar = sizeof(PetscScalar) == 16 ? "complex" : "real";
  v.petsc_index_bits = 8 * static_cast<int>(sizeof(PetscInt));
  v.petsc_debug = PetscDefined(USE_DEBUG);
#if __has_include(<petscconfiginfo.h>)
  v.petsc_configuration = petscconfigureoptions;
#endif
#if defined(__clang__)
  v.compiler = "clang " __clang_version__;
#else
  v.compiler = "gcc " __VERSION__;
#endif
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  v.mpi = std::string(text).substr(0, std::string(text).find(','));
  return v;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace compound::bench
