// A program text through NVRTC, for tests that look at what comes out.
#pragma once

#include <gtest/gtest.h>
#include <nvrtc.h>

#include <string>
#include <vector>

namespace compound::test {

class Program {
 public:
  explicit Program(const std::string& text) {
    EXPECT_EQ(nvrtcCreateProgram(&program_, text.c_str(), "test.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  }
  Program(const Program&) = delete;
  ~Program() { nvrtcDestroyProgram(&program_); }

  bool instantiate(const std::string& kernel) {
    return nvrtcAddNameExpression(program_, kernel.c_str()) == NVRTC_SUCCESS;
  }
  bool compile(const std::vector<const char*>& options) {
    return nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS;
  }
  std::string log() const {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program_, &size);
    std::string text(size, '\0');
    nvrtcGetProgramLog(program_, text.data());
    text.erase(text.find_last_not_of(std::string("\0\n", 2)) + 1);
    return text;
  }
  std::string cubin() const { return code(nvrtcGetCUBINSize, nvrtcGetCUBIN); }
  /// Where it was compiled for a virtual architecture ("compute_90").
  std::string ptx() const { return code(nvrtcGetPTXSize, nvrtcGetPTX); }
  std::string symbol(const std::string& kernel) const {
    const char* name = nullptr;
    return nvrtcGetLoweredName(program_, kernel.c_str(), &name) == NVRTC_SUCCESS ? name : "";
  }

 private:
  template <class Size, class Get>
  std::string code(Size size_of, Get get) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != NVRTC_SUCCESS) return {};
    std::string code(size, '\0');
    get(program_, code.data());
    return code;
  }

  nvrtcProgram program_ = nullptr;
};

}  // namespace compound::test
