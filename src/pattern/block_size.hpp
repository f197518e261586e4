// The block size in which a matrix takes the fewest bytes, from a sample of its rows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pattern/reblock.hpp"

namespace compound {

/// Those that are tried beside the given one: of Choi, Singh and Vuduc 2010, section 6, and rectangular ones like them.
std::span<const BlockShape> block_sizes_to_try();

struct DetectedBlock {
  BlockShape block;
  double bytes = 0, bytes_as_given = 0;  ///< of the sampled rows, as `bytes` counts them
};

/// Of the given blocks, square and of size `from`, and those of block_sizes_to_try() that can be made of them: which
/// takes the fewest `bytes`, its explicit zeros counted; of equals the first. Looks at 1 % of the rows, and at least at
/// 3,360, in windows of 840, which all sizes divide.
DetectedBlock detect_block_size(const PatternView& pattern, int from,
                                const std::function<double(const Reblocked&)>& bytes);

/// All these sizes, the fewest bytes first.
std::vector<DetectedBlock> block_sizes_by_bytes(const PatternView& pattern, int from,
                                                const std::function<double(const Reblocked&)>& bytes);

}  // namespace compound
