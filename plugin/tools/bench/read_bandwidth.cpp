#include "read_bandwidth.hpp"

#include <cstring>

namespace compound::bench {

namespace {

constexpr std::size_t lanes = 8, accumulators = 4;
using Lanes = std::uint64_t __attribute__((vector_size(lanes * 8), aligned(8), may_alias));
constexpr std::size_t step = sizeof(Lanes) * accumulators;

__attribute__((always_inline)) inline std::uint64_t sum(const char* data, std::size_t bytes) {
  Lanes sums[accumulators] = {};
  std::size_t at = 0;
  for (; at + step <= bytes; at += step)
    for (std::size_t a = 0; a < accumulators; ++a)
      sums[a] += *reinterpret_cast<const Lanes*>(data + at + a * sizeof(Lanes));
  std::uint64_t total = 0;
  for (const Lanes& s : sums)
    for (std::size_t l = 0; l < lanes; ++l) total += s[l];
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, data + at, 8);
    total += word;
  }
  return total;
}

std::uint64_t sum_baseline(const char* data, std::size_t bytes) { return sum(data, bytes); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t sum_avx2(const char* data, std::size_t bytes) { return sum(data, bytes); }
__attribute__((target("avx512f"))) std::uint64_t sum_avx512(const char* data, std::size_t bytes) {
  return sum(data, bytes);
}
#endif

struct Variant {
  const char* name;
  std::uint64_t (*run)(const char*, std::size_t);
};

Variant choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", sum_avx512};
  if (__builtin_cpu_supports("avx2")) return {"avx2", sum_avx2};
#endif
  return {"baseline", sum_baseline};
}

}  // namespace

std::uint64_t streaming_sum(const void* data, std::size_t bytes) {
  return choose().run(static_cast<const char*>(data), bytes);
}

const char* streaming_sum_name() { return choose().name; }

}  // namespace compound::bench
