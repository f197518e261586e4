// Schedule: who computes what. On the host one worker takes the rows in order; the other fields are for devices.
#pragma once

#include "device/target.hpp"

namespace compound {

enum class Traversal { rows, components, slots };

struct Schedule {
  Traversal traversal = Traversal::rows;
  int lanes = 1;  ///< neighbouring workers that share a block row
  bool operator==(const Schedule&) const = default;
};

}  // namespace compound
