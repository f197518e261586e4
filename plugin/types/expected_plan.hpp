// What a view tells of a matrix's plan, and what that is expected to be before the first product.
#pragma once

#include <string>

#include "copies/placement.hpp"

namespace compound::plugin {

/// A plan as it is printed, or "none" and why, and where it comes from.
struct ShownPlan {
  std::string plan, origin;
  BlockShape block = {1, 1};        ///< that is packed, or will be
  bool is_expected = false;         ///< nothing is packed yet
  bool has_blocks = false;          ///< of this process's diagonal part
  BlockShape full_blocks = {0, 0};  ///< of single scalars' rows, where they are full
  double given = 0, stored = 0;     ///< scalars of what will be packed in other blocks than the given ones
};

/// Where products will run, as far as can be told.
PetscErrorCode place_of_view(Mat A, const Settings& settings, Place* place);

std::string left_to_parent(const std::string& reason);

/// From patterns and a sample of their rows, without packing anything: costs little and never fails.
PetscErrorCode expect_plans(Mat A, const Settings& settings, ShownPlan* shown);

}  // namespace compound::plugin
