// The files of src/device as text, for kernels compiled while the program runs (made by embed_device_text.cmake).
#pragma once

#include <span>

namespace compound::cuda {

struct DeviceFile {
  const char* name;  ///< path from src/device, as sources include it: "layout/slices.hpp"
  const char* text;
};

std::span<const DeviceFile> device_text();

}  // namespace compound::cuda
