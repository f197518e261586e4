#include "entry_file.hpp"

#if defined(COMPOUND_HAVE_CUDA)
#include "cuda/entry_file.hpp"
#endif
#include "base/error.hpp"

namespace compound {

void take_entry_file(std::string_view name, const std::string& file, [[maybe_unused]] ScalarType scalar) {
#if defined(COMPOUND_HAVE_CUDA)
  cuda::register_entry_file(name, file, scalar);
#else
  throw error(ErrorKind::unsupported, "entry '" + std::string(name) + "' from '" + file +
                                          "' is for devices, and this build has no CUDA backend");
#endif
}

}  // namespace compound
