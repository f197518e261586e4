// Which tier of the tests runs (CONTRIBUTING.md).
#pragma once

#include <cstdlib>
#include <string_view>

namespace compound::test {

/// Everything that there is, or what every change meets.
inline bool tier_is_all() {
  const char* const tier = std::getenv("COMPOUND_TIER");
  return tier && std::string_view(tier) == "all";
}

}  // namespace compound::test
