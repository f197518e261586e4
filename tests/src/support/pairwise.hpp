// Pairwise covering sets: few cases in which any two values of two factors meet.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace compound::test {

/// One value of each factor, by index.
using Choice = std::vector<int>;

/// A product of factors, some of whose combinations are not allowed.
struct Space {
  std::vector<int> sizes;                      ///< values of each factor
  std::function<bool(const Choice&)> allowed;  ///< of a full choice
  std::vector<int> deciding;                   ///< factors that `allowed` looks at
  std::vector<int> meeting = {};               ///< factors whose pairs count; empty: all
};

/// Two values of two factors.
struct Pair {
  int factor, value, other_factor, other_value;
};

/// The pairs that some allowed choice has, by enumeration of the deciding factors.
std::vector<Pair> allowed_pairs(const Space& space);

/// Those of the pairs that no choice of the set has.
std::vector<Pair> missing_pairs(std::vector<Pair> pairs, const std::vector<Choice>& set);

/// Allowed choices that have all allowed pairs, and these pairs, which take as long to find.
struct CoveringSet {
  std::vector<Pair> pairs;
  std::vector<Choice> choices;
};

/// The same seed gives the same set on every machine.
CoveringSet covering_set(const Space& space, std::uint64_t seed);

/// So many allowed choices at random, where a covering set takes too long to find or to go through.
std::vector<Choice> random_set(const Space& space, std::size_t count, std::uint64_t seed);

}  // namespace compound::test
