// A folder of a target's own, which goes with the process.
#pragma once

#include <filesystem>

#include "target.hpp"

namespace compound::fuzz {

inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    static char name[] = "/tmp/compound_fuzz_XXXXXX";
    require(mkdtemp(name) != nullptr, "a folder is made");
    std::atexit([] { std::filesystem::remove_all(name); });
    return std::filesystem::path(name);
  }();
  return path;
}

}  // namespace compound::fuzz
