#pragma once

#include <string>

namespace compound {

class Backend;

/// The backend of the current CUDA device; null where there is none (no driver, none visible, too old a one).
///
/// The first call looks for a device by cudaGetDeviceCount() alone; nothing is initialised before memory is asked for.
Backend* cuda_backend();

/// Why cuda_backend() is null, in words; empty if it is not.
std::string why_no_cuda();

}  // namespace compound
