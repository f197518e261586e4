// Products of a half by patches as a device's threads make them, on the host. Nothing of the device text is named here.
#pragma once

namespace emulated {

/// y = [z +] op(A) x with contiguous blocks: the members of product_args (device/kernels.hpp) for a layout
/// sell:32:T columns=patch with words=32.
struct HalfTask {
  const void* layout = nullptr;  ///< layout_args
  bool reordered = false;
  int threads = 0;  ///< T, for each lane
  int rows = 0;
  const void* values = nullptr;
  const void* x = nullptr;
  const void* z = nullptr;
  void* y = nullptr;
  void* partials = nullptr;
  unsigned char* shared = nullptr;
  bool adds = false;
  int op = 0;  ///< 0: A, 1: A^T, 2: A^H
};

void multiply_symmetric_3x3(const HalfTask& task);
void multiply_symmetric_3x3_by_two(const HalfTask& task);  ///< workers for a row
void multiply_symmetric_complex_2x2(const HalfTask& task);
void multiply_hermitian_2x2(const HalfTask& task);
void multiply_hermitian_2x2_by_two(const HalfTask& task);

}  // namespace emulated
