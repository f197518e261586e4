// Values of full blocks in the order of rows (ValueOrder::rows), by its definition.
#pragma once

#include "planner/default_plan.hpp"
#include "products.hpp"

namespace compound::test {

template <class S>
std::vector<S> in_rows(const Pattern& p, BlockShape b, const std::vector<S>& blocks) {
  std::vector<S> values(blocks.size());
  const std::size_t r = b.rows, c = b.cols;
  for (idx row = 0; row < p.rows; ++row) {
    const std::size_t first = p.start[row], length = p.start[row + 1] - first;
    for (std::size_t e = first; e < first + length; ++e)
      for (std::size_t i = 0; i < r; ++i)
        for (std::size_t j = 0; j < c; ++j)
          values[first * r * c + i * length * c + (e - first) * c + j] = blocks[e * r * c + j * r + i];
  }
  return values;
}

inline Problem given_in_rows(Problem problem) {
  problem.order = ValueOrder::rows;
  return problem;
}

/// Packed from `values`, in the order of rows, which must live where the plan lies on them.
template <class S>
PackedMatrix packed_from_rows(const Operands<S>& o, const Plan& plan, const std::vector<S>& values,
                              Backend& on = backend("host")) {
  PackedMatrix A(o.pattern.view(), given_in_rows(o.problem()), plan, on);
  A.prepare_transposed(o.pattern.view(), plan_of_transpose);
  A.update_values(values.data());
  return A;
}

}  // namespace compound::test
