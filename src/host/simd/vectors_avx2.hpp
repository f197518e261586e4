// What the traversals are built from in AVX2 with FMA.
#pragma once

#include "vector_of_four.hpp"

namespace compound::host {
namespace {

inline constexpr int widest = 4;
inline constexpr bool may_gather = false;  ///< four loads are as fast on every processor that was measured
inline constexpr unsigned all_lanes = (1u << widest) - 1;
inline constexpr int accumulators = 8;  ///< of 16 registers

}  // namespace
}  // namespace compound::host
