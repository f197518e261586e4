// What the host's rule and traversals go by, of the processor that runs this.
#pragma once

#include <cstddef>
#include <string>

namespace compound::host {

struct Processor {
  std::string name;          ///< as it calls itself
  std::size_t second_cache;  ///< bytes of a core's second cache
  bool fast_gathers;         ///< gathers of eight doubles beat eight loads
};

const Processor& processor();

}  // namespace compound::host
