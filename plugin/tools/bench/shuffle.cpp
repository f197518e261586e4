#include "shuffle.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace compound::bench {

Shuffle::Shuffle(std::int64_t rows, std::int64_t window, std::uint64_t seed) {
  if (window <= 1) return;
  if (rows > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("-shuffle: more than 2^32 block rows");
  node_.resize(static_cast<std::size_t>(rows));
  number_.resize(static_cast<std::size_t>(rows));
  std::iota(node_.begin(), node_.end(), 0u);
  std::uint64_t state = mixed(seed);
  for (std::int64_t first = 0; first < rows; first += window) {
    const std::int64_t size = std::min(window, rows - first);
    for (std::int64_t i = size - 1; i > 0; --i) {  // std::shuffle is not the same in every library
      state = mixed(state);
      const auto j = static_cast<std::int64_t>(state % static_cast<std::uint64_t>(i + 1));
      std::swap(node_[static_cast<std::size_t>(first + i)], node_[static_cast<std::size_t>(first + j)]);
    }
  }
  for (std::size_t i = 0; i < node_.size(); ++i) number_[node_[i]] = static_cast<std::uint32_t>(i);
}

}  // namespace compound::bench
