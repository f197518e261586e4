// Aggregates of a graph's nodes as lists.
#pragma once

#include <span>
#include <vector>

#include "pattern/pattern.hpp"

namespace compound {

/// Aggregates by ascending roots, and the tentative prolongator's pattern: a node's row has its aggregate as column, or
/// nothing.
struct Aggregates {
  std::vector<count32> start;  ///< [aggregates + 1]
  std::vector<idx> node;       ///< [start.back()] of each, ascending
  Pattern tentative;           ///< [nodes] x [aggregates]

  idx size() const { return static_cast<idx>(start.size()) - 1; }
};

/// `root`: of each node's aggregate, which is one of its nodes; -1 for nodes in none.
Aggregates aggregates_of(std::span<const idx> root);

}  // namespace compound
