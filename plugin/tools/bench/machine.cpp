// The machine and the libraries that results are of.

#include <petscsys.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "device.hpp"
#include "failure.hpp"
#include "record.hpp"

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

Record machine() {
  utsname names{};
  const bool named = uname(&names) == 0;
  const std::string distribution = value_of("/etc/os-release", "PRETTY_NAME", '=');
  std::string system = named ? std::string(names.sysname) + " " + names.release + " " + names.machine : "";
  if (!distribution.empty()) system = distribution + ", " + system;
  return {{"processor", value_of("/proc/cpuinfo", "model name", ':')},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"caches", caches()},  // of the first core
          {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"system", system},
          {"host", named ? names.nodename : ""}};
}

std::string petsc_version() {
  PetscInt major, minor, subminor, release;
  must(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor);
}

Record versions() {
#if __has_include(<petscconfiginfo.h>)
  const std::string configuration = petscconfigureoptions;
#else
  const std::string configuration;
#endif
#if defined(__clang__)
  constexpr const char* compiler = "clang " __clang_version__;
#else
  constexpr const char* compiler = "gcc " __VERSION__;
#endif
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(mpi, &length);
  return {{"petsc_compound", COMPOUND_VERSION},
          {"petsc", petsc_version()},
          {"petsc_scalar", sizeof(PetscScalar) == 16 ? "complex" : "real"},
          {"petsc_index_bits", 8 * sizeof(PetscInt)},
          {"petsc_debug", bool(PetscDefined(USE_DEBUG))},
          {"petsc_configuration", configuration},
          {"compiler", compiler},
          {"mpi", std::string(mpi).substr(0, std::string(mpi).find(','))}};
}

std::string command_line(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool quote = word.empty() || word.find_first_of(" ;*?$&|<>()'\"") != std::string::npos;
    line += (i ? " " : "") + (quote ? "\"" + word + "\"" : word);
  }
  return line;
}

}  // namespace

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Record circumstances(int argc, char** argv) {
  Record r = {{"program", program_name()},
              {"date", date_now()},
              {"command_line", command_line(argc, argv)},
              {"machine", machine()},
              {"versions", versions()}};
  if (used_device()) r["device"] = used_device()->facts();
  return r;
}

}  // namespace compound::bench
