// Libraries of the CUDA toolkit that are opened at the first use, so that programs start without them.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace compound::cuda {

/// Names to try in this order: that of the environment variable `asked` alone if it is set, else what the loader finds,
/// else a toolkit's folder.
inline std::vector<std::string> library_names(const char* asked, std::span<const char* const> names) {
  if (const char* const file = std::getenv(asked); file && *file) return {file};
  std::vector<std::string> result(names.begin(), names.end());
  std::vector<std::string> toolkits;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const folder = std::getenv(variable); folder && *folder) toolkits.emplace_back(folder);
  toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : toolkits)
    for (const char* const folder : {"/lib64/", "/lib/"})
      for (const char* const name : names) result.push_back(toolkit + folder + name);
  return result;
}

/// "libnvrtc.so.13, libnvrtc.so.12, ..."
inline std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Whether an open library has the function, which is then set.
template <class Function>
bool take(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// The first library that opens and has all its functions (`take_from(handle)`), which stays open; whether there is
/// one.
template <class Library>
bool open_library(Library& library, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle && library.take_from(handle)) return true;
    if (handle) dlclose(handle);
  }
  return false;
}

/// The one library of this type in the program, opened at the first call; null where none opens, which the next call
/// tries again: that is cheap beside what its absence prevents.
template <class Library>
const Library* library_if_any(std::vector<std::string> (*names)()) {
  static std::mutex mutex;
  static Library library;
  static bool found = false;
  const std::lock_guard lock(mutex);
  if (!found) found = open_library(library, names());
  return found ? &library : nullptr;
}

}  // namespace compound::cuda
