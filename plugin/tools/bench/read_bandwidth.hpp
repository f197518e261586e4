// Plain reading speed of memory: what no product can beat.
#pragma once

#include <cstddef>
#include <cstdint>

namespace compound::bench {

/// Sum of 64-bit integers with several accumulators, in the widest vectors that this processor has; no prefetch.
/// Integer sums cost the same whatever the bits are.
std::uint64_t streaming_sum(const void* data, std::size_t bytes);

/// "avx512", "avx2" or "baseline".
const char* streaming_sum_name();

}  // namespace compound::bench
