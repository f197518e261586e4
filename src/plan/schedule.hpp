// Schedule: which worker computes what. On the host one worker takes the rows in order, by vector instructions where it
// can; most fields are for devices.
#pragma once

#include <algorithm>
#include <string_view>

#include "device/target.hpp"

namespace compound {

/// Of a multiprocessor at most, and of a block.
inline constexpr int most_threads = 2048, most_threads_of_block = 1024;

struct TraversalName {
  Traversal traversal;
  std::string_view name;
};
inline constexpr TraversalName traversals[] = {
    {Traversal::rows, "rows"}, {Traversal::components, "components"}, {Traversal::slots, "slots"}};

inline std::string_view name_of(Traversal traversal) {
  return std::ranges::find(traversals, traversal, &TraversalName::traversal)->name;
}

struct Schedule {
  Traversal traversal = Traversal::rows;
  int lanes = 1;     ///< neighbouring workers that share a block row (components of slices: a scalar row)
  bool simd = true;  ///< host: a traversal written for the instruction set where there is one; false: the plain kernel
  bool fetch_x = false;  ///< host: blocks of x are fetched ahead of their use, for rows in no order
  // Devices; `threads` 0 means a host's schedule.
  int unroll = 1;   ///< entries (components of compressed rows: block columns) a worker has under way at once
  int threads = 0;  ///< in a block of threads
  int blocks = 0;   ///< of threads a multiprocessor must hold: compiled in, and so bounds the registers
  Balance balance = Balance::grid;
  Cache cache = Cache::keep;
  Carries carries = Carries::ordered;
  /// Whose product stands in the place of this schedule's where it can (library_products.hpp); empty: none.
  std::string_view library = {};
  bool operator==(const Schedule&) const = default;

  bool of_device() const { return threads != 0; }
};

}  // namespace compound
