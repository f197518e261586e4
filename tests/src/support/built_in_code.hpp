// What this build has machine code for (config/CompoundDeviceCode.cmake).
#pragma once

#include <sstream>
#include <string_view>
#include <vector>

#include "base/scalar.hpp"

#if !defined(COMPOUND_BUILT_IN_CAPABILITIES)
#define COMPOUND_BUILT_IN_CAPABILITIES ""
#define COMPOUND_BUILT_IN_SCALARS ""
#endif

namespace compound::test {

inline constexpr std::string_view why_nothing_built_in =
    "skipped: no machine code is built in (configure says why, at \"Device code\")";

inline std::vector<int> capabilities_built_in() {
  std::istringstream text(COMPOUND_BUILT_IN_CAPABILITIES);
  std::vector<int> all;
  for (int capability; text >> capability;) all.push_back(capability);
  return all;
}

inline std::vector<ScalarType> scalars_built_in() {
  std::istringstream text(COMPOUND_BUILT_IN_SCALARS);
  std::vector<ScalarType> all;
  for (std::string name; text >> name;)
    all.push_back({name == "complex" ? Field::complex : Field::real, Precision::double_});
  return all;
}

}  // namespace compound::test
