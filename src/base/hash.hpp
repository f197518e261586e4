// A hash of texts, the same on every machine.
#pragma once

#include <string>
#include <string_view>

namespace compound {

/// 128-bit FNV-1a of texts one after the other, each with its length. Two texts of a length that differ in one byte
/// never have the same.
class TextHash {
 public:
  void add(std::string_view text) {
    for (std::size_t length = text.size(), byte = 0; byte < sizeof length; ++byte) add_byte(length >> (8 * byte) & 255);
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  std::string hex() const;

 private:
  using wide = unsigned __int128;
  static constexpr wide prime = (wide{1} << 88) + 0x13b;
  void add_byte(std::size_t byte) { state_ = (state_ ^ byte) * prime; }
  wide state_ = (wide{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

/// 128 bits in hexadecimal.
std::string hash_of(std::string_view text);

}  // namespace compound
