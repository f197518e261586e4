// The set-up of smoothed aggregation in a device's memory (device/aggregates.hpp, prolongator.hpp).
#pragma once

#include <vector>

#include "backend/sparse_products.hpp"
#include "device/prolongator.hpp"

namespace compound {

/// Which blocks of a real matrix are edges of its graph: those of |sum of the scalars' absolute values|, scaled by the
/// diagonal's, above the threshold.
struct StrengthTask {
  ScalarType scalar;
  int size = 1;  ///< of a block's side
  const PlacedRows& pattern;
  const void* values = nullptr;  ///< in the order of rows
  unsigned components = ~0u;     ///< of a node that count, by bits
  bool symmetrize = false;       ///< adds the transposed block
  double threshold = 0;
};

class MultigridWork {
 public:
  /// Whether each entry has one across the diagonal.
  virtual bool is_symmetric(const PlacedRows& graph) = 0;
  virtual PlacedRows strong_edges(const StrengthTask& task) = 0;
  /// [nodes] the root of each node's aggregate, -1 for nodes without neighbours. No two roots are within `distance`, 1
  /// or 2, and no node that has neighbours is alone. `graph` is symmetric.
  virtual std::vector<idx> roots(const PlacedRows& graph, int distance) = 0;
  /// All in the backend's memory but for `work`, which it takes for a while.
  virtual void orthonormalize(ScalarType scalar, const basis_args& args, slot_t nodes) = 0;
  virtual void smooth(ScalarType scalar, const smooth_args& args) = 0;

 protected:
  ~MultigridWork() = default;
};

}  // namespace compound
