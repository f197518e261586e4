// For whom a plan is: the key under which wisdom keeps it.
#pragma once

#include <string_view>

#include "backend/backend.hpp"
#include "planner/wisdom.hpp"

namespace compound {

/// `base`: the plan without tuning, which says what was asked for; `layout` as it was asked for, "auto" where any will
/// do: another one would not be this user's to take. `library`: whose products may be among the plans, or none.
WisdomKey plan_key(const PatternView& pattern, const PatternStatistics& numbers, const Problem& problem,
                   const Plan& base, std::string_view layout, const Backend& backend, std::string_view library = {});

}  // namespace compound
