// Runs of random numbers that a seed repeats.
#pragma once

#include <cstdlib>

#include "twins.hpp"

namespace petsc_test {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline std::size_t index_below(std::size_t n, Random& random) {
  return static_cast<std::size_t>(random.below(static_cast<int>(n)));
}
template <class Table>
auto one_of(const Table& table, Random& random) {
  return table[index_below(std::size(table), random)];
}

/// run(seed, history) for each of `sequences` seeds from COMPOUND_SEED on, or of COMPOUND_SEQUENCES; `history` gets
/// what was done, for the message where it returns a failure.
template <class Run>
void run_sequences(std::uint64_t sequences, Run&& run) {
  const auto first = number_from_environment("COMPOUND_SEED", 20261120);
  sequences = number_from_environment("COMPOUND_SEQUENCES", sequences);
  for (std::uint64_t seed = first; seed < first + sequences; ++seed) {
    std::string history = "reproduce by COMPOUND_SEED=" + std::to_string(seed) + " COMPOUND_SEQUENCES=1: ";
    try {
      const testing::AssertionResult result = run(seed, history);
      ASSERT_TRUE(result) << history;
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << history;
    }
  }
}

}  // namespace petsc_test
