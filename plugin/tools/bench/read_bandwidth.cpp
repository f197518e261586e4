#include <cstring>

#include "measure.hpp"

namespace compound::bench {

namespace {

/// Vectors as wide as the registers: wider ones would be kept in memory, and the sums with them.
struct Registers16 {
  using Vector = std::uint64_t __attribute__((vector_size(16), aligned(8), may_alias));
};
struct Registers32 {
  using Vector = std::uint64_t __attribute__((vector_size(32), aligned(8), may_alias));
};
struct Registers64 {
  using Vector = std::uint64_t __attribute__((vector_size(64), aligned(8), may_alias));
};
constexpr std::size_t accumulators = 8;

template <class Registers>
__attribute__((always_inline)) inline std::uint64_t sum(const char* data, std::size_t bytes) {
  using Vector = typename Registers::Vector;
  constexpr std::size_t width = sizeof(Vector);
  Vector sums[accumulators] = {};
  std::size_t at = 0;
  for (; at + width * accumulators <= bytes; at += width * accumulators)
    for (std::size_t a = 0; a < accumulators; ++a) sums[a] += *reinterpret_cast<const Vector*>(data + at + a * width);
  std::uint64_t total = 0;
  for (const Vector& s : sums)
    for (std::size_t l = 0; l < width / 8; ++l) total += s[l];
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, data + at, 8);
    total += word;
  }
  return total;
}

std::uint64_t sum_baseline(const char* data, std::size_t bytes) { return sum<Registers16>(data, bytes); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t sum_avx2(const char* data, std::size_t bytes) {
  return sum<Registers32>(data, bytes);
}
__attribute__((target("avx512f"))) std::uint64_t sum_avx512(const char* data, std::size_t bytes) {
  return sum<Registers64>(data, bytes);
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
