// For builds without machine code (config/CompoundDeviceCode.cmake).
#include "cuda/built_in.hpp"

namespace compound::cuda {

std::optional<std::string> built_in_cubin(const std::string&, int) { return {}; }
bool is_built_in(const std::string&, int) { return false; }

}  // namespace compound::cuda
