// Reproducible random numbers: the same on every machine (the distributions of <random> are not).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "device/scalar.hpp"

namespace compound::test {

/// COMPOUND_TEST_SEED of the environment, else a fixed one.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("COMPOUND_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 20260;
}

/// For SCOPED_TRACE: how to run the failing case again.
inline std::string seed_text() { return "COMPOUND_TEST_SEED=" + std::to_string(test_seed()); }

class Random {
 public:
  explicit Random(std::uint64_t seed = test_seed()) : engine_(seed) {}

  /// 0 to n - 1.
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }

  /// In [-1, 1), with all the bits of S; complex: both parts.
  template <class S>
  S scalar() {
    if constexpr (is_complex<S>) {
      const auto re = scalar<real_of<S>>();
      return {re, scalar<real_of<S>>()};
    } else {
      return static_cast<S>(static_cast<double>(engine_() >> 11) * 0x1p-52 - 1.0);
    }
  }

  /// A whole number, -most to most: sums and products of a few of them are exact.
  template <class S>
  S whole_number(int most = 9) {
    if constexpr (is_complex<S>) {
      const auto re = whole_number<real_of<S>>(most);
      return {re, whole_number<real_of<S>>(most)};
    } else {
      return static_cast<S>(below(2 * most + 1) - most);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace compound::test
