#include "cuda/cubin_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "cuda/cubin_key.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/private_folder.hpp"

namespace compound::cuda {

namespace {

/// Changes when files of another release would be read wrongly.
constexpr std::string_view schema = "petsc-compound cubin 1";

constexpr std::string_view file_ending = ".cubin";

std::string name_of(const std::string& key, const std::string& version) {
  return key + "-nvrtc" + version + std::string(file_ending);
}

/// First line of a file, and what it must be for the code that follows.
std::string header_of(const std::string& name, std::string_view code) {
  return std::string(schema) + " " + name + " bytes=" + std::to_string(code.size()) + " hash=" + hash_of(code) + "\n";
}

std::optional<std::string> read(const PrivateFolder& folder, const std::string& name) {
  const std::optional<std::string> content = folder.read(name);
  if (!content) return {};
  const std::size_t line = content->find('\n');
  if (line == std::string::npos) return {};
  std::string code = content->substr(line + 1);
  if (code.empty() || content->compare(0, line + 1, header_of(name, code)) != 0) return {};
  return code;
}

/// "13.0" as a number that orders versions.
std::pair<int, int> number_of(std::string_view version) {
  int major = 0, minor = 0;
  std::sscanf(std::string(version).c_str(), "%9d.%9d", &major, &minor);
  return {major, minor};
}

/// The code of whatever NVRTC, the newest first.
std::optional<std::string> read_any_version(const PrivateFolder& folder, const std::string& key) {
  const std::string beginning = key + "-nvrtc";
  std::vector<std::string> names = folder.names();
  std::erase_if(names, [&](const std::string& n) { return !n.starts_with(beginning) || !n.ends_with(file_ending); });
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return number_of(a.substr(beginning.size())) > number_of(b.substr(beginning.size()));
  });
  for (const std::string& name : names)
    if (std::optional<std::string> code = read(folder, name)) return code;
  return {};
}

/// Empty where there is none.
std::string folder_path() {
  if (const std::string asked = from_environment("COMPOUND_CUDA_CACHE"); !asked.empty())
    return asked == "off" ? "" : asked;
  return user_cache_folder();
}

}  // namespace

std::string cubin_of(const std::string& source, int capability) {
  const std::string path = folder_path();
  if (path.empty()) return compile(source, capability);
  const PrivateFolder folder(path);
  const std::string key = cubin_key(source, capability);
  const std::optional<std::string> version = nvrtc_version();
  const std::optional<std::string> kept =
      version ? read(folder, name_of(key, *version)) : read_any_version(folder, key);
  if (kept) return *kept;
  std::string code = compile(source, capability);
  const std::string name = name_of(key, version.value_or(""));
  folder.write(name, header_of(name, code) + code);
  return code;
}

std::vector<std::optional<std::string>> cubins_of(std::span<const std::string> sources, int capability) {
  std::vector<std::optional<std::string>> cubins(sources.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < sources.size(); n = next++) {
      try {
        cubins[n] = cubin_of(sources[n], capability);
      } catch (const std::exception&) {  // stays empty
      }
    }
  };
  const std::size_t threads = std::max<std::size_t>(1, std::min(usable_cores(), sources.size()));
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) { work(); });
  return cubins;
}

std::string why_no_cubin_cache() {
  const std::string path = folder_path();
  if (!path.empty()) return PrivateFolder(path).problem();
  return from_environment("COMPOUND_CUDA_CACHE") == "off" ? "COMPOUND_CUDA_CACHE is off"
                                                          : "neither XDG_CACHE_HOME nor HOME names a folder";
}

}  // namespace compound::cuda
