// Tuner: from a matrix to the plan that is fastest on it, by measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "packed.hpp"

namespace compound {

struct Measured {
  Plan plan;
  double seconds = 0;   ///< of one product y = A x, median; infinite for a plan that failed
  std::string failure;  ///< why it failed, in words
};

/// Times products of every candidate on this backend: the fastest first, failed ones last.
///
/// One layout's packed copy is there at a time and serves all its schedules, so that the memory needed is that of the
/// largest candidate. `blocks`: the matrix's full blocks in host memory, in pattern order; `told(i, candidate)` is
/// called after each of them. What the candidates need that is not there (memory above all) makes them fail, not the
/// call.
std::vector<Measured> measure(const PatternView& pattern, const Problem& problem, const std::vector<Plan>& candidates,
                              Backend& backend, const void* blocks,
                              const std::function<void(std::size_t, const Measured&)>& told = {});

}  // namespace compound
