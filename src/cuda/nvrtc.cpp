#include "cuda/nvrtc.hpp"

#include <nvrtc.h>

#include <atomic>

#include "base/error.hpp"
#include "cuda/device_text.hpp"
#include "cuda/shared_library.hpp"

namespace compound::cuda {

namespace {

std::atomic<int> compiles = 0;

std::vector<std::string> names() {
  constexpr const char* known[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  return library_names("COMPOUND_NVRTC", known);
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
    return take(handle, version, "nvrtcVersion") && take(handle, create, "nvrtcCreateProgram") &&
           take(handle, destroy, "nvrtcDestroyProgram") && take(handle, compile, "nvrtcCompileProgram") &&
           take(handle, log_size, "nvrtcGetProgramLogSize") && take(handle, log, "nvrtcGetProgramLog") &&
           take(handle, cubin_size, "nvrtcGetCUBINSize") && take(handle, cubin, "nvrtcGetCUBIN") &&
           take(handle, add_name, "nvrtcAddNameExpression") && take(handle, lowered_name, "nvrtcGetLoweredName") &&
           take(handle, error_string, "nvrtcGetErrorString");
  }
};

const Library* nvrtc_if_any() { return library_if_any<Library>(names); }

const Library& library() {
  if (const Library* const found = nvrtc_if_any()) return *found;
  throw error(
      ErrorKind::unsupported,
      "compiling a kernel needs NVRTC, a library of the CUDA toolkit, and none of these opens: " + listed(names()) +
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
  // Headers of the working directory are not for it: a cache's key would not have their text.
  return {"-arch=sm_" + std::to_string(capability), "-std=c++20", "-default-device", "-no-source-include"};
}

std::optional<std::string> nvrtc_version() {
  const Library* const found = nvrtc_if_any();
  int major = 0, minor = 0;
  if (!found || found->version(&major, &minor) != NVRTC_SUCCESS) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

int compile_count() { return compiles; }

}  // namespace compound::cuda
