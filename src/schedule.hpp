// Schedule: who computes what. On the host one worker takes the rows in order, by vector instructions where it can; the
// other fields are for devices.
#pragma once

#include "device/target.hpp"

namespace compound {

enum class Traversal { rows, components, slots };

struct Schedule {
  Traversal traversal = Traversal::rows;
  int lanes = 1;     ///< neighbouring workers that share a block row
  bool simd = true;  ///< host: a traversal written for the instruction set where there is one; false: the plain kernel
  bool fetch_x = false;  ///< host: blocks of x are fetched ahead of their use, for rows in no order
  bool operator==(const Schedule&) const = default;
};

}  // namespace compound
