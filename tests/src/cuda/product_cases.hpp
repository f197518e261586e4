// Products on a CUDA device as a pairwise covering set: patterns, entries, layouts, schedules, scalars and operations.
#pragma once

#include <string>

#include "support/pairwise.hpp"
#include "support/products.hpp"
#include "support/zoo.hpp"

namespace compound::test::cuda_cases {

struct Case {
  std::string name;
  const Pattern& pattern;
  std::string_view entry;
  Problem problem;
  Plan plan;
  Op op;
  Form form;
  TransposedValues transposed;
  bool aligned;  ///< where vectors begin; else one scalar further
};

const std::vector<Choice>& choices();
/// Those in which traversals, layouts, codes of columns and values, and operations meet.
const Space& few_space();
const CoveringSet& few_choices();
Case case_of(const Choice& choice);

}  // namespace compound::test::cuda_cases
