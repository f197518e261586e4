// Names of machine code: equal keys mean equal code, whatever process or release made it.
#pragma once

#include <string>

namespace compound::cuda {

/// Of all that a kernel's code depends on (source, device text, options, capability) but NVRTC's version: a hash,
/// "-sm", and the capability.
std::string cubin_key(const std::string& source, int capability);

}  // namespace compound::cuda
