// A device's table for the model, from times of plans on a few matrices that are made for it.
#pragma once

#include <functional>
#include <string>

#include "planner/model_fit.hpp"

namespace compound::bench::tune {

struct Calibration {
  DeviceTable table;
  int plans = 0;                            ///< that were timed
  double mean_error = 0, median_error = 0;  ///< of predicted times, relative
};

/// `nearest`: what is not measured is as there, and the second cache keeps as much of its size. `report(text)` is
/// called before each matrix.
Calibration calibrated(Backend& on, const DeviceTraits& device, const DeviceTable& nearest,
                       const std::function<void(const std::string&)>& report);

}  // namespace compound::bench::tune
