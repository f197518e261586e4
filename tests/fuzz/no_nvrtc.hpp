// In place of src/cuda/nvrtc.cpp: a compiler that says what a target wants, and notes what it was given.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cuda/nvrtc.hpp"
#include "target.hpp"

namespace compound::fuzz {

struct Compiler {
  std::optional<std::string> version = "13.0";  ///< empty: there is no compiler
  std::function<std::string(const std::string& source)> compile = [](const std::string& source) { return source; };
  std::vector<std::string> sources = {};  ///< that it was given
};

inline Compiler& compiler() {
  static Compiler one;
  return one;
}

inline std::string compiled(const std::string& source) {
  if (!compiler().version) throw error(ErrorKind::unsupported, "there is no compiler");
  compiler().sources.push_back(source);
  return compiler().compile(source);
}

}  // namespace compound::fuzz

namespace compound::cuda {

std::string compile(const std::string& source, int) { return fuzz::compiled(source); }
std::string lowered_name(const std::string& source, const std::string&) { return fuzz::compiled(source); }
std::vector<std::string> compile_options(int capability) { return {std::to_string(capability)}; }
std::optional<std::string> nvrtc_version() { return fuzz::compiler().version; }
int compile_count() { return static_cast<int>(fuzz::compiler().sources.size()); }

}  // namespace compound::cuda
