// From values in the order of rows, as AIJ keeps full blocks, to values block by block.
#pragma once

#include "plan/plan.hpp"

namespace compound {

/// Whether values of such a problem are to be brought in another order before they are packed as blocks: blocks of one
/// row have but one.
constexpr bool needs_order(const Problem& problem) {
  return problem.order == ValueOrder::rows && problem.block.rows > 1;
}

/// Of block rows [first, end): `values` are those of the whole matrix, in problem.order; `blocks`: [entries of these
/// rows][cols][rows].
void to_blocks(const PatternView& pattern, const Problem& problem, const void* values, void* blocks, idx first,
               idx end);

}  // namespace compound
