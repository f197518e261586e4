// Plans that measuring has found before: the wisdom files of the user and of the site.
#pragma once

#include "copies/packing.hpp"
#include "planner/wisdom.hpp"

namespace compound::plugin {

/// What the files have for a copy, and where to put more.
struct Remembered {
  std::string path;            ///< of the user's file; empty where none is kept
  std::string problem;         ///< why a file was not used, in words; empty if none is left out
  WisdomKey key;               ///< of the copy
  std::optional<Plan> plan;    ///< that it can take
  bool is_of_pattern = false;  ///< of this very pattern, not of one like it
  WisdomEntry entry;           ///< of `plan`
};

/// `base`: the plan without tuning, which says what was asked for. Looks for the pattern, then for its class. A plan
/// that the copy cannot take is as good as none.
Remembered remembered(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers, const Plan& base);

/// Adds what was found by measuring. Why it is not kept, in words; empty if it is.
std::string remember(const Remembered& at, const Measured& best, double gain, const std::string& effort);

}  // namespace compound::plugin
