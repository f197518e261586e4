#include "cuda/cubin_key.hpp"

#include <string_view>

#include "base/hash.hpp"
#include "cuda/device_text.hpp"
#include "cuda/nvrtc.hpp"

namespace compound::cuda {

namespace {

/// Changes when code of equal sources is made in another way.
constexpr std::string_view schema = "petsc-compound cubin 2";

std::string hash_of_device_text() {
  TextHash hash;
  for (const DeviceFile& file : device_text()) {
    hash.add(file.name);
    hash.add(file.text);
  }
  return hash.hex();
}

}  // namespace

std::string cubin_key(const std::string& source, int capability) {
  static const std::string device_text_hash = hash_of_device_text();
  TextHash hash;
  hash.add(schema);
  for (const std::string& option : compile_options(capability)) hash.add(option);
  hash.add(device_text_hash);
  hash.add(source);
  return hash.hex() + "-sm" + std::to_string(capability);
}

}  // namespace compound::cuda
