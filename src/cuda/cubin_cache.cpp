#include "cuda/cubin_cache.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "cuda/device_text.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/private_folder.hpp"

namespace compound::cuda {

namespace {

/// Changes when files of another release would be read wrongly.
constexpr std::string_view schema = "petsc-compound cubin 1";

/// 128-bit FNV-1a of texts one after the other, each with its length.
class Hash {
 public:
  void add(std::string_view text) {
    for (std::size_t length = text.size(), byte = 0; byte < sizeof length; ++byte) add_byte(length >> (8 * byte) & 255);
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::string hex() const {
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(state_ >> 64),
                  static_cast<unsigned long long>(state_));
    return text;
  }

 private:
  using wide = unsigned __int128;
  static constexpr wide prime = (wide{1} << 88) + 0x13b;
  void add_byte(std::size_t byte) { state_ = (state_ ^ byte) * prime; }
  wide state_ = (wide{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

std::string hash_of(std::string_view text) {
  Hash hash;
  hash.add(text);
  return hash.hex();
}

/// Of all that the code depends on, but for NVRTC's version.
std::string key_of(const std::string& source, int capability) {
  Hash hash;
  hash.add(schema);
  for (const std::string& option : compile_options(capability)) hash.add(option);
  for (const DeviceFile& file : device_text()) {
    hash.add(file.name);
    hash.add(file.text);
  }
  hash.add(source);
  return hash.hex() + "-sm" + std::to_string(capability);
}

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
int number_of(std::string_view version) {
  int major = 0, minor = 0;
  std::sscanf(std::string(version).c_str(), "%d.%d", &major, &minor);
  return 1000 * major + minor;
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

std::string from_environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

/// Empty where there is none.
std::string folder_path() {
  if (const std::string asked = from_environment("COMPOUND_CUDA_CACHE"); !asked.empty())
    return asked == "off" ? "" : asked;
  if (const std::string caches = from_environment("XDG_CACHE_HOME"); caches.starts_with('/'))
    return caches + "/petsc-compound";
  const std::string home = from_environment("HOME");
  return home.starts_with('/') ? home + "/.cache/petsc-compound" : "";
}

}  // namespace

std::string cubin_of(const std::string& source, int capability) {
  const std::string path = folder_path();
  if (path.empty()) return compile(source, capability);
  const PrivateFolder folder(path);
  const std::string key = key_of(source, capability);
  const std::optional<std::string> version = nvrtc_version();
  const std::optional<std::string> kept =
      version ? read(folder, name_of(key, *version)) : read_any_version(folder, key);
  if (kept) return *kept;
  std::string code = compile(source, capability);
  const std::string name = name_of(key, version.value_or(""));
  folder.write(name, header_of(name, code) + code);
  return code;
}

std::string why_no_cubin_cache() {
  const std::string path = folder_path();
  if (!path.empty()) return PrivateFolder(path).problem();
  return from_environment("COMPOUND_CUDA_CACHE") == "off" ? "COMPOUND_CUDA_CACHE is off"
                                                          : "neither XDG_CACHE_HOME nor HOME names a folder";
}

}  // namespace compound::cuda
