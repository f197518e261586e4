// What a packed copy in the making is to be: the kind of entry, the plan.
#pragma once

#include "spmv/packing.hpp"

namespace compound::plugin {

struct ChosenPlan {
  Plan plan;
  std::string origin;               ///< in the user's terms
  bool finds_entry = false;         ///< the kind of entry was found, not asked for
  bool fits = false;                ///< the values have been looked at: all are of that kind
  double seconds_of_finding = 0;    ///< that took
  std::string problem_with_wisdom;  ///< why a wisdom file was not used, or not written
  std::vector<Measured> measured;   ///< what it was chosen from, if by measuring
};

/// The plan of a copy: from the settings, with the kind of entry that the values are found to be of, and by measuring
/// where that is asked for.
ChosenPlan choose_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers);

/// Where a matrix has block size 1 but would take less in blocks, and none were asked for: what to do. Looks at some
/// of its rows.
std::string block_size_hint(const Settings& settings, const BaseType& base_type, const BlockArrays& b);

/// Where a layout was asked for that this host's default is not: what is known of its speed here. Empty else.
std::string layout_hint(const Packing& p, const PatternView& pattern, const PatternStatistics& numbers,
                        const Plan& plan);

/// " (-mat_compound_layout)": what brought the plan about, for messages; empty for the rule.
std::string option_of_plan(const Packing& p);

/// Throws `argument` where the kind that was asked for by name does not exist for these blocks.
void check_entry_asked_for(const Packing& p);

/// Why a plan that was asked for is an error: it pads more than -mat_compound_padding_limit allows, or owns more than
/// -mat_compound_memory_limit. Empty if not.
std::string why_refused(const Packing& p, const PatternView& pattern, const Plan& plan);

/// Why the next memory space is to multiply; empty if this one can. What was not asked for in particular and we have no
/// code for, or no memory that -mat_compound_memory_limit allows, is the base type's to multiply, as it was before.
std::string why_left_out(const Packing& p, const PatternView& pattern, const Plan& plan);

}  // namespace compound::plugin
