#include "cuda/cubin_key.hpp"

#include <cstdio>

#include "cuda/device_text.hpp"
#include "cuda/nvrtc.hpp"

namespace compound::cuda {

namespace {

/// Changes when code of equal sources is made in another way.
constexpr std::string_view schema = "petsc-compound cubin 2";

/// 128-bit FNV-1a of texts one after the other, each with its length.
class Hash {
 public:
  void add(std::string_view text) {
    for (std::size_t length = text.size(), byte = 0; byte < sizeof length; ++byte) add_byte(length >> (8 * byte) & 255);
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::string hex() const {
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(state_ >> 64),
                  static_cast<unsigned long long>(state_));
    return text;
  }

 private:
  using wide = unsigned __int128;
  static constexpr wide prime = (wide{1} << 88) + 0x13b;
  void add_byte(std::size_t byte) { state_ = (state_ ^ byte) * prime; }
  wide state_ = (wide{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

std::string hash_of_device_text() {
  Hash hash;
  for (const DeviceFile& file : device_text()) {
    hash.add(file.name);
    hash.add(file.text);
  }
  return hash.hex();
}

}  // namespace

std::string hash_of(std::string_view text) {
  Hash hash;
  hash.add(text);
  return hash.hex();
}

std::string cubin_key(const std::string& source, int capability) {
  static const std::string device_text_hash = hash_of_device_text();
  Hash hash;
  hash.add(schema);
  for (const std::string& option : compile_options(capability)) hash.add(option);
  hash.add(device_text_hash);
  hash.add(source);
  return hash.hex() + "-sm" + std::to_string(capability);
}

}  // namespace compound::cuda
