// Products by slots as a device's threads make them, on the host. Nothing of the device text is named here.
#pragma once

#include <string_view>

namespace emulated {

/// y = [z +] A x with contiguous blocks, column by column: the members of product_args (device/kernels.hpp).
struct Task {
  std::string_view name;         ///< of the layout: "ccoo:32", "ccoo:32:2", "ccoo:96:4", "ccoo:128", ...
  const void* layout = nullptr;  ///< layout_args
  long long rows = 0, cols = 0;
  const void* values = nullptr;
  const void* codes = nullptr;  ///< where `values` are coded chunk by chunk
  const void* table = nullptr;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
  void* carries = nullptr;
  bool adds = false, atomic = false;  ///< atomic carries: y holds z or 0 before, and is added to
};

void multiply_dense_3x2(const Task& task);
void multiply_complex_scalars(const Task& task);
void multiply_coded_dense_3x2(const Task& task);
void multiply_coded_complex_scalars(const Task& task);

}  // namespace emulated
