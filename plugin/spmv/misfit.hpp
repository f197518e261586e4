// A block that is not of the kind of entry that was asked for by name, and what is said of it.
#pragma once

#include <string>

#include "petsc/guard.hpp"
#include "plan/plan.hpp"

namespace compound::plugin {

struct Misfit {
  std::string entry;
  BlockShape block;              ///< that is packed
  PetscInt row = 0, column = 0;  ///< of its first scalar, in the part
  std::string found;             ///< "has 0.5 at (0, 1), where that format has -0.25"
};

/// What a block [cols][rows] has that its kind of entry has not.
std::string found_in(const Scalar* block, std::string_view entry, const Problem& problem);

}  // namespace compound::plugin
