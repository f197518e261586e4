// Plans whose products are followed by a dot product: one of each sort of traversal, layout and schedule.
#pragma once

#include <string_view>

#include "plan/plan.hpp"
#include "planner/default_plan.hpp"

namespace compound::test {

inline constexpr const char* followed_lines[] = {"csr components lanes=32",
                                                 "csr rows lanes=4",
                                                 "csr rows static",
                                                 "csr rows dynamic threads=64 blocks=2",
                                                 "sell:32 rows",
                                                 "sell:32 components static",
                                                 "sell:32:256 rows unroll=2",
                                                 "hdia:32 rows",
                                                 "ccoo:64 slots",
                                                 "ccoo:32:4 slots dynamic",
                                                 "ccoo:32 slots carries=atomic"};

/// Of 3x3 blocks.
template <class S>
Plan followed_plan(std::string_view line) {
  return parse_plan(line, default_plan(PatternStatistics{}, {{3, 3}, scalar_type_of<S>()}, "cuda"));
}

}  // namespace compound::test
