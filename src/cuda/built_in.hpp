// Machine code of the default plans' kernels (default_kernels.hpp), made when the library is built: config/
// CompoundDeviceCode.cmake. Where none was made nothing is found.
#pragma once

#include <optional>
#include <string>

namespace compound::cuda {

/// The code of a source for a device: that of its own capability, else the newest older one with the same major number,
/// which runs there too. Empty where there is none.
std::optional<std::string> built_in_cubin(const std::string& source, int capability);

/// Whether there is one.
bool is_built_in(const std::string& source, int capability);

}  // namespace compound::cuda
