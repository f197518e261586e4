// What the traversals are built from in AVX2 with FMA.
#pragma once

#include "vector_of_four.hpp"

namespace compound::host {
namespace {

inline constexpr int widest = 4;
inline constexpr int accumulators = 8;  ///< of 16 registers

}  // namespace
}  // namespace compound::host
