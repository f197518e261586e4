#include "processor.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#if defined(COMPOUND_X86_SIMD)
#include <cpuid.h>
#endif

namespace compound::host {

namespace {

/// The brand that x86 processors tell; padded by blanks and zeros.
std::string name() {
#if defined(COMPOUND_X86_SIMD)
  constexpr unsigned first = 0x80000002, last = 0x80000004;
  if (__get_cpuid_max(0x80000000, nullptr) >= last) {
    std::array<char, 48> brand{};
    for (unsigned leaf = first; leaf <= last; ++leaf) {
      unsigned words[4];
      __get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]);
      std::memcpy(brand.data() + (leaf - first) * sizeof(words), words, sizeof(words));
    }
    const std::string text(brand.data(), strnlen(brand.data(), brand.size()));
    const std::size_t from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
    if (from != std::string::npos) return text.substr(from, to - from + 1);
  }
#endif
  return "processor";
}

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
  static const Processor here{name(), second_cache(), has_fast_gathers()};
  return here;
}

}  // namespace compound::host
