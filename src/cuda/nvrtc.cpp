#include "cuda/nvrtc.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "cuda/device_text.hpp"
#include "error.hpp"

namespace compound::cuda {

namespace {

std::atomic<int> compiles = 0;

/// Names to try in this order: COMPOUND_NVRTC alone if it is set, else what the loader finds, else a toolkit's folder.
std::vector<std::string> library_names() {
  if (const char* const asked = std::getenv("COMPOUND_NVRTC"); asked && *asked) return {asked};
  const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<std::string> result(std::begin(names), std::end(names));
  std::vector<std::string> toolkits;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const folder = std::getenv(variable); folder && *folder) toolkits.emplace_back(folder);
  toolkits.emplace_back("/usr/local/cuda");
  for (const std::string& toolkit : toolkits)
    for (const char* const folder : {"/lib64/", "/lib/"})
      for (const char* const name : names) result.push_back(toolkit + folder + name);
  return result;
}

/// The functions of a library that was opened, and stays open.
struct Library {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  decltype(&::nvrtcAddNameExpression) add_name = nullptr;
  decltype(&::nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;

  bool take_from(void* handle) {
    const auto take = [handle](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    return take(version, "nvrtcVersion") && take(create, "nvrtcCreateProgram") &&
           take(destroy, "nvrtcDestroyProgram") && take(compile, "nvrtcCompileProgram") &&
           take(log_size, "nvrtcGetProgramLogSize") && take(log, "nvrtcGetProgramLog") &&
           take(cubin_size, "nvrtcGetCUBINSize") && take(cubin, "nvrtcGetCUBIN") &&
           take(add_name, "nvrtcAddNameExpression") && take(lowered_name, "nvrtcGetLoweredName") &&
           take(error_string, "nvrtcGetErrorString");
  }
};

/// The first library that opens and has the functions; null if none does.
const Library* open_library() {
  static Library library;
  for (const std::string& name : library_names()) {
    void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle && library.take_from(handle)) return &library;
    if (handle) dlclose(handle);
  }
  return nullptr;
}

/// Null without NVRTC; looked for again then, since it is cheap beside what its absence prevents.
const Library* library_if_any() {
  static std::mutex mutex;
  static const Library* found = nullptr;
  const std::lock_guard lock(mutex);
  if (!found) found = open_library();
  return found;
}

const Library& library() {
  if (const Library* const found = library_if_any()) return *found;
  std::string names;
  for (const std::string& name : library_names()) names += (names.empty() ? "" : ", ") + name;
  throw error(ErrorKind::unsupported,
              "compiling a kernel needs NVRTC, a library of the CUDA toolkit, and none of these opens: " + names +
                  "; install it, name its folder in LD_LIBRARY_PATH (or the library in COMPOUND_NVRTC), or bring "
                  "compiled kernels from another machine in the folder COMPOUND_CUDA_CACHE");
}

class Program {
 public:
  explicit Program(const std::string& source) : nvrtc_(library()) {
    std::vector<const char*> names, texts;
    for (const DeviceFile& file : device_text()) {
      names.push_back(file.name);
      texts.push_back(file.text);
    }
    names.push_back("petsccompound/entry.hpp");
    texts.push_back("#pragma once\n#include \"entry/custom.hpp\"\n");
    check(nvrtc_.create(&program_, source.c_str(), "compound.cu", static_cast<int>(names.size()), texts.data(),
                        names.data()));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtc_.destroy(&program_); }

  void compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    ++compiles;
    check(nvrtc_.compile(program_, static_cast<int>(pointers.size()), pointers.data()));
  }

  void add_name(const std::string& expression) { check(nvrtc_.add_name(program_, expression.c_str())); }
  std::string lowered_name(const std::string& expression) const {
    const char* name = nullptr;
    check(nvrtc_.lowered_name(program_, expression.c_str(), &name));
    return name;
  }

  std::string cubin() const { return text(nvrtc_.cubin_size, nvrtc_.cubin); }

 private:
  template <class Size, class Get>
  std::string text(Size size_of, Get get) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != NVRTC_SUCCESS) return {};
    std::string result(size, '\0');
    if (get(program_, result.data()) != NVRTC_SUCCESS) return {};
    return result;
  }

  void check(nvrtcResult result) const {
    if (result == NVRTC_SUCCESS) return;
    const std::string log = program_ ? text(nvrtc_.log_size, nvrtc_.log) : "";
    throw error(ErrorKind::unsupported, "NVRTC " + nvrtc_version().value_or("") + " did not compile a kernel (" +
                                            nvrtc_.error_string(result) + "):\n" + log.c_str());
  }

  const Library& nvrtc_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string compile(const std::string& source, int capability) {
  Program program(source);
  program.compile(compile_options(capability));
  return program.cubin();
}

std::string lowered_name(const std::string& source, const std::string& expression) {
  Program program(source);
  program.add_name(expression);
  program.compile(compile_options(90));
  return program.lowered_name(expression);
}

std::vector<std::string> compile_options(int capability) {
  return {"-arch=sm_" + std::to_string(capability), "-std=c++20", "-default-device"};
}

std::optional<std::string> nvrtc_version() {
  const Library* const found = library_if_any();
  int major = 0, minor = 0;
  if (!found || found->version(&major, &minor) != NVRTC_SUCCESS) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

int compile_count() { return compiles; }

}  // namespace compound::cuda
