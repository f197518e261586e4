// Plans by tuning: what was measured before, or is measured now.
#pragma once

#include "copies/packing.hpp"

namespace compound::plugin {

/// The plan that the settings' effort (-mat_compound_tune) finds for a copy, in the place of `base`: of its kind of
/// entry and precision, of its layout where one was asked for. `base` where there is nothing to find. Adds to
/// copy.origin what was done, and why what was asked for was not.
Plan tuned_plan(Packing& p, const PatternView& pattern, const PatternStatistics& numbers, const Plan& base);

}  // namespace compound::plugin
