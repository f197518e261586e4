// The seconds of a device's table, from times that were measured.
#pragma once

#include <vector>

#include "planner/model.hpp"

namespace compound {

/// A plan of a matrix that was timed.
struct Timed {
  Work work;
  double seconds = 0;
  double of_best = 1;  ///< over the fastest plan of the matrix
  double share = 1;    ///< of the matrix: 1 over its plans
};

/// `table` with the seconds, none below 0, that predict these times best: by least squares of the relative errors, in
/// which plans more than twice as slow as the fastest do not count and slow ones count little, as
/// docs/reproduction/fit-model.py does it. What nothing that was timed did stays as it is.
DeviceTable fitted(const DeviceTable& table, const std::vector<Timed>& timed);

}  // namespace compound
