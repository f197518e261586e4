#include "processor.hpp"

#include <unistd.h>

namespace compound::host {

namespace {

/// By the system, which asks the processor; where it does not know, of the size that most have.
std::size_t second_cache() {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t{1} << 20;
}

/// AMD's processors split a gather into many more steps than it has lanes (docs/performance.md).
bool has_fast_gathers() {
#if defined(COMPOUND_X86_SIMD)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

}  // namespace

const Processor& processor() {
  static const Processor here{second_cache(), has_fast_gathers()};
  return here;
}

}  // namespace compound::host
