// Which plan a matrix gets on a device by rule: the first case of a policy that it is of.
#pragma once

#include "plan/plan.hpp"
#include "planner/default_plan.hpp"
#include "planner/device_policy.hpp"

namespace compound::device_rule {

// Plans have the layout and schedule of the kind `entry`; its name, values and row list are default_plan.cpp's.

Plan plan(const DevicePolicy& policy, const PatternStatistics& statistics, const Problem& problem,
          std::string_view entry, ValuePrecision values = {}, Parts parts = Parts::some);

/// The same for a layout that an option asks for: the schedule that suits it.
Plan plan_for(const LayoutSpec& asked, const DevicePolicy& policy, const PatternStatistics& statistics,
              const Problem& problem, std::string_view entry, ValuePrecision values = {});

/// All that plan() can give whatever the pattern; words cached and streamed. Where there are two parts longest=1 stands
/// for any number.
std::vector<Plan> all_plans(const DevicePolicy& policy, const Problem& problem, std::string_view entry);

/// Plans that may be faster than the rule's.
std::vector<Plan> near_plans(const DevicePolicy& policy, const PatternStatistics& statistics, const Problem& problem,
                             std::string_view entry, ValuePrecision values = {});

}  // namespace compound::device_rule
